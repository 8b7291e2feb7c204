// Which colour a point has: the functions, threads or runs that matter most get one of their own,
// all others share one.

import { PageData, Points, kFunction, kNoThread, kSlice } from "./data";
import { State, ColourBy } from "./state";
import { category, kCategories, pixel, ramp, theme } from "./colour";

export interface LegendEntry { label: string; rank: number; key: string }

export class Groups {
  private readonly functionRank = new Map<number, number>();  // by number of text
  private readonly threadRank = new Map<number, number>();
  private readonly nodeRank: Map<string, number>;

  constructor(private readonly state: State) {
    const points = state.data.points;
    rankBy(points, (i) => points.function[i] || (points.scope[i] === kFunction ? points.name[i] : 0),
      0, this.functionRank);
    rankBy(points, (i) => points.tid[i], kNoThread, this.threadRank);
    if (state.data.schedule) rankThreads(state.data, this.threadRank);
    this.nodeRank = new Map(state.nodes.map((node, rank) => [node, rank]));
  }

  functionOf(i: number): string {
    const { points } = this.state.data;
    return points.texts[points.function[i] || (points.scope[i] === kFunction ? points.name[i] : 0)];
  }

  rankOf(i: number, by: ColourBy): number {
    const points = this.state.data.points;
    if (by === "thread") return this.threadRank.get(points.tid[i]) ?? -1;
    if (by === "node") return this.nodeRank.get(this.state.nodeOf(points.tid[i])) ?? -1;
    if (by === "run") return points.run[i];
    return this.functionRank.get(points.function[i] || (points.scope[i] === kFunction ? points.name[i] : 0)) ?? -1;
  }

  threadColour(tid: number): string {
    return category(this.threadRank.get(tid) ?? -1);
  }

  colourOf(i: number, by: ColourBy): string {
    const points = this.state.data.points;
    if (by !== "time") return category(this.rankOf(i, by));
    return Number.isNaN(points.start_s[i]) ? theme().other : ramp(this.timeShare(i));
  }

  private timeShare(i: number): number {
    const [from, to] = this.state.extent;
    const { start_s, end_s } = this.state.data.points;
    return ((start_s[i] + end_s[i]) / 2 - from) / (to - from);
  }

  // The colours of all points at once.
  pixels(by: ColourBy): Uint32Array {
    const points = this.state.data.points;
    const out = new Uint32Array(points.count);
    if (by === "time") {
      const table = Array.from({ length: 256 }, (_, k) => pixel(ramp(k / 255)));
      const other = pixel(theme().other);
      for (let i = 0; i < out.length; ++i) {
        const at = this.timeShare(i);
        out[i] = at >= 0 ? table[Math.min(255, Math.floor(at * 256))] : other;
      }
      return out;
    }
    const table = Uint32Array.from({ length: kCategories + 1 }, (_, k) => pixel(category(k - 1)));
    // Neighbours mostly belong together: what was looked up last serves again.
    const key = by === "thread" || by === "node" ? points.tid : by === "run" ? points.run : points.function;
    let last = -1, colour = 0;
    for (let i = 0; i < out.length; ++i) {
      if (key[i] !== last || points.scope[i] !== kSlice) {
        const rank = this.rankOf(i, by);
        colour = table[rank < 0 || rank >= kCategories ? 0 : rank + 1];
        last = points.scope[i] === kSlice ? key[i] : -1;
      }
      out[i] = colour;
    }
    return out;
  }

  legend(by: ColourBy): LegendEntry[] {
    const { data } = this.state;
    if (by === "run") return data.runs.map((label, rank) => ({ label, rank, key: label }));
    if (by === "time") return [];
    if (by === "node") return [...this.nodeRank].slice(0, kCategories).map(([label, rank]) => ({ label, rank, key: "" }));
    const ranks = by === "thread" ? this.threadRank : this.functionRank;
    return [...ranks].filter(([, rank]) => rank < kCategories).sort((a, b) => a[1] - b[1]).map(([key, rank]) => {
      const label = by === "thread" ? this.state.threadName(key) : data.points.texts[key];
      return { label, rank, key: by === "thread" ? "" : label };
    });
  }
}

// Ranks by time, which is what a person looks for first; where times are not known, by number.
function rankBy(points: Points, keyOf: (i: number) => number, none: number, ranks: Map<number, number>): void {
  const weights = new Map<number, number>();
  for (let i = 0; i < points.count; ++i) {
    const key = keyOf(i);
    if (key === none) continue;
    const known = points.scope[i] === kSlice ? points.end_s[i] - points.start_s[i] : points.seconds[i];
    weights.set(key, (weights.get(key) ?? 0) + (known > 0 ? known : points.share[i] > 0 ? points.share[i] : 1e-9));
  }
  [...weights].sort((a, b) => b[1] - a[1]).forEach(([key], rank) => ranks.set(key, rank));
}

function rankThreads(data: PageData, ranks: Map<number, number>): void {
  const weights = new Map<number, number>();
  const { tid, start_s, end_s } = data.schedule!;
  for (let i = 0; i < tid.length; ++i) weights.set(tid[i], (weights.get(tid[i]) ?? 0) + end_s[i] - start_s[i]);
  for (const [key] of [...weights].sort((a, b) => b[1] - a[1])) if (!ranks.has(key)) ranks.set(key, ranks.size);
}
