"""Programs natively, under loft's engine, with its address stream, and under valgrind, in turns; ratios and geometric means.

compare.py BUILD_FOLDER [ROUNDS] [PROGRAM...]
compare.py BUILD_FOLDER models [full|sampled] [PART] [PROGRAM...]     the models of caches and branches, beside cachegrind

A round runs each program once in each way, in an order that rotates. What is compared is CPU time,
user and system, of the program and its children: on a machine that others use, wall time measures
the others. A ratio is the median over the rounds. Valgrind is slow and is run in the first round only.
Every way must print the same. Two threads on two cores are in wall time.

Models run once in each way, on inputs of a tenth, or of another PART: all instructions simulated (full) beside cachegrind
with its caches and branches. Sampled models are for long runs: beside counting alone, on whole inputs.
"""

import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RESULT = os.path.join(tempfile.gettempdir(), "loft-bench-engine-%d" % os.getpid())
WAYS = ("native", "engine", "stream", "valgrind")
MODEL_WAYS = ("native", "full", "cachegrind")
SAMPLED_WAYS = ("native", "engine", "sampled")
SLOW_WAYS = ("valgrind", "cachegrind", "full")
MODELLED = "l1i_misses,l1d_misses,l2_misses,l3_misses,branch_misses"


def prepare(folder, part=1):
    """The input of the programs, or a part of it: the same bytes on every machine."""
    text = os.path.join(folder, "text")
    seed = 1
    words = []
    for _ in range(4000):
        seed = (seed * 1103515245 + 12345) % 2**31
        words.append("%x" % (seed >> (seed % 13)))
    with open(text, "w") as file:
        for i in range(4500 // part):
            file.write(" ".join(words[i:] + words[:i]) + "\n")
    python = os.path.join(folder, "loop.py")
    with open(python, "w") as file:
        file.write(
            "def f(n):\n    d = {}\n    for i in range(n):\n        d[i %% 997] = d.get(i %% 997, 0) + len(str(i))\n"
            "    return sum(d.values())\nclass C:\n    def __init__(self, v): self.v = v\n    def m(self): return self.v + 1\n"
            "print(f(%d), sum(C(i).m() for i in range(%d)))\n" % (2000000 // part, 2000000 // part)
        )
    sql = os.path.join(folder, "queries.sql")
    with open(sql, "w") as file:
        file.write(
            "create table t(a integer, b text);\n"
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)\n" % (500000 // part) +
            "insert into t select i, 'name' || (i * 7919 % 10007) from n;\n"
            "create index x on t(b);\n"
            "select count(*), sum(a) from t where b like 'name12%';\n"
            "select sum(p.a * q.a) from t p join t q on p.b = q.b where p.a < 20000;\n"
        )
    source = os.path.join(folder, "unit.cpp")
    with open(source, "w") as file:
        file.write(
            "#include <map>\n#include <string>\n#include <vector>\n#include <algorithm>\n#include <regex>\n"
            "bool g(const std::string& t) { return std::regex_match(t, std::regex(\"a*b+(c|d)\")); }\n"
            "int f(std::map<std::string, std::vector<int>>& m) {\n"
            "  int s = 0;\n  for (auto& [k, v] : m) { std::sort(v.begin(), v.end()); s += v.front() + (int)k.size(); }\n"
            "  return s;\n}\n"
        )
    return text, python, sql, source


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def prepare_scripts(folder, part=1):
    """Programs of interpreters, and programs that start programs."""
    perl = write(folder, "loop.pl",
                 "my %%h; my $s = 0; sub f { my ($a, $b) = @_; return $a * 2 + $b; }\n"
                 "for my $i (1..%d) { $h{$i %% 997} += length(\"x$i\"); $s += f($i, $s & 255); }\n"
                 "my $t = 'the quick brown fox ' x 20000; my $c = 0; $c++ while $t =~ /(\\w+)\\s/g;\n"
                 "$s += $_ for values %%h; print \"$s $c\\n\";\n" % (1500000 // part))
    lua = write(folder, "loop.lua",
                "local h, s = {}, 0\nlocal function f(a, b) return a * 2 + b end\n"
                "for i = 1, %d do h[i %% 997] = (h[i %% 997] or 0) + #tostring(i %% 100); s = (s + f(i, s %% 256)) %% 1000003 end\n"
                "for _, v in pairs(h) do s = s + v end print(s)\n" % (4000000 // part))
    node = write(folder, "loop.js",
                 "const h = new Map(); let s = 0;\n"
                 "for (let i = 0; i < %d; i++) h.set(i %% 997, (h.get(i %% 997) || 0) + String(i %% 100).length);\n"
                 "for (const v of h.values()) s += v; console.log(s);\n" % (20000000 // part))
    starts = write(folder, "starts.sh", "".join("/bin/true %d\n" % i for i in range(200 // part)))
    parts = ["part%d" % i for i in range(12)]
    for number, name in enumerate(parts):
        write(folder, "project/%s.c" % name,
              "#include <stdio.h>\nint %s(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * %d; return s; }\n" % (name, number))
    objects = " ".join(name + ".o" for name in parts[:12 // part])
    write(folder, "project/Makefile",
          "all: %s\n\tar rcs parts.a %s\n%%.o: %%.c\n\tcc -O1 -c -o $@ $<\n" % (objects, objects))
    return {
        "perl": ["perl", perl],
        "lua": ["lua5.4", lua],
        "node": ["node", node],
        "shell": ["sh", starts],
        "make": ["make", "-s", "-B", "-C", os.path.join(folder, "project")],
    }


def programs(build, folder, part=1):
    text, python, sql, source = prepare(folder, part)
    kernels = os.path.join(build, "bench", "engine_kernels")
    interpreter = os.path.realpath("/usr/bin/python3")
    return {
        "gzip": ["gzip", "-c", "-6", text],
        "xz": ["xz", "-c", "-1", "-T1", text],
        "sqlite3": ["sqlite3", ":memory:", ".read " + sql],
        "python3": [interpreter, "-S", python],
        "threads": [kernels, "threads", str(900 // part), "2"],
        "dgemm": [kernels, "dgemm", str(400 // part)],
        "triad": [kernels, "triad", str(800000 // part)],
        "g++": ["g++", "-std=c++20", "-O1", "-S", "-o", "-", source],
        **prepare_scripts(folder, part),
    }


def command_in(way, build, command):
    if way == "native":
        return command
    if way == "engine":
        loft = os.path.join(build, "loft")
        events = "instructions,flops,load_bytes,store_bytes"
        return [loft, "stat", "--source", "virtual", "--by", "function", "-e", events, "-o", RESULT,
                "--format", "json", "--"] + command
    if way in ("sampled", "full"):
        loft = os.path.join(build, "loft")
        return [loft, "stat", "--source", "virtual", "--by", "function", "--model", way, "-e", MODELLED, "-o",
                RESULT, "--format", "json", "--"] + command
    if way == "cachegrind":
        return ["valgrind", "--tool=cachegrind", "-q", "--cache-sim=yes", "--branch-sim=yes",
                "--cachegrind-out-file=/dev/null", "--trace-children=yes"] + command
    if way == "stream":
        return [os.path.join(build, "bench", "engine_stream")] + command
    return ["valgrind", "--tool=none", "-q", "--trace-children=yes"] + command


def run(command):
    """CPU seconds, wall seconds and standard output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit("'%s' failed: %s" % (" ".join(command), done.stderr.decode(errors="replace")))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, done.stdout


def compare(build, name, command, rounds, ways):
    times = {way: [] for way in ways}
    outputs = {}
    for number in range(rounds):
        order = [ways[(number + turn) % len(ways)] for turn in range(len(ways))]
        for way in order:
            if way in SLOW_WAYS and number > 0:
                continue
            cpu, _, output = run(command_in(way, build, command))
            times[way].append(cpu)
            if outputs.setdefault("any", output) != output:
                sys.exit("'%s' prints something else in the way '%s'" % (name, way))
    native = statistics.median(times["native"])
    slower = {}
    cells = [name, "%.2f s" % native]
    for way in ways[1:]:
        ratios = [time / own for time, own in zip(times[way], times["native"])]
        slower[way] = statistics.median(ratios)
        cells.append("%.2f (%.2f to %.2f)" % (slower[way], min(ratios), max(ratios)))
    print("| " + " | ".join(cells) + " |", flush=True)
    return slower


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


def scaling(build, rounds):
    """How much sooner two threads are done than one, natively and under the engine, in wall time."""
    kernels = os.path.join(build, "bench", "engine_kernels")
    gains = {"native": [], "engine": []}
    for _ in range(rounds):
        for way, kept in gains.items():
            one = run(command_in(way, build, [kernels, "threads", "600", "1"]))[1]
            two = run(command_in(way, build, [kernels, "threads", "600", "2"]))[1]
            kept.append(one / two)
    return {way: statistics.median(kept) for way, kept in gains.items()}


def start_up(build, rounds):
    """What a program that does nothing costs more under the engine: CPU time and wall time, in ms."""
    cpu, wall = [], []
    for _ in range(max(rounds, 15)):
        native = run(["true"])
        engine = run(command_in("engine", build, ["true"]))
        cpu.append(engine[0] - native[0])
        wall.append(engine[1] - native[1])
    return tuple(1e3 * value for value in (statistics.median(cpu), statistics.median(wall), min(wall)))


def table(build, ways, rounds, wanted, part=1):
    """The programs in each way, and the geometric means."""
    print("| program | native CPU time | " + " | ".join(way + " / native" for way in ways[1:]) + " |")
    print("|---|---|" + "---|" * (len(ways) - 1))
    with tempfile.TemporaryDirectory() as folder:
        all_programs = programs(build, folder, part)
        wanted = [name for name in wanted or all_programs if shutil.which(all_programs[name][0])]
        results = {name: compare(build, name, all_programs[name], rounds, ways) for name in wanted}
    for way in ways[1:]:
        print("geometric mean, %s: %.2f" % (way, geometric_mean([result[way] for result in results.values()])))
    return results


def print_quotient(results, way, other):
    """One way beside another: of each program, and the geometric mean."""
    quotients = {name: result[way] / result[other] for name, result in results.items()}
    print("%s / %s: %s; geometric mean %.2f" %
          (way, other, ", ".join("%s %.2f" % each for each in quotients.items()), geometric_mean(quotients.values())))


def models(build, wanted):
    print("load: %.1f %.1f %.1f on %d cores" % (*os.getloadavg(), os.cpu_count()))
    only = wanted.pop(0) if wanted[:1] in (["full"], ["sampled"]) else None
    part = int(wanted.pop(0)) if wanted and wanted[0].isdigit() else 10
    if only != "sampled" and shutil.which("valgrind"):
        print_quotient(table(build, MODEL_WAYS, 1, wanted, part), "full", "cachegrind")
    if only != "full":
        print_quotient(table(build, SAMPLED_WAYS, 3, wanted), "sampled", "engine")
    print("load: %.1f %.1f %.1f" % os.getloadavg())
    os.unlink(RESULT)


def main():
    build = os.path.abspath(sys.argv[1])
    if sys.argv[2:3] == ["models"]:
        return models(build, sys.argv[3:])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ways = [way for way in WAYS if way != "valgrind" or shutil.which("valgrind")]
    print("load: %.1f %.1f %.1f on %d cores" % (*os.getloadavg(), os.cpu_count()))
    table(build, ways, rounds, sys.argv[3:])
    gains = scaling(build, rounds)
    print("two threads are done sooner: %.2f times natively, %.2f times under the engine" %
          (gains["native"], gains["engine"]))
    print("start-up, more than natively: %.1f ms of CPU time; wall time %.1f ms, best %.1f ms" %
          start_up(build, rounds))
    print("load: %.1f %.1f %.1f" % os.getloadavg())
    os.unlink(RESULT)


if __name__ == "__main__":
    main()
