// How many calls of a function took how long: a small drawing for each. Both axes are logarithmic,
// so that one slow call among a million can be seen.

import { Histogram } from "./data";
import { Panel } from "./panel";
import { theme } from "./colour";
import { count, seconds, si } from "./format";
import { facts } from "./panel";
import { h, name } from "./dom";

const kHeight = 132;
const kBottom = 18;
const kTop = 6;

export class HistogramPanel extends Panel {
  private readonly most: number;

  constructor(private readonly data: Histogram) {
    super(`${data.title}: ${count(sum(data.count))} calls by ${data.quantity}.`, kHeight, "img");
    this.most = data.count.reduce((a, b) => Math.max(a, b), 1);
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.place(event);
      const i = this.barAt(x);
      if (i < 0) this.hideTip();
      else this.showTip(x, y, name(data.title, "strong"), facts([
        [data.quantity, `${this.value(data.low[i])} to ${this.value(data.high[i])}`], ["calls", count(data.count[i])]]));
    });
  }

  private value(raw: number): string {
    return this.data.unit === "s" ? seconds(raw) : si(raw, this.data.unit);
  }

  // From the smallest value to the largest, by its logarithm.
  private get range(): [number, number] {
    const { low, high } = this.data;
    const least = Math.log(Math.max(low[0], high[0] / 8, Number.MIN_VALUE));
    const most = Math.log(Math.max(high[high.length - 1], Number.MIN_VALUE));
    return most - least > 0.2 ? [least, most] : [least - 0.5, most + 0.5];
  }

  private xOf(value: number): number {
    const [least, most] = this.range;
    return 4 + (Math.max(least, Math.log(Math.max(value, Number.MIN_VALUE))) - least) / (most - least) * (this.width - 8);
  }

  private barAt(x: number): number {
    return this.data.low.findIndex((low, i) => x >= this.xOf(low) - 1 && x <= this.xOf(this.data.high[i]) + 1);
  }

  protected paint(): void {
    const { g, data } = this;
    const bottom = this.height - kBottom;
    const full = Math.log1p(this.most);
    g.fillStyle = theme().accent;
    data.count.forEach((calls, i) => {
      const left = this.xOf(data.low[i]), right = this.xOf(data.high[i]);
      const tall = Math.max(1.5, Math.log1p(calls) / full * (bottom - kTop));
      g.fillRect(left, bottom - tall, Math.max(1.5, right - left - 1), tall);
    });
    g.strokeStyle = theme().line;
    g.beginPath();
    g.moveTo(0, bottom + 0.5);
    g.lineTo(this.width, bottom + 0.5);
    g.stroke();
    this.paintMarks(bottom);
  }

  // The smallest, the largest, and where half of the calls and 99 of 100 are.
  private paintMarks(bottom: number): void {
    const { g, data } = this;
    g.textBaseline = "top";
    g.fillStyle = theme().soft;
    g.textAlign = "left";
    g.fillText(this.value(data.low[0]), 2, bottom + 4);
    g.textAlign = "right";
    g.fillText(this.value(data.high[data.high.length - 1]), this.width - 2, bottom + 4);
    g.strokeStyle = theme().soft;
    g.setLineDash([3, 3]);
    for (const value of [data.p50, data.p99]) {
      const at = Math.round(this.xOf(value)) + 0.5;
      g.beginPath();
      g.moveTo(at, kTop);
      g.lineTo(at, bottom);
      g.stroke();
    }
    g.setLineDash([]);
  }
}

function sum(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}

export function histogramBoxes(histograms: Histogram[]): HTMLElement {
  return h("div", { class: "histograms" }, ...histograms.map((one) => {
    const panel = new HistogramPanel(one);
    const show = (value: number) => (one.unit === "s" ? seconds(value) : si(value, one.unit));
    return h("figure", {}, h("figcaption", {}, name(one.title), h("span", { class: "note" },
      `${count(sum(one.count))} calls, half below ${show(one.p50)}, 99 % below ${show(one.p99)}`)), panel.host);
  }));
}
