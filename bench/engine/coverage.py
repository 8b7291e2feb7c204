"""Whether the intervals of sampled models hold what a simulation of every instruction counts.

coverage.py BUILD_FOLDER [RUNS] [PROGRAM...]      8 runs of five programs if not given

Each program runs once with all instructions modelled, then several times with samples, at the same
addresses and with the same hashes, so that samples alone differ. An estimate is that of an event, of
the whole run or of a function with 5 % of its instructions. It is covered if its 95 % interval holds
what the whole simulation counted; where loft gives no estimate, that is counted, too.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile

from compare import programs

EVENTS = ("l1i_misses", "l1d_misses", "l2_misses", "branch_misses", "l2_to_l1_bytes", "l3_to_l2_bytes")
PROGRAMS = ("gzip", "xz", "sqlite3", "python3", "perl")
SHARE = 0.05  # of the instructions, that a function must have
PART = 10  # of the inputs, so that a whole simulation takes seconds
CLOSE = 0.05


def counted(build, way, command):
    """By event and function ("" for the run), what loft prints of it."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        loft = [os.path.join(build, "loft"), "stat", "--source", "virtual", "--by", "function", "--model", way,
                "-e", ",".join(("instructions",) + EVENTS), "--format", "json", "-o", result.name, "--"]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}
        done = subprocess.run(["setarch", "-R"] + loft + command, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit("'%s' failed: %s" % (" ".join(command), done.stderr.decode(errors="replace")))
        with open(result.name) as file:
            events = json.load(file)["events"]
    table = {}
    for event in events:
        table[event["name"], ""] = event
        for function in event["functions"]:
            table[event["name"], function["binary"] + " " + function["name"]] = function
    return table


class Tally:
    def __init__(self):
        self.estimates, self.covered, self.close, self.unknown, self.widths = 0, 0, 0, 0, []

    def add(self, truth, estimate):
        if estimate["kind"] == "missing":
            self.unknown += 1
            return
        if "ci95" not in estimate:  # all of it lies in the window that begins with the program
            return
        low, high = estimate["ci95"]
        is_covered = low <= truth <= high
        self.estimates += 1
        self.covered += is_covered
        self.close += is_covered or abs(estimate["value"] - truth) <= CLOSE * truth
        if truth != 0:
            self.widths.append((high - low) / 2 / truth)

    def join(self, other):
        self.estimates += other.estimates
        self.covered += other.covered
        self.close += other.close
        self.unknown += other.unknown
        self.widths += other.widths

    def row(self, name):
        if self.estimates == 0:
            return "| %s | 0 | | | %d | |" % (name, self.unknown)
        return "| %s | %d | %.0f %% | %.0f %% | %d | %.1f %% |" % (
            name, self.estimates, 100 * self.covered / self.estimates, 100 * self.close / self.estimates,
            self.unknown, 100 * statistics.median(self.widths))


def measure(build, command, runs, by_event):
    full = counted(build, "full", command)
    least = SHARE * full["instructions", ""]["value"]
    places = [place for (event, place), what in full.items() if event == "instructions" and what["value"] >= least]
    all_of_it = Tally()
    for _ in range(runs):
        sampled = counted(build, "sampled", command)
        for event in EVENTS:
            one = Tally()
            for place in places:
                if (event, place) in sampled and (event, place) in full:
                    one.add(full[event, place]["value"], sampled[event, place])
            by_event[event].join(one)
            all_of_it.join(one)
    return all_of_it


def main():
    build = os.path.abspath(sys.argv[1])
    arguments = sys.argv[2:]
    runs = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 8
    print("load: %.1f %.1f %.1f on %d cores" % (*os.getloadavg(), os.cpu_count()))
    print("| program, event | estimates | inside the interval | or within 5 % | no estimate | half an interval, median |")
    print("|---|---|---|---|---|---|")
    by_event = {event: Tally() for event in EVENTS}
    together = Tally()
    with tempfile.TemporaryDirectory() as folder:
        all_programs = programs(build, folder, PART)
        for name in arguments or PROGRAMS:
            tally = measure(build, all_programs[name], runs, by_event)
            print(tally.row(name), flush=True)
            together.join(tally)
    for event, tally in by_event.items():
        print(tally.row(event))
    print(together.row("all"))


main()
