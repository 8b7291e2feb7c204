#!/usr/bin/env python3
"""Draws the functions of a program under the roofs of the machine, from the JSON of loft.

  loft roof -o roof.json -- ./app
  loft machine show --format json -o machine.json
  python3 plot_roofline.py roof.json machine.json roofline.png

Needs matplotlib. The ending of the last word chooses the form: .png, .svg, .pdf.
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot


def roofs_of(machine):
    """The best peak and the best bandwidth of each level, with all threads that were measured."""
    threads = max(roof["threads"] for roof in machine["roofs"])
    measured = [roof for roof in machine["roofs"] if roof["threads"] == threads and roof["verdict"] != "unavailable"]
    peak = max(roof["best"] for roof in measured if roof["kind"] == "flops" and roof["precision"] == "dp")
    bandwidths = {}
    for roof in measured:
        if roof["kind"] == "bandwidth":
            bandwidths[roof["level"]] = max(roof["best"], bandwidths.get(roof["level"], 0))
    return peak, bandwidths


def main(roof_file, machine_file, picture):
    with open(roof_file) as file:
        run = json.load(file)
    with open(machine_file) as file:
        peak, bandwidths = roofs_of(json.load(file))
    # What was not counted, or has no place under a roof, is null: never 0.
    points = [point for point in run["points"]
              if point["scope"] in ("run", "function") and point["intensity"] and point["gflops"]]
    lowest = min([point["intensity"] for point in points] + [0.01]) / 2
    highest = max([point["intensity"] for point in points] + [10]) * 2
    figure, axes = plot.subplots(figsize=(9, 6))
    for level, bandwidth in bandwidths.items():
        ridge = min(highest, peak / bandwidth)
        axes.plot([lowest, ridge], [lowest * bandwidth / 1e9, ridge * bandwidth / 1e9],
                  label=f"{level}: {bandwidth / 1e9:.3g} GB/s")
    axes.plot([peak / max(bandwidths.values()), highest], [peak / 1e9] * 2, color="black",
              label=f"peak: {peak / 1e9:.3g} GFLOP/s")
    for point in points:
        size = 20 + 300 * (point["share_of_time"] or 0)
        axes.scatter(point["intensity"], point["gflops"], s=size, zorder=3)
        axes.annotate(point["name"], (point["intensity"], point["gflops"]), fontsize=8,
                      xytext=(6, 4), textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlabel="FLOP per byte", ylabel="GFLOP/s", title=" ".join(run["command"]))
    axes.legend(loc="lower right")
    figure.savefig(picture)
    print(f"{picture}: {len(points)} points under {len(bandwidths) + 1} roofs")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
