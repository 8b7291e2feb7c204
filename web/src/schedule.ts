// Which thread ran on which CPU when: a lane per CPU coloured by thread, or a lane per thread
// coloured by CPU. Slices narrower than a pixel add up to the share of it that was busy.

import { TimePanel, kAxis } from "./time_panel";
import { Scale } from "./scale";
import { State } from "./state";
import { Groups } from "./groups";
import { category, kCategories, pixel, theme } from "./colour";
import { count, seconds } from "./format";
import { facts, fitted } from "./panel";
import { name } from "./dom";
import { Band } from "./band";

const kNoCpu = 0xffffffff;  // ran, but nobody wrote down where
const cpuName = (cpu: number): string => (cpu === kNoCpu ? "CPU not recorded" : `CPU ${cpu}`);

type LaneBy = "cpu" | "thread";

interface Lanes {
  keys: number[];
  slices: Uint32Array[];  // by lane, in order of time
}

export class SchedulePanel extends TimePanel {
  private by: LaneBy = "cpu";
  readonly knowsCpus: boolean;
  private readonly lanesBy = new Map<LaneBy, Lanes>();
  private laneHeight = 20;
  private readonly bands = document.createElement("canvas");
  private colours = new Uint32Array(0);
  private colouredAs = "";

  constructor(state: State, private readonly groups: Groups) {
    super(state, "Schedule of threads on CPUs.", 100);
    this.knowsCpus = this.columns.cpu.some((one) => one !== kNoCpu);
    if (!this.knowsCpus) this.by = "thread";
    this.arrange();
  }

  laneBy(by: LaneBy): void {
    this.by = by;
    this.arrange();
    this.invalidate();
  }

  get lanes(): Lanes {
    let lanes = this.lanesBy.get(this.by);
    if (!lanes) this.lanesBy.set(this.by, (lanes = this.sortInto(this.by)));
    return lanes;
  }

  private get columns() {
    return this.state.data.schedule!;
  }

  private arrange(): void {
    const lanes = this.lanes.keys.length;
    this.laneHeight = Math.max(3, Math.min(22, Math.floor(440 / Math.max(1, lanes))));
    this.setHeight(lanes * this.laneHeight + kAxis + 2);
  }

  private sortInto(by: LaneBy): Lanes {
    const keyOf = by === "cpu" ? this.columns.cpu : this.columns.tid;
    const lists = new Map<number, number[]>();
    for (let i = 0; i < keyOf.length; ++i) {
      const list = lists.get(keyOf[i]);
      if (list) list.push(i);
      else lists.set(keyOf[i], [i]);
    }
    const keys = [...lists.keys()].sort((a, b) => a - b);
    const { start_s } = this.columns;
    return { keys, slices: keys.map((key) => Uint32Array.from(lists.get(key)!).sort((a, b) => start_s[a] - start_s[b])) };
  }

  // Of every slice, as a pixel.
  private get pixels(): Uint32Array {
    const wanted = `${this.by} ${theme().isDark}`;
    if (this.colouredAs === wanted) return this.colours;
    this.colouredAs = wanted;
    const { tid, cpu } = this.columns;
    const known = new Map<number, number>();
    const byThread = this.by === "cpu" || !this.knowsCpus;
    const keys = byThread ? tid : cpu;
    return (this.colours = Uint32Array.from(keys, (key) => {
      let colour = known.get(key);
      if (colour === undefined)
        known.set(key, (colour = pixel(byThread ? this.groups.threadColour(key) : category(key % kCategories))));
      return colour;
    }));
  }

