"""Runs loft machine and likwid-bench in turns and prints ratios. Called by `run` beside it."""
import json
import os
import re
import subprocess
import sys
import tempfile

# What a core does per cycle with 256-bit instructions in double precision, by its CPUID family:
# L1 load, 2 loads + 1 store, store, copy, L2 load in bytes; ADD, MUL, FMA, best mix in operations.
# Zen 3 and 4 (family 25) have the same pipes.
LIMITS = {25: {"L1 load": 64, "L1 2ld1st": 96, "L1 store": 32, "L1 copy": 64, "L2 load": 32,
               "add": 8, "mul": 8, "fma": 16, "mixed": 19}}
NEEDED = {"mixed": 1.0}  # a floor, not a limit; all others must reach 99 %

# loft's roof, likwid's kernel, likwid's share of bytes that it counts
# 2ld1st beside likwid's stream triad, which also computes. It has no kernel of additions or of
# multiplications alone: these stand beside the limits only.
MEMORY = [("load", "load_avx"), ("store", "store_avx"), ("copy", "copy_avx"),
          ("2ld1st", "stream_avx_fma")]
PAST_CACHES = [("ntstore", "store_mem_avx"), ("ntcopy", "copy_mem_avx")]
PEAKS = [("fma", "dp", "peakflops_avx_fma"), ("muladd", "dp", "peakflops_avx"),
         ("fma", "sp", "peakflops_sp_avx_fma"), ("muladd", "sp", "peakflops_sp_avx")]


def likwid(kernel, kilobytes, cpu):
    """MByte/s and MFlops/s of one short run on one CPU, or None where likwid refuses."""
    out = subprocess.run(["taskset", "-c", str(cpu), "likwid-bench", "-t", kernel, "-s", "1", "-w",
                          f"N:{kilobytes}kB:1"], capture_output=True, text=True).stdout
    found = {name: float(value) for name, value in
             re.findall(r"(MByte/s|MFlops/s):\s+([0-9.]+)", out)}
    return found or None


def measure(loft, folder, index):
    path = os.path.join(folder, f"machine{index}.json")
    subprocess.run([loft, "machine", "-o", path], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(path) as file:
        return json.load(file)


def roof(machine, op, level=None, precision="dp"):
    isa = "avx2" if "avx2" in machine["isas"] else machine["isas"][-1]
    for each in machine["roofs"]:
        if (each["threads"] == 1 and each["isa"] == isa and each["op"] == op and
                each.get("level") == level and each.get("precision", precision) == precision):
            return each
    return None


def comparisons(machine):
    """(name, roof, likwid kernel, what likwid prints, kB) of everything that both can do."""
    for level in machine["levels"]:
        ops = MEMORY + (PAST_CACHES if level["name"] == "DRAM" else [])
        for op, kernel in ops:
            found = roof(machine, op, level["name"])
            if found and found["best"]:
                yield f"{level['name']} {op}", found, kernel, "MByte/s", max(1, found["bytes"] // 1000)
    for op, precision, kernel in PEAKS:
        found = roof(machine, op, precision=precision)
        if found and found["best"]:
            yield f"{op} {precision}", found, kernel, "MFlops/s", 8


def main():
    loft, runs = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        first = measure(loft, folder, 0)
        theirs = {}
        cpu = roof(first, "fma")["cpus"][0]
        for name, _, kernel, unit, size in comparisons(first):
            for _ in range(2):
                result = likwid(kernel, size, cpu)
                if result and unit in result:
                    theirs[name] = max(theirs.get(name, 0), result[unit] * 1e6)
        machines = [first] + [measure(loft, folder, i) for i in range(1, runs)]
    report(machines, theirs)


def report(machines, theirs):
    family = int(re.search(r"cpu family\s*:\s*(\d+)", open("/proc/cpuinfo").read()).group(1))
    limits = LIMITS.get(family, {})
    worst = 0
    print(f"{machines[0]['cpu']}, {machines[0]['frequency_hz'] / 1e9:.3f} GHz by chain\n")
    print(f"{'per cycle, one thread':26}{'best':>9}{'limit':>8}{'share':>9}{'repeats within':>17}")
    for name, limit in limits.items():
        level, _, op = name.rpartition(" ")
        values = [roof(each, op, level or None) for each in machines]
        values = [each["per_cycle"] for each in values if each and each["per_cycle"]]
        if not values:
            print(f"{name:26}{'-':>9}{limit:8}")
            continue
        share = max(values) / limit
        worst += share < NEEDED.get(name, 0.99)
        print(f"{name:26}{max(values):9.3f}{limit:8}{share:9.1%}{1 - min(values) / max(values):17.2%}")
    print(f"\n{'against likwid-bench':26}{'loft':>9}{'likwid':>9}{'ratio':>8}{'repeats within':>17}   G/s")
    for name, found, _, _, _ in comparisons(machines[0]):
        values = [roof(each, found["op"], found.get("level"), found.get("precision", "dp"))["best"]
                  for each in machines]
        if name not in theirs:
            print(f"{name:26}{max(values) / 1e9:9.1f}{'-':>9}")
            continue
        ratio = max(values) / theirs[name]
        worst += ratio < 1
        print(f"{name:26}{max(values) / 1e9:9.1f}{theirs[name] / 1e9:9.1f}{ratio:8.2f}"
              f"{1 - min(values) / max(values):17.2%}")
    print("\nlatencies, cycles in each run")
    for name in ("FP_add_lat", "FP_mul_lat", "FP_fma_lat", "FP_div_lat", "FP_sqrt_lat", "L1_lat",
                 "L2_lat", "L3_lat", "Mem_lat", "BR_miss_lat"):
        values = [each["constants"].get(name, {}).get("cycles") for each in machines]
        print(f"{name:26}" + "".join(f"{value:9.2f}" if value else f"{'-':>9}" for value in values))
    print(f"\n{worst} short of what they must reach" if worst else "\nall reach what they must")


main()
