// One lane of the schedule as a row of pixels. Each has the colour of what covers most of it, as
// strong as the share of it that is covered: a hundred slices on one pixel still tell how busy it was.

const kFaintest = 0.15;  // what was there at all is seen

export class Band {
  private readonly busy: Float32Array;
  private readonly longest: Float32Array;
  private readonly colours: Uint32Array;

  constructor(readonly width: number, private readonly ground: number) {
    this.busy = new Float32Array(width);
    this.longest = new Float32Array(width);
    this.colours = new Uint32Array(width);
  }

  clear(): void {
    this.busy.fill(0);
    this.longest.fill(0);
  }

  // From `left` to `right` in pixels; what lies outside is cut off.
  add(left: number, right: number, colour: number): void {
    const from = Math.max(0, left), to = Math.min(this.width, right);
    if (!(to > from)) return;
    const first = Math.floor(from), last = Math.min(this.width - 1, Math.floor(to));
    if (first === last) return this.cover(first, to - from, colour);
    this.cover(first, first + 1 - from, colour);
    for (let at = first + 1; at < last; ++at) this.cover(at, 1, colour);
    this.cover(last, to - last, colour);
  }

  private cover(at: number, part: number, colour: number): void {
    this.busy[at] += part;
    if (part <= this.longest[at]) return;
    this.longest[at] = part;
    this.colours[at] = colour;
  }

  row(): Uint32Array {
    const row = new Uint32Array(this.width);
    for (let at = 0; at < row.length; ++at)
      row[at] = this.busy[at] === 0 ? this.ground
        : mix(this.ground, this.colours[at], Math.min(1, Math.max(kFaintest, this.busy[at])));
    return row;
  }
}

function mix(a: number, b: number, share: number): number {
  const part = (shift: number) => {
    const from = (a >>> shift) & 255;
    return Math.round(from + (((b >>> shift) & 255) - from) * share) << shift;
  };
  return (0xff000000 | part(16) | part(8) | part(0)) >>> 0;
}
