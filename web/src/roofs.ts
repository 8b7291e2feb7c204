// The lines of a roofline: slopes of the memory levels, ceilings of the arithmetic, and their words.

import { Roofline } from "./data";
import { Scale, logTicks, place } from "./scale";
import { tickText } from "./format";
import { theme } from "./colour";
import { Segment, drawLabels, linesOf, slopeColour } from "./roof_labels";

export type Box = [number, number, number, number];  // left, top, right, bottom
export interface Axes { x: Scale; y: Scale }  // of decimal logarithms

const kWorthSeeing = 3;  // decades below the best point, and
const kFarOff = 1;       // decades left of the roofs

// The drawing that holds all roofs and all points, with some air. A handful of operations among
// millions of bytes would push everything else into a corner: such points are found by zooming out.
export function fitAxes(roofline: Roofline | undefined, xs: Float32Array, ys: Float32Array, scope: Uint8Array): [number, number, number, number] {
  let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity, best = -Infinity;
  const top = isWhole(roofline) ? Math.log10(roofline.ceilings[0].flops_per_second) : 0;
  const ridges = isWhole(roofline) ? roofline.slopes.map((slope) => top - Math.log10(slope.bytes_per_second)) : [];
  const roofsStart = ridges.length ? Math.min(...ridges) - 1.5 : -Infinity;
  for (let i = 0; i < xs.length; ++i) if (Number.isFinite(xs[i]) && ys[i] > best && ys[i] !== Infinity) best = ys[i];
  for (let i = 0; i < xs.length; ++i) {
    const x = xs[i], y = ys[i];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    if (y < best - kWorthSeeing && x < roofsStart - kFarOff && scope[i] !== 0) continue;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < low) low = y;
    if (y > high) high = y;
  }
  if (isWhole(roofline)) {
    left = Math.max(Math.min(left, roofsStart), -6);
    right = Math.min(Math.max(right, Math.max(...ridges) + 0.5), 6);
    const lowest = Math.log10(roofline.ceilings[roofline.ceilings.length - 1].flops_per_second);
    low = Math.max(Math.min(low, lowest - 1.2), top - 6);
    high = Math.max(high, top);
  }
  if (!(left <= right)) return [-2, 2, 6, 11];
  return [left - 0.25, right + 0.3, low - 0.25, high + 0.3];
}

function smallNumber(value: number): string {
  return value < 9e-4 ? value.toExponential(0) : String(+value.toPrecision(1));
}

// Of work: floating-point operations, instructions, or operations on integers.
export const unitOf = (roofline: Roofline | undefined): string => roofline?.unit ?? "FLOP";

const wordOf = (unit: string): string => (unit === "instr" ? "instructions" : unit === "op" ? "operations on integers" : unit);

export function drawGrid(g: CanvasRenderingContext2D, unit: string, { x, y }: Axes): void {
  const colours = theme();
  const line = (x0: number, y0: number, x1: number, y1: number, strong: boolean) => {
    g.strokeStyle = strong ? colours.line : colours.grid;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
    g.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
    g.stroke();
  };
  g.textBaseline = "top";
  g.textAlign = "center";
  for (const tick of logTicks(x.from, x.to, x.end - x.start)) {
    const at = place(x, tick.at);
    line(at, y.start, at, y.end, tick.label);
    g.fillStyle = colours.soft;
    if (tick.label) g.fillText(smallNumber(tick.value), at, y.start + 6);
  }
  g.textBaseline = "middle";
  g.textAlign = "right";
  for (const tick of logTicks(y.from, y.to, y.start - y.end)) {
    const at = place(y, tick.at);
    line(x.start, at, x.end, at, tick.label);
    g.fillStyle = colours.soft;
    if (tick.label) g.fillText(tickText(tick.value, ""), x.start - 6, at);
  }
  g.fillStyle = colours.soft;
  g.textAlign = "right";
  g.textBaseline = "bottom";
  g.fillText(`${wordOf(unit)} per byte`, x.end, y.start + 36);
  g.save();
  g.translate(12, y.end);
  g.rotate(-Math.PI / 2);
  g.textBaseline = "top";
  g.fillText(`${wordOf(unit)}/s`, 0, -4);
  g.restore();
}

// What the machine can reach.
export function shadeRoofs(g: CanvasRenderingContext2D, roofline: Roofline | undefined, { x, y }: Axes): void {
  if (!isWhole(roofline)) return;
  const steep = Math.log10(roofline.slopes[0].bytes_per_second);
  const top = Math.log10(roofline.ceilings[0].flops_per_second);
  g.save();
  g.beginPath();
  g.rect(x.start, y.end, x.end - x.start, y.start - y.end);
  g.clip();
  g.beginPath();
  g.moveTo(x.start, y.start);
  g.lineTo(x.start, place(y, Math.min(top, x.from + steep)));
  g.lineTo(place(x, top - steep), place(y, top));
  g.lineTo(Math.max(x.end, place(x, top - steep)), place(y, top));
  g.lineTo(x.end, y.start);
  g.closePath();
  g.fillStyle = theme().roof;
  g.fill();
  g.restore();
}

function isWhole(roofline: Roofline | undefined): roofline is Roofline {
  return roofline !== undefined && roofline.slopes.length > 0 && roofline.ceilings.length > 0;
}

const dashes = (verdict: string): number[] => (verdict === "noisy" ? [6, 4] : []);

export interface DrawnRoofs {
  words: Box[][];     // places that others should keep free, of each name
  middles: Segment[];  // the names, each as a line through it
  lines: Segment[];
  leftOut: string[];  // names that found no place
}

export function drawRoofs(g: CanvasRenderingContext2D, roofline: Roofline | undefined, axes: Axes): DrawnRoofs {
  if (!isWhole(roofline)) return { words: [], middles: [], lines: [], leftOut: [] };
  const { slopes, ceilings } = roofline;
  const lines = linesOf(roofline, axes);
  const draw = (line: Segment, colour: string, width: number, verdict: string) => {
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.setLineDash(dashes(verdict));
    g.beginPath();
    g.moveTo(line.x0, line.y0);
    g.lineTo(line.x1, line.y1);
    g.stroke();
    g.setLineDash([]);
  };
  slopes.forEach((slope, i) => draw(lines[i], slopeColour(i), 1.75, slope.verdict));
  ceilings.forEach((ceiling, i) => draw(lines[slopes.length + i], i === 0 ? theme().ink : theme().faint, i === 0 ? 1.75 : 1, ceiling.verdict));
  const labels = drawLabels(g, roofline, axes, lines);
  return { words: labels.words, middles: labels.middles, lines, leftOut: labels.leftOut };
}

export function rooflineName(roofline: Roofline): string {
  const threads = roofline.threads === 1 ? "1 thread" : `${roofline.threads} threads`;
  const unit = unitOf(roofline);
  const kind = unit === "instr" ? "instructions" : unit === "op" ? "integers of 64 bits" : `${roofline.precision === "sp" ? "single" : "double"} precision`;
  return `${threads}, ${kind}`;
}
