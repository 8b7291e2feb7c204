// What all drawings over time share: the axis, the brush and the hands that move them.
//
// A drag selects a stretch of time; everything that has a time follows. Keys: left and right move
// the stretch, with shift they widen it; Enter shows it alone, Escape lets it go.

import { Panel } from "./panel";
import { Scale, linearTicks, place, valueAt } from "./scale";
import { State } from "./state";
import { theme } from "./colour";
import { seconds } from "./format";
import { say } from "./dom";

const kLeastLeft = 58;
const kLetter = 6.2;
export const kTimeRight = 12;
export const kAxis = 20;

export abstract class TimePanel extends Panel {
  protected cursor: number | null = null;  // seconds under the pointer
  private readonly longestName: number;    // of a lane, in letters

  constructor(protected readonly state: State, label: string, height: number) {
    super(`${label} Drag or use the arrow keys to select time, Enter to show it alone, Escape to let go.`, height);
    const { schedule, threads } = state.data;
    this.longestName = schedule ? threads.reduce((most, { tid }) => Math.max(most, state.threadName(tid).length), 0) : 0;
    state.onChange(() => this.invalidate());
    this.listen();
  }

  protected abstract paintMargin(x: Scale): void;  // names and lines behind the lanes
  protected abstract paintLanes(x: Scale): void;
  protected abstract describe(time: number, y: number): Node[];

  // All drawings over time leave the same room for names, so that moments stand below each other.
  protected get left(): number {
    return Math.max(kLeastLeft, Math.min(Math.ceil(this.longestName * kLetter) + 10, 150, Math.floor(this.width * 0.28)));
  }

  get scale(): Scale {
    const [from, to] = this.state.choices.view;
    return { from, to, start: this.left, end: this.width - kTimeRight };
  }

  protected paint(): void {
    const x = this.scale;
    this.paintAxis(x);
    this.paintMargin(x);
    this.g.save();
    this.g.beginPath();
    this.g.rect(x.start, 0, x.end - x.start, this.height - kAxis);
    this.g.clip();
    this.paintLanes(x);
    this.paintBrush(x);
    this.g.restore();
  }

  private paintAxis(x: Scale): void {
    const { g } = this;
    const colours = theme();
    const bottom = this.height - kAxis;
    g.textAlign = "center";
    g.textBaseline = "top";
    g.lineWidth = 1;
    const ticks = linearTicks(x.from, x.to, (x.end - x.start) / 90);
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
    for (const tick of ticks) {
      const at = Math.round(place(x, tick)) + 0.5;
      g.strokeStyle = colours.grid;
      g.beginPath();
      g.moveTo(at, 0);
      g.lineTo(at, bottom);
      g.stroke();
      g.fillStyle = colours.soft;
      g.fillText(timeLabel(tick, step), Math.min(at, x.end - 16), bottom + 6);
    }
    g.strokeStyle = colours.line;
    g.beginPath();
    g.moveTo(x.start, bottom + 0.5);
    g.lineTo(x.end, bottom + 0.5);
    g.stroke();
  }

  private paintBrush(x: Scale): void {
    const { g } = this;
    const { brush } = this.state.choices;
    const bottom = this.height - kAxis;
    if (brush) {
      const left = place(x, brush[0]), right = place(x, brush[1]);
      g.fillStyle = theme().panel;
      g.globalAlpha = 0.62;
      g.fillRect(x.start, 0, Math.max(0, left - x.start), bottom);
      g.fillRect(right, 0, Math.max(0, x.end - right), bottom);
      g.globalAlpha = 1;
      g.strokeStyle = theme().accent;
      g.lineWidth = 1;
      g.strokeRect(Math.round(left) + 0.5, 0.5, Math.max(1, Math.round(right - left)), bottom - 1);
    }
    if (this.cursor === null) return;
    const at = Math.round(place(x, this.cursor)) + 0.5;
    g.strokeStyle = theme().faint;
    g.beginPath();
    g.moveTo(at, 0);
    g.lineTo(at, bottom);
    g.stroke();
  }

  private listen(): void {
    const { canvas, state } = this;
    let start: number | null = null;
    const timeAt = (event: MouseEvent) => {
      const { from, to } = this.scale;
      return Math.min(to, Math.max(from, valueAt(this.scale, this.place(event)[0])));
    };
    canvas.addEventListener("pointerdown", (event) => {
      start = timeAt(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [px, y] = this.place(event);
      this.cursor = timeAt(event);
      if (start !== null && Math.abs(px - place(this.scale, start)) > 2) state.setBrush(start, this.cursor);
      this.showTip(px, y, ...this.describe(this.cursor, y));
      this.invalidate();
    });
    canvas.addEventListener("pointerup", (event) => {
      if (start !== null && Math.abs(this.place(event)[0] - place(this.scale, start)) <= 2) state.set({ brush: null });
      start = null;
    });
    canvas.addEventListener("pointerleave", () => {
      this.cursor = null;
      this.invalidate();
    });
    canvas.addEventListener("dblclick", () => state.set({ view: state.extent, brush: null }));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 250), timeAt(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private zoom(factor: number, around: number): void {
    const { view } = this.state.choices;
    const [least, most] = this.state.extent;
    const from = Math.max(least, around + (view[0] - around) * factor);
    const to = Math.min(most, around + (view[1] - around) * factor);
    if (to - from > 1e-9) this.state.set({ view: [from, to] });
  }

  private key(event: KeyboardEvent): void {
    const { state } = this;
    const { view } = state.choices;
    const step = (view[1] - view[0]) / 40;
    const centre = (view[0] + view[1]) / 2;
    const brush = state.choices.brush ?? [view[0], view[0] + 2 * step];
    const move = (by: number) => {
      if (!state.choices.brush) state.setBrush(brush[0], brush[1]);
      else if (event.shiftKey) state.setBrush(brush[0], Math.max(brush[0] + step / 4, brush[1] + by));
      else if (brush[0] + by >= state.extent[0] - 1e-12 && brush[1] + by <= state.extent[1] + 1e-12)
        state.setBrush(brush[0] + by, brush[1] + by);
    };
    const moves: Record<string, () => void> = {
      ArrowLeft: () => move(-step), ArrowRight: () => move(step),
      Enter: () => { if (state.choices.brush) state.set({ view: state.choices.brush }); },
      Escape: () => state.set({ brush: null, view: state.extent }),
      "+": () => this.zoom(0.8, centre), "=": () => this.zoom(0.8, centre), "-": () => this.zoom(1.25, centre),
      "0": () => state.set({ view: state.extent }),
    };
    const chosen = moves[event.key];
    if (!chosen || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    chosen();
    if (state.choices.brush) say(`selected ${state.choices.brush.map(seconds).join(" to ")}`);
  }
}

// All labels of an axis in the same unit, with the digits that its step needs.
function timeLabel(value: number, step: number): string {
  const [unit, word] = step >= 0.1 ? [1, "s"] : step >= 1e-4 ? [1e-3, "ms"] : step >= 1e-7 ? [1e-6, "µs"] : [1e-9, "ns"];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return `${(value / unit).toFixed(decimals)} ${word}`;
}
