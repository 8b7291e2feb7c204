"""The figures of bench/roof/run: LOFT KERNELS ROUNDS."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

loft, kernels, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])


def machine():
    """This machine's file, measured when there is none."""
    shown = subprocess.run([loft, "machine", "show", "--format", "json"], capture_output=True)
    if shown.returncode != 0:
        subprocess.run([loft, "machine"], check=True, stdout=subprocess.DEVNULL)
        shown = subprocess.run([loft, "machine", "show", "--format", "json"], capture_output=True,
                               check=True)
    return json.loads(shown.stdout)


def roof(*command):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([loft, "roof", "-o", out.name, "--", *command], check=True,
                       stdout=subprocess.DEVNULL)
        return json.load(open(out.name))


def cpu_seconds(*command):
    """Alone, by the same clock as the native pass."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([loft, "stat", "-e", "task-clock", "-o", out.name, "--", *command],
                       check=True, stdout=subprocess.DEVNULL)
        return json.load(open(out.name))["events"][0]["value"] * 1e-9


def passes_over(size, bytes_per_second, seconds=0.2):
    return max(1, int(seconds * bytes_per_second / size))


print(f"load {os.getloadavg()[0]:.1f}\n")
print("kernel on its level        bytes    GFLOP/s   FLOP/B   of the level's roof (best)")
plan = {"L1": ("triad", 250e9), "L2": ("sum", 90e9), "L3": ("sum", 50e9), "DRAM": ("scale", 20e9)}
here = machine()
for level in here["levels"]:
    if level["name"] not in plan:
        continue
    kernel, speed = plan[level["name"]]
    roof_of_level = max(r["best"] for r in here["roofs"]
                        if r["kind"] == "bandwidth" and r["level"] == level["name"]
                        and r["threads"] == 1)
    size = level["test_bytes"]
    best = None
    for _ in range(rounds):
        report = roof(kernels, kernel, str(size), str(passes_over(size, speed)))
        point = next(p for p in report["points"]
                     if p["scope"] == "function" and p["name"] == kernel)
        if best is None or point["gflops"] > best["gflops"]:
            best = point
    print(f"{level['name']:5} {kernel:10} {size:16,} {best['gflops']:10.2f} {best['intensity']:8.4f}"
          f"   {100 * best['gflops'] * 1e9 / best['intensity'] / roof_of_level:5.1f} %")

command = [kernels, "sum", "262144", str(passes_over(262144, 90e9, 0.5))]
ratios, totals = [], []
for _ in range(3 * rounds):
    alone = cpu_seconds(*command)
    start = time.monotonic()
    report = roof(*command)
    totals.append((time.monotonic() - start) / report["wall_s"])
    ratios.append(report["cpu_s"] / alone)
print(f"\nnative pass / alone, CPU time, median of {3 * rounds}: {statistics.median(ratios):.4f}"
      f" ({min(ratios):.4f} to {max(ratios):.4f})")
print(f"whole command / native pass, wall time, median: {statistics.median(totals):.2f}")
