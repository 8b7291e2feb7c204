// Values over time, one lane per unit, in steps. Where many steps fall on one pixel, it shows their
// least and their greatest: nothing that happened is smoothed away.

import { TimePanel, kAxis } from "./time_panel";
import { TimeLine } from "./data";
import { Scale, linearTicks, place } from "./scale";
import { State } from "./state";
import { category, theme } from "./colour";
import { marked, seconds, tickText, withUnit } from "./format";
import { facts, haloText } from "./panel";
import { name } from "./dom";

const kLane = 92;
const kHead = 18;

export interface Lane { unit: string; lines: TimeLine[]; top: number; most: number }

export class TimeLinesPanel extends TimePanel {
  private readonly lanes: Lane[];

  constructor(state: State) {
    const lanes = lanesOf(state.data.time_lines);
    super(state, "Values over time.", lanes.length * kLane + kAxis);
    this.lanes = lanes;
  }

  private scaleOf(lane: Lane): Scale {
    return { from: 0, to: lane.most * 1.04 || 1, start: lane.top + kLane - 4, end: lane.top + kHead };
  }

  // One line alone in its lane has the colour of the lane.
  private colourOf(lane: Lane, i: number): string {
    return category(lane.lines.length === 1 ? this.lanes.indexOf(lane) : i);
  }

  protected paintMargin(x: Scale): void {
    const { g } = this;
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.lineWidth = 1;
    for (const lane of this.lanes) {
      const y = this.scaleOf(lane);
      for (const tick of linearTicks(0, y.to, 3)) {
        const at = Math.round(place(y, tick)) + 0.5;
        g.strokeStyle = tick === 0 ? theme().line : theme().grid;
        g.beginPath();
        g.moveTo(x.start, at);
        g.lineTo(x.end, at);
        g.stroke();
        g.fillStyle = theme().soft;
        g.fillText(tickText(tick, lane.unit), x.start - 6, at);
      }
    }
  }

  protected paintLanes(x: Scale): void {
    const { g } = this;
    for (const lane of this.lanes) {
      const y = this.scaleOf(lane);
      lane.lines.forEach((line, i) => this.paintLine(line, x, y, this.colourOf(lane, i)));
      let at = x.start + 6;
      g.textAlign = "left";
      g.textBaseline = "top";
      lane.lines.forEach((line, i) => {
        const words = `${this.label(line)}, ${lane.unit}`;
        haloText(g, words, at, lane.top + 2, this.colourOf(lane, i));
        at += g.measureText(words).width + 16;
      });
    }
  }

  private label(line: TimeLine): string {
    const run = this.state.data.runs.length > 1 ? this.state.runName(line.run) : "";
    return marked(run ? `${line.name}, ${run}` : line.name, line.origin);
  }

  private paintLine(line: TimeLine, x: Scale, y: Scale, colour: string): void {
    const columns = Math.ceil(x.end - x.start);
    const low = new Float64Array(columns).fill(Infinity), high = new Float64Array(columns).fill(-Infinity);
    const kx = (x.end - x.start) / (x.to - x.from);
    for (let i = firstBehind(line.end_s, x.from); i < line.value.length && line.start_s[i] <= x.to; ++i) {
      const value = line.value[i];
      if (value !== value) continue;  // not known: a gap
      const left = Math.max(0, Math.floor((line.start_s[i] - x.from) * kx));
      const right = Math.min(columns - 1, Math.max(left, Math.ceil((line.end_s[i] - x.from) * kx) - 1));
      for (let k = left; k <= right; ++k) {
        if (value < low[k]) low[k] = value;
        if (value > high[k]) high[k] = value;
      }
    }
    this.fillColumns(low, high, x, y, colour);
  }

  private fillColumns(low: Float64Array, high: Float64Array, x: Scale, y: Scale, colour: string): void {
    const { g } = this;
    g.fillStyle = colour;
    g.globalAlpha = 0.16;
    g.beginPath();
    for (let k = 0; k < high.length; ++k)
      if (high[k] >= 0) g.rect(x.start + k, place(y, high[k]), 1, y.start - place(y, high[k]));
    g.fill();
    g.globalAlpha = 1;
    g.beginPath();
    for (let k = 0; k < high.length; ++k) {
      if (!(high[k] >= low[k])) continue;
      // The step from the pixel before is part of the line.
      const isJoined = k > 0 && high[k - 1] >= low[k - 1];
      const top = place(y, isJoined ? Math.max(high[k], low[k - 1]) : high[k]);
      const bottom = place(y, isJoined ? Math.min(low[k], high[k - 1]) : low[k]);
      g.rect(x.start + k, top - 0.75, 1, bottom - top + 1.5);
    }
    g.fill();
  }

  protected describe(time: number): Node[] {
    const rows: [string, string][] = [];
    for (const lane of this.lanes)
      for (const line of lane.lines) {
        const i = firstBehind(line.end_s, time);
        const isKnown = i < line.value.length && line.start_s[i] <= time && !Number.isNaN(line.value[i]);
        rows.push([this.label(line), isKnown ? marked(withUnit(line.value[i], line.unit), line.origin) : "not known"]);
      }
    return [name(seconds(time), "strong"), facts(rows)];
  }
}

export function lanesOf(lines: TimeLine[]): Lane[] {
  const lanes: Lane[] = [];
  for (const line of lines) {
    const lane = lanes.find((one) => one.unit === line.unit);
    if (lane) lane.lines.push(line);
    else lanes.push({ unit: line.unit, lines: [line], top: lanes.length * kLane, most: 0 });
  }
  for (const lane of lanes) lane.most = greatest(lane.lines);
  return lanes;
}

function greatest(lines: TimeLine[]): number {
  let most = 0;
  for (const line of lines) for (const value of line.value) if (value > most) most = value;
  return most;
}

// The first interval that ends after a moment.
export function firstBehind(ends: Float64Array, time: number): number {
  let low = 0, high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
