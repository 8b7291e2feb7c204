// The roofline position of each core, by the metrics GFLOPS and intensity where they are counted.

import { Axes, drawGrid, drawRoofs, fitAxes, shadeRoofs } from "./roofs";
import { Panel, haloText } from "./panel";
import { Roofline } from "./data";
import { Sample } from "./live_data";
import { category, theme } from "./colour";
import { h, say } from "./dom";
import { place } from "./scale";
import { shown } from "./format";

const kLeft = 58, kRight = 12, kTop = 10, kBottom = 42;

interface Mark { cpu: number; intensity: number; flops: number }

export class LiveRoofline extends Panel {
  readonly note = h("span", { class: "note" });
  private roofline: Roofline | undefined;
  private why = "";
  private marks: Mark[] = [];

  constructor() {
    super("Roofline: intensity across, performance up, a point for each core", 380, "img");
  }

  async load(): Promise<void> {
    const answer = await (await fetch("roofline")).json();
    if (answer.why) this.why = answer.why;
    else this.roofline = answer as Roofline;
    this.invalidate();
  }

  show(sample: Sample): void {
    this.marks = sample.cores
      .filter((core) => core.values.GFLOPS && core.values.intensity)
      .map((core) => ({ cpu: core.cpu, intensity: core.values.intensity!, flops: core.values.GFLOPS! * 1e9 }));
    const missing = sample.cores.map((core) => core.missing?.GFLOPS ?? core.missing?.intensity).find((text) => text);
    this.note.textContent = this.why ? `no roofs: ${shown(this.why)}`
      : this.marks.length ? `${this.marks.length} cores compute` : missing ? `not counted: ${shown(missing)}`
      : "count GFLOPS and intensity to see the cores here (loft top --send GFLOPS,intensity)";
    if (this.marks.length) say(`${this.marks.length} cores compute`);
    this.invalidate();
  }

  protected override paint(): void {
    const xs = Float32Array.from(this.marks, (mark) => Math.log10(mark.intensity));
    const ys = Float32Array.from(this.marks, (mark) => Math.log10(mark.flops));
    const [left, right, low, high] = fitAxes(this.roofline, xs, ys, new Uint8Array(xs.length));
    const axes: Axes = {
      x: { from: left, to: right, start: kLeft, end: this.width - kRight },
      y: { from: low, to: high, start: this.height - kBottom, end: kTop },
    };
    shadeRoofs(this.g, this.roofline, axes);
    drawGrid(this.g, "FLOP", axes);
    drawRoofs(this.g, this.roofline, axes);
    this.marks.forEach((mark, i) => {
      const x = place(axes.x, xs[i]), y = place(axes.y, ys[i]);
      this.g.beginPath();
      this.g.arc(x, y, 5, 0, 2 * Math.PI);
      this.g.fillStyle = category(i % 8);
      this.g.fill();
      haloText(this.g, `CPU ${mark.cpu}`, x + 8, y, theme().ink);
    });
  }
}
