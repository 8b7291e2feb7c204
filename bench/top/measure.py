"""CPU time, memory and punctuality of `loft top` and of `perf stat`, in turns.

    bench/top/measure.py SECONDS [LOFT [WAKE]]
"""
import json
import os
import shutil
import subprocess
import sys
import time

SECONDS = int(sys.argv[1])
LOFT = sys.argv[2] if len(sys.argv) > 2 else "build/release/loft"
WAKE = sys.argv[3] if len(sys.argv) > 3 else None
SOFTWARE = "context-switches,cpu-migrations,page-faults,minor-faults,major-faults,alignment-faults"
HARDWARE = "context-switches,page-faults,cycles,instructions,branches,branch-misses"
has_counters = any(os.path.exists(f"/sys/bus/event_source/devices/{pmu}") for pmu in ("cpu", "cpu_core"))
EVENTS = HARDWARE if has_counters else SOFTWARE


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def peak_memory(pid):
    """In MB, of the program itself: what wait4 reports includes this one before exec."""
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return float("nan")


def run(command):
    """CPU time as a share of one CPU, and the most memory; the output is thrown away."""
    start = time.monotonic()
    with open(os.devnull, "w") as nowhere:
        child = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
        time.sleep(SECONDS * 0.8)
        memory = peak_memory(child.pid)
        _, _, usage = os.wait4(child.pid, 0)
    elapsed = time.monotonic() - start
    return (usage.ru_utime + usage.ru_stime) / elapsed, memory


def samples_of_loft():
    command = [LOFT, "top", "--batch", "-i", "100", "-n", str(10 * SECONDS), "-e", EVENTS, "--format", "json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def main():
    print(f"{os.cpu_count()} CPUs, 10 samples a second, events: {EVENTS}")
    share, memory = run([LOFT, "top", "--batch", "-i", "100", "-n", str(10 * SECONDS), "-e", EVENTS, "--format", "csv"])
    print(f"loft top --batch     {100 * share:.3f} % of one CPU, {memory:.1f} MB (start-up included)")
    if shutil.which("perf"):
        share, memory = run(["perf", "stat", "-a", "-A", "-I", "100", "-x", ",", "-e", EVENTS, "sleep", str(SECONDS)])
        print(f"perf stat -a -A -I   {100 * share:.3f} % of one CPU, {memory:.1f} MB")
    samples = samples_of_loft()
    steady = samples[len(samples) // 10:]
    shares = [sample["cost"]["cpu_share"] for sample in steady]
    readers = [sample["cost"]["reader_us"] for sample in steady]
    late = [sample["cost"]["lateness_us"] for sample in steady]
    memory = [sample["cost"]["resident_bytes"] for sample in samples]
    print(f"by loft's own account {100 * sum(shares) / len(shares):.3f} % of one CPU;"
          f" memory {memory[0] / 2**20:.1f} MB at first, {memory[-1] / 2**20:.1f} MB at last")
    print(f"a reading of one core {percentile(readers, 0.5):.1f} us (median), {percentile(readers, 0.99):.1f} us (99th percentile)")
    if WAKE:
        cost = subprocess.run([WAKE], check=True, capture_output=True, text=True).stdout.strip()
        print(f"waking a thread alone {cost} us (median), which reads nothing")
    print(f"lateness of samples   {percentile(late, 0.5):.0f} us (median), {percentile(late, 0.99):.0f} us (99th percentile)")
    print(f"readings that were late {samples[-1]['cost']['late']}, samples left out {samples[-1]['cost']['skipped']}")


main()
