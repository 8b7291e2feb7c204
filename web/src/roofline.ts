// The roofline: points under the roofs of the machine. Slices of time are pixels in a drawing of
// their own below; runs, threads and functions are marks with names.

import { Panel, facts, flattenForPaper, haloText, kFont } from "./panel";
import { Points, Roofline, kOrigins, kScopes, kSlice } from "./data";
import { Axes, Box, DrawnRoofs, drawGrid, drawRoofs, fitAxes, shadeRoofs, unitOf } from "./roofs";
import { slopeColour } from "./roof_labels";
import { place, valueAt } from "./scale";
import { State, inside } from "./state";
import { Groups } from "./groups";
import { discs, shade, squares } from "./raster";
import { marked, plainNumber, seconds, share, si } from "./format";
import { pixel, theme } from "./colour";
import { h, name, say } from "./dom";

const kLeft = 58, kRight = 12, kTop = 10, kBottom = 42;
const kLabels = 14;  // names of the heaviest points
const kDiscs = 120000;  // more slices than these are squares
const kHidden = 0, kOutside = 1, kInside = 2;

export class RooflinePanel extends Panel {
  private readonly grid: HTMLCanvasElement;
  private readonly gridDrawing: CanvasRenderingContext2D;
  private readonly slices: HTMLCanvasElement;
  private readonly sliceDrawing: CanvasRenderingContext2D;
  private readonly points: Points;
  private readonly xs: Float32Array;  // decimal logarithms; not finite where there is no place
  private readonly ys: Float32Array;
  private readonly group: Uint8Array;
  private readonly sliceCount: number;
  private readonly marks: number[] = [];  // what is no slice, heaviest first
  readonly scopes = new Set<number>([0, 1, 2, 3, 4, 5]);
  readonly unnamed = h("span", {});  // roofs whose names have no room
  readonly notPlaced: number;
  readonly outside: number;  // of the first view: too few operations to be seen beside the others
  private colours = new Uint32Array(0);
  private dimmed = new Uint32Array(0);
  private colouredAs = "";
  private image: ImageData | null = null;
  private fitTo: [number, number, number, number];
  private window: [number, number, number, number];
  private hovered = -1;
  private roofs: DrawnRoofs = { words: [], middles: [], lines: [], leftOut: [] };
  private slicesAreOld = true;

  constructor(private readonly state: State, private readonly groups: Groups) {
    super("Roofline: intensity across, performance up. Arrows move, + and - zoom, 0 shows all, N and P go through the points.", 520);
    this.points = state.data.points;
    this.xs = Float32Array.from(this.points.intensity, Math.log10);
    this.ys = Float32Array.from(this.points.flops_per_second, Math.log10);
    this.group = new Uint8Array(this.points.count);
    let missing = 0, slices = 0;
    for (let i = 0; i < this.points.count; ++i) {
      if (!this.isPlaced(i)) ++missing;
      else if (this.points.scope[i] === kSlice) ++slices;
      else this.marks.push(i);
    }
    this.notPlaced = missing;
    this.sliceCount = slices;
    this.marks.sort((a, b) => this.weight(b) - this.weight(a));
    this.fitTo = this.fitted();
    this.window = [...this.fitTo];
    this.outside = this.countOutside();
    this.grid = h("canvas", { class: "under", "aria-hidden": "true" });
    this.gridDrawing = this.grid.getContext("2d")!;
    this.slices = h("canvas", { class: "under", "aria-hidden": "true" });
    this.sliceDrawing = this.slices.getContext("2d")!;
    this.host.prepend(this.grid, this.slices);
    this.sortSlices();
    this.listen();
    state.onChange((changed) => {
      if ("roofline" in changed) this.window = this.fitTo = this.fitted();
      if ("brush" in changed) this.sortSlices();
      this.refresh();
    });
  }

  get roofline(): Roofline | undefined {
    return this.state.data.rooflines[this.state.choices.roofline];
  }

  // Where the names and the lines of the roofs stand.
  get roofWords() {
    const { middles, lines } = this.roofs;
    const [names, roofs] = [middles, lines].map((list) => list.map(({ x0, y0, x1, y1 }) => [x0, y0, x1, y1]));
    return { names, roofs };
  }

  get axes(): Axes {
    const [left, right, low, high] = this.window;
    return {
      x: { from: left, to: right, start: kLeft, end: this.width - kRight },
      y: { from: low, to: high, start: this.height - kBottom, end: kTop },
    };
  }

