// Single calls over time: a lane per thread and depth, coloured by function. Calls narrower than a
// pixel add up to the share of it that they took.

import { TimePanel, kAxis } from "./time_panel";
import { Scale } from "./scale";
import { State } from "./state";
import { category, kCategories, pixel, theme } from "./colour";
import { count, seconds } from "./format";
import { facts, fitted } from "./panel";
import { name } from "./dom";
import { Band } from "./band";

const kLane = 17;
const kMostLanes = 48;

interface Lane { tid: number; depth: number; calls: Uint32Array }

export class CallsPanel extends TimePanel {
  readonly lanes: Lane[];
  readonly hidden: number;  // lanes that are too many to show
  private readonly bands = document.createElement("canvas");

  constructor(state: State) {
    super(state, "Single calls over time.", 100);
    const all = this.sortIntoLanes();
    this.lanes = all.slice(0, kMostLanes);
    this.hidden = all.length - this.lanes.length;
    this.setHeight(this.lanes.length * kLane + kAxis + 2);
  }

  private get columns() {
    return this.state.data.calls!;
  }

  private sortIntoLanes(): Lane[] {
    const { tid, depth, start_s } = this.columns;
    const lists = new Map<string, number[]>();
    for (let i = 0; i < tid.length; ++i) {
      const key = `${tid[i]} ${depth[i]}`;
      const list = lists.get(key);
      if (list) list.push(i);
      else lists.set(key, [i]);
    }
    const lanes = [...lists.values()].map((list) => ({
      tid: tid[list[0]], depth: depth[list[0]], calls: Uint32Array.from(list).sort((a, b) => start_s[a] - start_s[b]) }));
    return lanes.sort((a, b) => a.tid - b.tid || a.depth - b.depth);
  }

  protected paintLanes(x: Scale): void {
    const wide = Math.floor((x.end - x.start) * this.ratio), tall = Math.round(kLane * this.ratio);
    if (wide <= 0 || this.lanes.length === 0) return;
    this.bands.width = wide;
    this.bands.height = tall * this.lanes.length;
    const drawing = this.bands.getContext("2d")!;
    const image = drawing.createImageData(wide, this.bands.height);
    const target = new Uint32Array(image.data.buffer);
    const band = new Band(wide, pixel(theme().grid));
    const gap = Math.round(2 * this.ratio);
    this.lanes.forEach((lane, k) => {
      this.fillBand(band, lane.calls, x);
      const row = band.row();
      for (let y = 0; y < tall - gap; ++y) target.set(row, (k * tall + y) * wide);
    });
    drawing.putImageData(image, 0, 0);
    this.g.drawImage(this.bands, x.start, 1, x.end - x.start, kLane * this.lanes.length);
    this.lanes.forEach((lane, k) => this.paintWords(lane.calls, k * kLane, x));
  }

  private fillBand(band: Band, calls: Uint32Array, x: Scale): void {
    const { start_s, end_s } = this.columns;
    const scale = band.width / (x.to - x.from);
    band.clear();
    for (let k = this.firstVisible(calls, x.from); k < calls.length && start_s[calls[k]] < x.to; ++k) {
      const i = calls[k];
      band.add((start_s[i] - x.from) * scale, (end_s[i] - x.from) * scale, pixel(category(this.columns.name[i] % kCategories)));
    }
  }

  private paintWords(calls: Uint32Array, top: number, x: Scale): void {
    const { g } = this;
    const { start_s, end_s, name: names, texts } = this.columns;
    const kx = (x.end - x.start) / (x.to - x.from);
    g.textAlign = "left";
    g.textBaseline = "middle";
    g.fillStyle = theme().panel;
    for (let k = this.firstVisible(calls, x.from); k < calls.length && start_s[calls[k]] < x.to; ++k) {
      const i = calls[k];
      const left = Math.max(0, (start_s[i] - x.from) * kx);
      const wide = Math.min(x.end - x.start, (end_s[i] - x.from) * kx) - left;
      if (wide >= 40) g.fillText(fitted(g, texts[names[i]], wide - 8, 6.5), x.start + left + 4, top + kLane / 2);
    }
  }

  protected paintMargin(): void {
    const { g } = this;
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.fillStyle = theme().soft;
    this.lanes.forEach((lane, k) => {
      const isFirst = k === 0 || this.lanes[k - 1].tid !== lane.tid;
      if (isFirst) g.fillText(fitted(g, this.state.threadName(lane.tid), this.left - 8, 6), this.left - 6, (k + 0.5) * kLane + 1);
    });
  }

  // Calls of one depth follow each other.
  private firstVisible(calls: Uint32Array, from: number): number {
    const { end_s } = this.columns;
    let low = 0, high = calls.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (end_s[calls[middle]] > from) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  protected describe(time: number, y: number): Node[] {
    const lane = this.lanes[Math.floor(y / kLane)];
    if (!lane) return [name(seconds(time), "strong")];
    const { start_s, end_s, name: names, texts } = this.columns;
    const i = lane.calls[this.firstVisible(lane.calls, time)];
    const isCall = i !== undefined && start_s[i] <= time;
    const rows: [string, string][] = isCall
      ? [["from, to", `${seconds(start_s[i])}, ${seconds(end_s[i])}`], ["for", seconds(end_s[i] - start_s[i])]]
      : [["", "no call here"]];
    return [name(isCall ? texts[names[i]] : this.state.threadName(lane.tid), "strong"),
      facts([["at", seconds(time)], ...rows, ["thread", this.state.threadName(lane.tid)], ["depth", count(lane.depth)],
        ["calls in this lane", count(lane.calls.length)]])];
  }
}
