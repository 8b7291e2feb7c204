// Where the words of roofs stand: beside their line, crossed by no line and by no other words. Words that
// find no place are shortened, then left out, and the caller is told.

import { Roofline } from "./data";
import { Axes, Box, unitOf } from "./roofs";
import { place } from "./scale";
import { si } from "./format";
import { category, theme } from "./colour";
import { haloText } from "./panel";

export interface Segment { x0: number; y0: number; x1: number; y1: number }

interface Place { x: number; y: number; angle: number; isAbove: boolean }

const kHigh = 12;     // of a line of words
const kAway = 3;      // from its own line
const kStep = 24;     // between places that are tried along a line
const kPiece = 8;     // of slanted words: so long is a part that is checked at once

function crosses({ x0, y0, x1, y1 }: Segment, [left, top, right, bottom]: Box): boolean {
  // The part of the line that lies within the box, from 0 to 1 along it.
  let from = 0, to = 1;
  for (const [start, step, low, high] of [[x0, x1 - x0, left, right], [y0, y1 - y0, top, bottom]]) {
    if (step === 0) {
      if (start < low || start > high) return false;
      continue;
    }
    const a = (low - start) / step, b = (high - start) / step;
    from = Math.max(from, Math.min(a, b));
    to = Math.min(to, Math.max(a, b));
  }
  return from < to;
}

// A line as words see it that stand at a place: they lie along the x axis.
function seenFrom({ x, y, angle }: Place, { x0, y0, x1, y1 }: Segment): Segment {
  const cos = Math.cos(angle), sin = Math.sin(angle);
  const along = (px: number, py: number): number => (px - x) * cos + (py - y) * sin;
  const off = (px: number, py: number): number => (py - y) * cos - (px - x) * sin;
  return { x0: along(x0, y0), y0: off(x0, y0), x1: along(x1, y1), y1: off(x1, y1) };
}

const overlap = (a: Box, b: Box): boolean => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

// Slanted words are many small boxes, a little larger than they are.
export function boxesOf({ x, y, angle, isAbove }: Place, wide: number): Box[] {
  const near = isAbove ? -kAway : kAway, far = isAbove ? -kAway - kHigh : kAway + kHigh;
  const cos = Math.cos(angle), sin = Math.sin(angle);
  const corner = (along: number, off: number): [number, number] => [x + along * cos - off * sin, y + along * sin + off * cos];
  const pieces = angle === 0 ? 1 : Math.ceil(wide / kPiece);
  return Array.from({ length: pieces }, (_, k): Box => {
    const ends = [(wide * k) / pieces, (wide * (k + 1)) / pieces];
    const corners = ends.flatMap((along) => [corner(along, near), corner(along, far)]);
    const xs = corners.map(([cx]) => cx), ys = corners.map(([, cy]) => cy);
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  });
}

function middleOf({ x, y, angle, isAbove }: Place, wide: number): Segment {
  const off = (isAbove ? -1 : 1) * (kAway + kHigh / 2);
  const [left, top] = [x - off * Math.sin(angle), y + off * Math.cos(angle)];
  return { x0: left, y0: top, x1: left + wide * Math.cos(angle), y1: top + wide * Math.sin(angle) };
}

export class RoofLabels {
  readonly words: Box[][] = [];  // of each that is shown
  readonly middles: Segment[] = [];  // along their middle
  readonly leftOut: string[] = [];
  private readonly room: Box;

  constructor(private readonly g: CanvasRenderingContext2D, private readonly lines: Segment[], axes: Axes) {
    this.room = [axes.x.start + 2, axes.y.end, axes.x.end - 2, axes.y.start];
  }

  private isFree(at: Place, wide: number, boxes: Box[]): boolean {
    const [left, top, right, bottom] = this.room;
    const words: Box = at.isAbove ? [0, -kAway - kHigh, wide, -kAway] : [0, kAway, wide, kAway + kHigh];
    return !this.lines.some((line) => crosses(seenFrom(at, line), words)) && boxes.every((box) =>
      box[0] >= left && box[1] >= top && box[2] <= right && box[3] <= bottom && !this.words.some((one) => one.some((other) => overlap(other, box))));
  }