  // Where a value stands, in pixels of the page from the corner of the drawing.
  placeOf(intensity: number, flops: number): [number, number] {
    const { x, y } = this.axes;
    return [place(x, Math.log10(intensity)), place(y, Math.log10(flops))];
  }

  showScope(scope: number, isShown: boolean): void {
    if (isShown) this.scopes.add(scope);
    else this.scopes.delete(scope);
    this.sortSlices();
    this.refresh();
  }

  reset(): void {
    this.window = [...this.fitTo];
    this.refresh();
  }

  refresh(): void {
    this.slicesAreOld = true;
    this.invalidate();
  }

  override redraw(): number {
    this.slicesAreOld = true;
    return super.redraw();
  }

  // Points, and their places at levels where they have more bytes than the core loads and stores.
  private fitted(): [number, number, number, number] {
    const { levels, scope } = this.points;
    const left = Array.from(levels.point.keys()).filter((k) => levels.intensity[k] < this.points.intensity[levels.point[k]]);
    return fitAxes(
      this.roofline,
      Float32Array.from([...this.xs, ...left.map((k) => Math.log10(levels.intensity[k]))]),
      Float32Array.from([...this.ys, ...left.map((k) => this.ys[levels.point[k]])]),
      Uint8Array.from([...scope, ...left.map((k) => scope[levels.point[k]])]),
    );
  }

  private isPlaced(i: number): boolean {
    return Number.isFinite(this.xs[i]) && Number.isFinite(this.ys[i]);
  }

  private countOutside(): number {
    const [left, right, low, high] = this.fitTo;
    let outside = 0;
    for (let i = 0; i < this.points.count; ++i)
      if (this.isPlaced(i) && (this.xs[i] < left || this.xs[i] > right || this.ys[i] < low || this.ys[i] > high)) ++outside;
    return outside;
  }

  private weight(i: number): number {
    return this.points.scope[i] === 0 ? 2 : this.points.share[i] || 0;
  }

  private sortSlices(): void {
    const { brush } = this.state.choices;
    const shown = this.scopes.has(kSlice);
    for (let i = 0; i < this.group.length; ++i)
      this.group[i] = this.points.scope[i] !== kSlice || !shown ? kHidden
        : !brush || inside(this.points, i, brush) ? kInside : kOutside;
  }

  protected override size(canvas: HTMLCanvasElement): void {
    for (const one of [canvas, this.grid, this.slices]) super.size(one);
    this.image = null;
  }

  protected paint(): void {
    const { axes, g } = this;
    if (this.slicesAreOld) {
      this.paintGrid(axes);
      this.paintSlices(axes);
    }
    this.slicesAreOld = false;
    g.save();
    g.beginPath();
    g.rect(axes.x.start, axes.y.end, axes.x.end - axes.x.start, axes.y.start - axes.y.end);
    g.clip();
    this.roofs = drawRoofs(g, this.roofline, axes);
    this.paintMarks(axes, this.roofs.words.flat());
    g.restore();
    flattenForPaper(g, [this.slices, this.grid]);
    const { leftOut } = this.roofs;
    this.unnamed.textContent = leftOut.length ? `No room for the names of: ${leftOut.join("; ")}. ` : "";
  }

  private paintGrid(axes: Axes): void {
    const g = this.gridDrawing;
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    g.font = kFont;
    shadeRoofs(g, this.roofline, axes);
    drawGrid(g, unitOf(this.roofline), axes);
  }

  private paintSlices({ x, y }: Axes): void {
    const width = Math.floor((x.end - x.start) * this.ratio), height = Math.floor((y.start - y.end) * this.ratio);
    if (width <= 0 || height <= 0 || this.sliceCount === 0) return;
    if (!this.image || this.image.width !== width || this.image.height !== height)
      this.image = this.sliceDrawing.createImageData(width, height);
    const wanted = `${this.state.choices.colour} ${theme().isDark}`;
    if (this.colouredAs !== wanted) {
      this.colours = this.groups.pixels(this.state.choices.colour);
      this.dimmed = new Uint32Array(this.points.count).fill(pixel(theme().dim));
    }
    this.colouredAs = wanted;
    const isCloud = this.sliceCount > kDiscs;
    const counts = isCloud ? new Uint16Array(width * height) : null;
    const raster = { pixels: new Uint32Array(this.image.data.buffer), counts, width, height };
    raster.pixels.fill(0);
    const view = { x0: x.from, kx: width / (x.to - x.from), y0: y.to, ky: -height / (y.to - y.from) };
    const size = Math.round((isCloud ? 1.5 : this.sliceCount > 20000 ? 3 : 5) * this.ratio);
    if (this.state.choices.brush) {
      squares({ ...raster, counts: null }, this.xs, this.ys, this.dimmed, this.group, kOutside, view, isCloud ? 1 : 2);
    }
    if (isCloud) {
      squares(raster, this.xs, this.ys, this.colours, this.group, kInside, view, size);
      shade(raster, size);
    } else {
      discs(raster, this.xs, this.ys, this.colours, this.group, kInside, view, size, 0.55);
    }
    this.sliceDrawing.putImageData(this.image, Math.round(x.start * this.ratio), Math.round(y.end * this.ratio));
  }

