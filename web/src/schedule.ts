// Which thread ran on which CPU when: a lane per CPU coloured by thread, or a lane per thread
// coloured by CPU. Slices narrower than a pixel add up to the share of it that was busy.

import { TimePanel, kAxis, kTimeLeft } from "./time_panel";
import { Scale } from "./scale";
import { State } from "./state";
import { Groups } from "./groups";
import { category, theme } from "./colour";
import { count, seconds } from "./format";
import { facts, fitted } from "./panel";
import { name } from "./dom";

type LaneBy = "cpu" | "thread";

interface Lanes {
  keys: number[];
  slices: Uint32Array[];  // by lane, in order of time
}

export class SchedulePanel extends TimePanel {
  private by: LaneBy = "cpu";
  private readonly lanesBy = new Map<LaneBy, Lanes>();
  private laneHeight = 20;

  constructor(state: State, private readonly groups: Groups) {
    super(state, "Schedule of threads on CPUs.", 100);
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

  private colour(i: number): string {
    return this.by === "cpu" ? this.groups.threadColour(this.columns.tid[i]) : category(this.columns.cpu[i] % 8);
  }

  protected paintLanes(x: Scale): void {
    this.lanes.slices.forEach((slices, lane) => this.paintLane(slices, lane * this.laneHeight, x));
  }

  protected paintMargin(): void {
    const { g } = this;
    g.textAlign = "right";
    g.textBaseline = "middle";
    const every = Math.ceil(12 / this.laneHeight);
    this.lanes.keys.forEach((key, lane) => {
      if (lane % every !== 0) return;
      g.fillStyle = theme().soft;
      const text = this.by === "cpu" ? `CPU ${key}` : String(key);
      g.fillText(fitted(g, text, kTimeLeft - 8, 6), kTimeLeft - 6, (lane + 0.5) * this.laneHeight + 1);
    });
  }

  private paintLane(slices: Uint32Array, top: number, x: Scale): void {
    const { g } = this;
    const { start_s, end_s, tid } = this.columns;
    const kx = (x.end - x.start) / (x.to - x.from);
    const tall = Math.max(1, this.laneHeight - (this.laneHeight > 6 ? 3 : 1));
    g.fillStyle = theme().grid;
    g.fillRect(x.start, top + 1, x.end - x.start, tall);
    let column = -1, busy = 0, longest = 0, colour = "";
    const flush = () => {
      if (busy > 0) {
        g.fillStyle = colour;
        g.globalAlpha = Math.min(1, Math.max(0.12, busy));
        g.fillRect(x.start + column, top + 1, 1, tall);
        g.globalAlpha = 1;
      }
      busy = longest = 0;
    };
    g.textAlign = "left";
    g.textBaseline = "middle";
    for (let k = this.firstVisible(slices, x.from); k < slices.length; ++k) {
      const i = slices[k];
      if (start_s[i] >= x.to) break;
      const left = Math.max(0, (start_s[i] - x.from) * kx), right = Math.min(x.end - x.start, (end_s[i] - x.from) * kx);
      const wide = right - left;
      if (wide < 1.5) {
        if (Math.floor(left) !== column) {
          flush();
          column = Math.floor(left);
        }
        busy += wide;
        if (wide >= longest) {
          longest = wide;
          colour = this.colour(i);
        }
        continue;
      }
      g.fillStyle = this.colour(i);
      g.fillRect(x.start + left, top + 1, Math.max(1, wide - 0.5), tall);
      if (wide < 46 || this.laneHeight < 14) continue;
      g.fillStyle = theme().panel;
      const words = this.by === "cpu" ? this.state.threadName(tid[i]) : `CPU ${this.columns.cpu[i]}`;
      g.fillText(fitted(g, words, wide - 8, 6.5), x.start + left + 4, top + 1 + tall / 2);
    }
    flush();
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
      ? [["thread", this.state.threadName(tid[i])], ["CPU", String(cpu[i])],
         ["from, to", `${seconds(start_s[i])}, ${seconds(end_s[i])}`], ["for", seconds(end_s[i] - start_s[i])]]
      : [["", this.by === "cpu" ? "nothing recorded here" : "not running"]];
    const title = this.by === "cpu" ? `CPU ${this.lanes.keys[lane]}` : this.state.threadName(this.lanes.keys[lane]);
    return [name(title, "strong"), facts([["at", seconds(time)], ...rows, ["slices here", count(slices.length)]])];
  }
}
