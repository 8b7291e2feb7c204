"""Runs loft and perf in turns on one recording and prints a row of the table.

  compare.py NAME ROUNDS LIMIT "loft ..." "perf ..."

Wall-clock and CPU seconds are medians of the rounds, memory is the largest peak. A command that takes
longer than LIMIT seconds is ended; what it took is then a lower bound, marked with ">".
"""
import os
import shlex
import signal
import statistics
import subprocess
import sys
import time


def measure(command, limit):
    """Seconds, CPU seconds, peak in MB, and whether the command came to its end."""
    start = time.monotonic()
    child = subprocess.Popen(shlex.split(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    signal.signal(signal.SIGALRM, lambda *_: child.kill())
    signal.setitimer(signal.ITIMER_REAL, limit)
    _, status, use = os.wait4(child.pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.monotonic() - start
    if status != 0 and seconds < limit:
        sys.exit(f"failed with status {status}: {command}")
    return seconds, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024, status == 0


def main():
    name, rounds, limit, ours, theirs = sys.argv[1:]
    results = ([], [])
    for _ in range(int(rounds)):
        for command, result in zip((ours, theirs), results):
            result.append(measure(command, float(limit)))
    wall, cpu = ([statistics.median(r[i] for r in result) for result in results] for i in (0, 1))
    peak = [max(r[2] for r in result) for result in results]
    bound = "" if all(r[3] for r in results[1]) else ">"
    print(f"| {name} | {wall[0]:.2f} s | {bound}{wall[1]:.2f} s | {bound}{wall[1] / wall[0]:.1f} "
          f"| {cpu[0]:.2f} s | {bound}{cpu[1]:.2f} s | {bound}{cpu[1] / cpu[0]:.1f} "
          f"| {peak[0]:.0f} MB | {peak[1]:.0f} MB |", flush=True)


main()