  private radius(i: number): number {
    const part = this.points.share[i];
    return this.points.scope[i] === 0 ? 6 : 4 + 9 * Math.sqrt(Math.min(1, part > 0 ? part : 0));
  }

  private isShown(i: number): boolean {
    return this.scopes.has(this.points.scope[i]);
  }

  private paintMarks({ x, y }: Axes, taken: Box[]): void {
    const { g } = this;
    const { picked, colour } = this.state.choices;
    const shown = this.marks.filter((i) => this.isShown(i));
    taken.push(...this.paintLevels({ x, y }, picked));
    for (let k = shown.length - 1; k >= 0; --k) {
      const i = shown[k];
      const isPale = picked !== null && this.groups.functionOf(i) !== picked && this.points.scope[i] !== 0;
      this.mark(i, place(x, this.xs[i]), place(y, this.ys[i]), isPale, this.groups.colourOf(i, colour));
    }
    for (const i of shown.slice(0, kLabels)) taken.push(this.box(i, place(x, this.xs[i]), place(y, this.ys[i])));
    if (this.hovered >= 0) this.ring(place(x, this.xs[this.hovered]), place(y, this.ys[this.hovered]));
    g.font = kFont;
    g.textBaseline = "middle";
    let labels = 0;
    for (const i of shown) {
      const isWanted = i === this.hovered || (picked !== null && this.groups.functionOf(i) === picked);
      if (labels >= kLabels && !isWanted) continue;
      if (this.label(i, place(x, this.xs[i]), place(y, this.ys[i]), taken, isWanted)) ++labels;
    }
  }

  // The same rate at other bytes: a diamond per level in the colour of its roof, joined by a line. Names keep off all of it.
  private paintLevels({ x, y }: Axes, picked: string | null): Box[] {
    const { g } = this;
    const painted: Box[] = [];
    const { levels, texts } = this.points;
    const slopes = this.roofline?.slopes ?? [];
    for (let k = 0; k < levels.point.length; ++k) {
      const i = levels.point[k];
      if (!this.isShown(i) || !this.isPlaced(i)) continue;
      const at = Math.min(place(x, Math.log10(levels.intensity[k])), x.end - 6), top = place(y, this.ys[i]);
      g.globalAlpha = picked !== null && this.groups.functionOf(i) !== picked && this.points.scope[i] !== 0 ? 0.2 : 1;
      g.strokeStyle = theme().soft;
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(place(x, this.xs[i]), top);
      g.lineTo(at, top);
      g.stroke();
      g.beginPath();
      shape(g, 3, at, top, 5);
      const roof = slopes.findIndex((slope) => slope.level === texts[levels.name[k]]);
      g.fillStyle = roof < 0 ? theme().soft : slopeColour(roof);
      g.fill();
      g.globalAlpha = 1;
      const from = place(x, this.xs[i]);
      painted.push([Math.min(from, at), top - 1, Math.max(from, at), top + 1], [at - 7, top - 7, at + 7, top + 7]);
    }
    return painted;
  }

  // Runs are told apart by shape, so that colour stays free for what it is asked to show.
  private mark(i: number, x: number, y: number, isPale: boolean, colour: string): void {
    const { g } = this;
    const r = this.radius(i);
    g.globalAlpha = isPale ? 0.2 : this.points.scope[i] === 0 ? 1 : 0.82;
    g.beginPath();
    shape(g, this.points.run[i], x, y, r);
    g.fillStyle = this.points.scope[i] === 0 && this.state.choices.colour !== "run" ? theme().ink : colour;
    g.fill();
    g.globalAlpha = isPale ? 0.3 : 1;
    g.lineWidth = 1.5;
    g.strokeStyle = theme().panel;
    g.stroke();
    if (kOrigins[this.points.origin[i]] !== "counted") {
      g.beginPath();
      shape(g, this.points.run[i], x, y, r + 2.5);
      g.setLineDash([2, 2]);
      g.lineWidth = 1;
      g.strokeStyle = colour;
      g.stroke();
      g.setLineDash([]);
    }
    g.globalAlpha = 1;
  }

