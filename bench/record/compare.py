"""Runs the same program alone and under each recorder in turns, and prints ratios and completeness.

Called by bench/record/run with the number of rounds. All commands of a comparison run in every
round, in changing order; the figure is the median over rounds of the ratio within a round. Times are
CPU times of the program, in which the recorder's work at each switch is contained: wall time says
nothing while others use the machine.
"""
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

LOFT = os.environ.get("LOFT", "build/release/loft")
LOAD = os.environ.get("LOAD", "build/release/bench/record_load")
COUNTERS = "page-faults,msr/tsc/,cpu-clock"  # three that are here without hardware counters


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def report(file, flags):
    return json.loads(run([LOFT, "report", file, "--format", "json", *flags]).stdout)


def facts(file):
    """What the recording says of itself: seen, written, lost."""
    data = open(file, "rb").read()
    found = re.findall(rb"(seen|written|lost|recorder)=(\w+)\n", data[data.rfind(b"recorder=") :])
    return {key.decode(): value.decode() for key, value in found}


def compare(title, plain, recorders, measure, rounds):
    ratios = {name: [] for name in recorders}
    for _ in range(rounds):
        order = ["", *recorders]
        random.shuffle(order)
        times = {name: measure(run([*recorders.get(name, []), *plain])) for name in order}
        for name in recorders:
            ratios[name].append(times[name] / times[""])
    print(f"\n{title}: CPU time, times unmonitored, median of {rounds} rounds (lowest to highest)")
    for name, values in ratios.items():
        print(f"  {name:42} {statistics.median(values):6.3f}  ({min(values):.3f} to {max(values):.3f})")


def cpu_time(done):
    found = re.search(r"CPU time: (\d+)", done.stderr)
    if not found:
        sys.exit("no time in: " + done.stdout + done.stderr)
    return float(found.group(1))


def cost_per_switch(folder):
    """The kernel's own sum of the time that the probe took, while everybody's switches pass by."""
    setting = "/proc/sys/kernel/bpf_stats_enabled"
    before = open(setting).read()
    open(setting, "w").write("1")
    try:
        for title, watched, load in (
            ("of the program", ["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", "200000"], None),
            ("of others", ["sleep", "4"], ["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", "100000"]),
        ):
            recorder = subprocess.Popen(
                [LOFT, "record", "-q", "--by", "bpf", "-e", COUNTERS, "-o", folder + "/cost.data", "--", *watched],
                stdout=subprocess.DEVNULL,
            )
            beside = subprocess.Popen(load, stdout=subprocess.DEVNULL) if load else None
            last = None
            while recorder.poll() is None:
                shown = run(["bpftool", "-j", "prog", "show"]).stdout
                for program in json.loads(shown or "[]"):
                    if program.get("name") == "on_switch" and program.get("run_cnt", 0) > 1000:
                        last = program["run_time_ns"] / program["run_cnt"]
                try:
                    recorder.wait(0.3)
                except subprocess.TimeoutExpired:
                    pass
            if beside:
                beside.wait()
            print(f"in the kernel per switch {title}, 3 counters: {last:.0f} ns" if last else f"{title}: too short")
    finally:
        open(setting, "w").write(before)


def completeness(folder):
    print("\nCompleteness, default buffers")
    file = folder + "/whole.data"
    for title, load, expected in (
        ("switches, 2 pairs, 5 s", ["switches", "2", "5"], None),
        ("2 000 threads at once", ["threads", "2000"], 2001),
        ("5 000 processes in 5 s", ["processes", "5000", "5"], 5001),
    ):
        done = run([LOFT, "record", "-o", file, "--", LOAD, *load])
        said = facts(file)
        tasks = len(report(file, ["--threads"])["tasks"])
        right = int(said["seen"]) == int(said["written"]) + int(said["lost"])
        rate = f", {int(done.stdout) / 5:.0f} hand-overs/s" if load[0] == "switches" else ""
        print(
            f"  {title:26} seen {said['seen']} = written {said['written']} + lost {said['lost']}: {right}; "
            f"{tasks} tasks" + (f" of {expected}" if expected else "") + rate
        )


def main():
    rounds = int(sys.argv[1])
    print("load:", open("/proc/loadavg").read().strip())
    folder = tempfile.mkdtemp(prefix="loft-bench-")
    try:
        pipe = [LOAD, "timed", "taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", "30000"]
        out = folder + "/x.data"
        record = [LOFT, "record", "-q", "--by", "bpf", "-o", out]
        compare(
            "perf bench sched pipe on one CPU",
            pipe,
            {
                "loft record, sched+pmu, 3 counters": [*record, "--types", "sched,pmu", "-e", COUNTERS, "--"],
                "perf record --switch-events": ["perf", "record", "-q", "--switch-events", "-o", out, "--"],
                "perf sched record": ["perf", "sched", "record", "-q", "-o", out, "--"],
            },
            cpu_time,
            rounds,
        )
        compare(
            "8 threads that compute",
            [LOAD, "timed", LOAD, "busy", "8", "100"],
            {"loft record -t 10": [*record, "-t", "10", "--"], "perf record": ["perf", "record", "-q", "-o", out, "--"]},
            cpu_time,
            rounds,
        )
        print()
        cost_per_switch(folder)
        completeness(folder)
        print("load:", open("/proc/loadavg").read().strip())
    finally:
        shutil.rmtree(folder)


main()