  // The longest of the texts that fits, at the first place where it does; `places` depend on how wide it is.
  put(texts: string[], colour: string, places: (wide: number) => Place[]): void {
    const { g } = this;
    for (const text of texts) {
      const wide = g.measureText(text).width + 2;
      for (const at of places(wide)) {
        const boxes = boxesOf(at, wide);
        if (!this.isFree(at, wide, boxes)) continue;
        this.words.push(boxes);
        this.middles.push(middleOf(at, wide));
        g.save();
        g.translate(at.x, at.y);
        g.rotate(at.angle);
        g.textAlign = "left";
        g.textBaseline = at.isAbove ? "bottom" : "top";
        haloText(g, text, 1, at.isAbove ? -kAway : kAway + 1, colour);
        g.restore();
        return;
      }
    }
    this.leftOut.push(texts[0]);
  }
}

// Along a line from its start, or from its end, above it first.
function placesAlong({ x0, y0, x1, y1 }: Segment, wide: number, fromEnd: boolean): Place[] {
  const length = Math.hypot(x1 - x0, y1 - y0);
  const angle = Math.abs(y1 - y0) < 1e-6 ? 0 : Math.atan2(y1 - y0, x1 - x0);
  const places: Place[] = [];
  for (let gone = 5; gone + wide <= length; gone += kStep)
    for (const isAbove of [true, false]) {
      const part = (fromEnd ? length - wide - gone : gone) / length;
      places.push({ x: x0 + (x1 - x0) * part, y: y0 + (y1 - y0) * part, angle, isAbove });
    }
  return places;
}

// The part of a line that lies within the drawing.
export function clipped({ x0, y0, x1, y1 }: Segment, { x, y }: Axes): Segment {
  const slope = x1 === x0 ? 0 : (y1 - y0) / (x1 - x0);
  const at = (px: number): number => y0 + (px - x0) * slope;
  let from = Math.max(x0, x.start), to = Math.min(x1, x.end);
  if (slope < 0) {  // rises: y grows downwards
    from = Math.max(from, x0 + (y.start - y0) / slope);
    to = Math.min(to, x0 + (y.end - y0) / slope);
  }
  return { x0: from, y0: at(from), x1: Math.max(from, to), y1: at(Math.max(from, to)) };
}

// Slopes are named at their lower end, ceilings at their right one. The lines are in the order of the roofs,
// slopes first.
export function drawLabels(g: CanvasRenderingContext2D, roofline: Roofline, axes: Axes, lines: Segment[]): RoofLabels {
  const labels = new RoofLabels(g, lines, axes);
  const { slopes, ceilings } = roofline;
  slopes.forEach((slope, i) => labels.put(
    [`${slope.name} ${si(slope.bytes_per_second, "B/s")}`, slope.name, slope.level], slopeColour(i),
    (wide) => placesAlong(lines[i], wide, false)));
  ceilings.forEach((ceiling, i) => {
    const line = lines[slopes.length + i];
    if (line.y0 < axes.y.end || line.y0 > axes.y.start) return;
    labels.put([`${ceiling.name} ${si(ceiling.flops_per_second, `${unitOf(roofline)}/s`)}`, ceiling.name], i === 0 ? theme().ink : theme().soft,
      (wide) => placesAlong(line, wide, true));
  });
  return labels;
}

export const slopeColour = (i: number): string => category([0, 2, 1, 6][i % 4]);

export function linesOf(roofline: Roofline, axes: Axes): Segment[] {
  const { x, y } = axes;
  const top = Math.log10(roofline.ceilings[0].flops_per_second);
  const steep = Math.log10(roofline.slopes[0].bytes_per_second);
  return [
    ...roofline.slopes.map((slope) => {
      const rate = Math.log10(slope.bytes_per_second);
      return clipped({ x0: place(x, x.from), y0: place(y, x.from + rate), x1: place(x, top - rate), y1: place(y, top) }, axes);
    }),
    ...roofline.ceilings.map((ceiling) => {
      const rate = Math.log10(ceiling.flops_per_second);
      return { x0: Math.max(x.start, place(x, rate - steep)), y0: place(y, rate), x1: x.end, y1: place(y, rate) };
    }),
  ];
}