  private ring(x: number, y: number): void {
    const { g } = this;
    g.beginPath();
    g.arc(x, y, (this.points.scope[this.hovered] === kSlice ? 4 : this.radius(this.hovered)) + 3, 0, 2 * Math.PI);
    g.lineWidth = 2;
    g.strokeStyle = theme().ink;
    g.stroke();
  }

  private box(i: number, x: number, y: number): Box {
    const r = this.radius(i) + 1;
    return [x - r, y - r, x + r, y + r];
  }

  // Beside the mark where there is room; else the name waits for the pointer.
  private label(i: number, x: number, y: number, taken: Box[], force: boolean): boolean {
    const { g } = this;
    let text = this.points.texts[this.points.name[i]];
    if (this.state.data.runs.length > 1 && this.points.scope[i] === 0) text = this.state.runName(this.points.run[i]) || text;
    if (text.length > 42) text = `${text.slice(0, 40)}…`;
    const wide = g.measureText(text).width, r = this.radius(i) + 4;
    const places: [number, number][] = [[x + r, y], [x - r - wide, y], [x - wide / 2, y - r - 5], [x - wide / 2, y + r + 5]];
    const { x: across } = this.axes;
    const free = places.find(([px, py]) => px >= across.start && px + wide <= across.end
      && !taken.some(([a, b, c, d]) => px < c && px + wide > a && py - 7 < d && py + 7 > b));
    if (!free && !force) return false;
    const [px, py] = free ?? places[0];
    taken.push([px, py - 7, px + wide, py + 7]);
    g.textAlign = "left";
    haloText(g, text, px, py, theme().ink);
    return true;
  }