  protected paintLanes(x: Scale): void {
    const { slices } = this.lanes;
    const wide = Math.floor((x.end - x.start) * this.ratio), tall = Math.round(this.laneHeight * this.ratio);
    if (wide <= 0 || slices.length === 0) return;
    this.bands.width = wide;
    this.bands.height = tall * slices.length;
    const drawing = this.bands.getContext("2d")!;
    const image = drawing.createImageData(wide, this.bands.height);
    const band = new Band(wide, pixel(theme().grid));
    const target = new Uint32Array(image.data.buffer);
    const gap = Math.round((this.laneHeight > 6 ? 3 : 1) * this.ratio);
    slices.forEach((list, lane) => {
      this.fillBand(band, list, x);
      const row = band.row();
      for (let y = 0; y < tall - gap; ++y) target.set(row, (lane * tall + y) * wide);
    });
    drawing.putImageData(image, 0, 0);
    this.g.drawImage(this.bands, x.start, 1, x.end - x.start, this.laneHeight * slices.length);
    if (this.laneHeight >= 14) slices.forEach((list, lane) => this.paintWords(list, lane * this.laneHeight, x));
  }

  private fillBand(band: Band, slices: Uint32Array, x: Scale): void {
    const { start_s, end_s } = this.columns;
    const { pixels } = this;
    const scale = band.width / (x.to - x.from);
    band.clear();
    for (let k = this.firstVisible(slices, x.from); k < slices.length; ++k) {
      const i = slices[k];
      if (start_s[i] >= x.to) break;
      band.add((start_s[i] - x.from) * scale, (end_s[i] - x.from) * scale, pixels[i]);
    }
  }

  private paintWords(slices: Uint32Array, top: number, x: Scale): void {
    const { g } = this;
    const { start_s, end_s, tid, cpu } = this.columns;
    const kx = (x.end - x.start) / (x.to - x.from);
    g.textAlign = "left";
    g.textBaseline = "middle";
    g.fillStyle = theme().panel;
    for (let k = this.firstVisible(slices, x.from); k < slices.length; ++k) {
      const i = slices[k];
      if (start_s[i] >= x.to) break;
      const left = Math.max(0, (start_s[i] - x.from) * kx);
      const wide = Math.min(x.end - x.start, (end_s[i] - x.from) * kx) - left;
      if (wide < 46) continue;
      const words = this.by === "cpu" || !this.knowsCpus ? this.state.threadName(tid[i]) : cpuName(cpu[i]);
      g.fillText(fitted(g, words, wide - 8, 6.5), x.start + left + 4, top + this.laneHeight / 2 - 0.5);
    }
  }

  protected paintMargin(x: Scale): void {
    const { g } = this;
    g.textAlign = "right";
    g.textBaseline = "middle";
    const every = Math.ceil(12 / this.laneHeight);
    this.lanes.keys.forEach((key, lane) => {
      if (lane % every !== 0) return;
      g.fillStyle = theme().soft;
      const text = this.by === "cpu" ? cpuName(key) : this.state.threadName(key);
      g.fillText(fitted(g, text, x.start - 8, 6), x.start - 6, (lane + 0.5) * this.laneHeight + 1);
    });
  }

  // Slices of a lane follow each other, so that the first one to see is found in a few steps.
  private firstVisible(slices: Uint32Array, from: number): number {
    const { end_s } = this.columns;
    let low = 0, high = slices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (end_s[slices[middle]] > from) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  protected describe(time: number, y: number): Node[] {
    const lane = Math.floor(y / this.laneHeight);
    const slices = this.lanes.slices[lane];
    if (!slices) return [name(seconds(time), "strong")];
    const { start_s, end_s, tid, cpu } = this.columns;
    const i = slices[this.firstVisible(slices, time)];
    const isBusy = i !== undefined && start_s[i] <= time;
    const rows: [string, string][] = isBusy
      ? [["thread", this.state.threadName(tid[i])], ["on", cpuName(cpu[i])],
         ["from, to", `${seconds(start_s[i])}, ${seconds(end_s[i])}`], ["for", seconds(end_s[i] - start_s[i])]]
      : [["", this.by === "cpu" ? "nothing recorded here" : "not running"]];
    const title = this.by === "cpu" ? cpuName(this.lanes.keys[lane]) : this.state.threadName(this.lanes.keys[lane]);
    return [name(title, "strong"), facts([["at", seconds(time)], ...rows, ["slices here", count(slices.length)]])];
  }
}