  // The nearest point within reach: marks first, they lie above.
  find(x: number, y: number): number {
    const { axes } = this;
    for (const i of this.marks) {
      if (!this.isShown(i)) continue;
      if (Math.hypot(place(axes.x, this.xs[i]) - x, place(axes.y, this.ys[i]) - y) <= this.radius(i) + 2) return i;
    }
    let best = -1, least = 36;
    const kx = (axes.x.end - axes.x.start) / (axes.x.to - axes.x.from);
    const ky = (axes.y.end - axes.y.start) / (axes.y.to - axes.y.from);
    const vx = valueAt(axes.x, x), vy = valueAt(axes.y, y);
    for (let i = 0; i < this.xs.length; ++i) {
      if (this.group[i] !== kInside) continue;
      const dx = (this.xs[i] - vx) * kx, dy = (this.ys[i] - vy) * ky;
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  private hover(i: number): void {
    if (i < 0) {
      this.hideTip();
      if (this.hovered >= 0) this.invalidate();
      this.hovered = -1;
      return;
    }
    const { axes } = this;
    if (i !== this.hovered) this.invalidate();
    this.hovered = i;
    const rows = this.describe(i);
    const title = this.points.texts[this.points.name[i]];
    this.showTip(place(axes.x, this.xs[i]), place(axes.y, this.ys[i]), name(title, "strong"), facts(rows));
    say(`${title}: ${rows.filter(([, value]) => value).map((row) => row.join(" ")).join(", ")}`);
  }

  private describe(i: number): [string, string][] {
    const { points, state } = this;
    const origin = kOrigins[points.origin[i]];
    const hasTime = !Number.isNaN(points.start_s[i]);
    const known = (value: number, text: string) => (Number.isNaN(value) ? "" : text);
    const bound = points.texts[points.bound_by[i]];
    const ofRoof = known(points.share_of_roof[i], share(points.share_of_roof[i]));
    const { levels } = points;
    const beyond: [string, string][] = [];
    for (let k = 0; k < levels.point.length; ++k)
      if (levels.point[k] === i)
        beyond.push([`at ${points.texts[levels.name[k]]}`,
          `${marked(plainNumber(levels.intensity[k], `${unitOf(this.roofline)}/B`), "modelled")}${known(levels.share[k], `, ${share(levels.share[k])} of its roof`)}`]);
    return [
      ["", (kScopes[points.scope[i]] === "thread" ? state.data.task : kScopes[points.scope[i]]) + (origin === "counted" ? "" : `, ${origin}`)],
      ["run", state.runName(points.run[i])],
      ["function", points.scope[i] === kSlice ? points.texts[points.function[i]] : ""],
      [points.scope[i] === 1 ? state.data.task : `mostly in ${state.data.task}`, state.threadName(points.tid[i])],
      ["node", state.nodeOf(points.tid[i])],
      ["performance", marked(si(points.flops_per_second[i], `${unitOf(this.roofline)}/s`), origin)],
      ["intensity", marked(plainNumber(points.intensity[i], `${unitOf(this.roofline)}/B`), origin)],
      ...beyond,
      ["limited by", points.texts[points.why[i]]],
      ["below", bound && ofRoof ? `${bound}, ${ofRoof} of it` : bound],
      ["time", known(points.seconds[i], seconds(points.seconds[i]))],
      ["share of time", known(points.share[i], share(points.share[i]))],
      ["from, to", hasTime ? `${seconds(points.start_s[i])}, ${seconds(points.end_s[i])}` : ""],
    ];
  }

  zoom(factor: number, x?: number, y?: number): void {
    const { axes } = this;
    const cx = x === undefined ? (axes.x.from + axes.x.to) / 2 : valueAt(axes.x, x);
    const cy = y === undefined ? (axes.y.from + axes.y.to) / 2 : valueAt(axes.y, y);
    const [left, right, low, high] = this.window;
    if ((right - left) * factor < 0.02 || (right - left) * factor > 40) return;
    this.window = [cx + (left - cx) * factor, cx + (right - cx) * factor, cy + (low - cy) * factor, cy + (high - cy) * factor];
    this.refresh();
  }

  pan(dx: number, dy: number): void {
    const { axes } = this;
    const byX = (dx / (axes.x.end - axes.x.start)) * (axes.x.to - axes.x.from);
    const byY = (dy / (axes.y.end - axes.y.start)) * (axes.y.to - axes.y.from);
    const [left, right, low, high] = this.window;
    this.window = [left - byX, right - byX, low - byY, high - byY];
    this.refresh();
  }

  private listen(): void {
    const { canvas } = this;
    let drag: [number, number] | null = null, moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      drag = this.place(event);
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.place(event);
      if (!drag) return this.hover(this.find(x, y));
      if (Math.hypot(x - drag[0], y - drag[1]) < 3 && !moved) return;
      moved = true;
      this.hideTip();
      this.pan(x - drag[0], y - drag[1]);
      drag = [x, y];
    });
    canvas.addEventListener("pointerup", (event) => {
      if (drag && !moved) this.pick(this.find(...this.place(event)));
      drag = null;
    });
    canvas.addEventListener("pointerleave", () => this.hover(-1));
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (event) => {
      // A page that is scrolled past must not be caught by a drawing.
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 300), ...this.place(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private pick(i: number): void {
    const chosen = i < 0 ? null : this.groups.functionOf(i) || null;
    this.state.set({ picked: chosen === this.state.choices.picked ? null : chosen });
  }

  private key(event: KeyboardEvent): void {
    const step = 40;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.pan(step, 0), ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step), ArrowDown: () => this.pan(0, -step),
      "+": () => this.zoom(0.8), "=": () => this.zoom(0.8), "-": () => this.zoom(1.25), "0": () => this.reset(),
      n: () => this.step(1), p: () => this.step(-1),
      Enter: () => this.pick(this.hovered), Escape: () => { this.hover(-1); this.state.set({ picked: null }); },
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  }

  private step(by: number): void {
    const shown = this.marks.filter((i) => this.isShown(i));
    if (shown.length === 0) return;
    const at = shown.indexOf(this.hovered);
    this.hover(shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : (at + by + shown.length) % shown.length]);
  }
}

export function shape(g: CanvasRenderingContext2D, run: number, x: number, y: number, r: number): void {
  const kind = run % 4;
  if (kind === 0) g.arc(x, y, r, 0, 2 * Math.PI);
  else if (kind === 1) g.rect(x - r * 0.87, y - r * 0.87, r * 1.74, r * 1.74);
  else {
    const corners = kind === 2 ? [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]] : [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]];
    corners.forEach(([dx, dy], k) => (k === 0 ? g.moveTo(x + dx * r, y + dy * r) : g.lineTo(x + dx * r, y + dy * r)));
    g.closePath();
  }
}
