// A drawing that follows the size of its place, the theme and the density of the screen.
//
// Subclasses say how to paint; invalidate() asks for it once per frame, redraw() does it now.

import { h } from "./dom";
import { forgetTheme, theme } from "./colour";

export const kFont = "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
const kNarrowest = 100;  // less has no room for an axis; it comes while a window is resized
const panels: Panel[] = [];
const followers: (() => void)[] = [];

export abstract class Panel {
  readonly host: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  protected readonly g: CanvasRenderingContext2D;
  protected readonly tip: HTMLElement;
  width = 0;
  height = 0;
  ratio = 1;
  private pending = false;

  constructor(label: string, height: number, role = "application") {
    this.canvas = h("canvas", { tabindex: 0, role, "aria-label": label });
    this.tip = h("div", { class: "tip", hidden: true });
    this.host = h("div", { class: "panel" }, this.canvas, this.tip);
    this.g = this.canvas.getContext("2d")!;
    this.height = height;
    this.canvas.addEventListener("pointerleave", () => this.hideTip());
    this.canvas.addEventListener("blur", () => this.hideTip());
    new ResizeObserver(() => this.fit()).observe(this.host);
    panels.push(this);
  }

  protected abstract paint(): void;

  fit(): void {
    const width = Math.floor(this.host.clientWidth);
    const ratio = window.devicePixelRatio || 1;
    if (width === 0 || (width === this.width && ratio === this.ratio && this.canvas.style.height === `${this.height}px`))
      return;
    this.width = width;
    this.ratio = ratio;
    this.size(this.canvas);
    this.redraw();
  }

  protected size(canvas: HTMLCanvasElement): void {
    canvas.width = Math.round(this.width * this.ratio);
    canvas.height = Math.round(this.height * this.ratio);
    canvas.style.height = `${this.height}px`;
  }

  setHeight(height: number): void {
    if (height === this.height) return;
    this.height = height;
    this.fit();
  }

  invalidate(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      if (this.pending) this.redraw();
    });
  }

  // Gives the milliseconds that it took.
  redraw(): number {
    this.pending = false;
    if (this.width < kNarrowest) return 0;
    const start = performance.now();
    this.g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.g.clearRect(0, 0, this.width, this.height);
    this.g.font = kFont;
    this.paint();
    return performance.now() - start;
  }

  protected place(event: MouseEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // Beside the pointer, inside the panel.
  protected showTip(x: number, y: number, ...content: Node[]): void {
    this.tip.replaceChildren(...content);
    this.tip.hidden = false;
    const room = this.host.clientWidth - this.tip.offsetWidth - 4;
    const right = x + 14 + this.tip.offsetWidth < this.host.clientWidth;
    this.tip.style.left = `${Math.max(4, Math.min(room, right ? x + 14 : x - 14 - this.tip.offsetWidth))}px`;
    const below = y + 14 + this.tip.offsetHeight < this.height;
    this.tip.style.top = `${Math.max(2, below ? y + 14 : y - 10 - this.tip.offsetHeight)}px`;
  }

  hideTip(): void {
    this.tip.hidden = true;
  }
}

// Called when the colours change, after they have.
export function onTheme(follow: () => void): void {
  followers.push(follow);
}

export function redrawAll(): void {
  forgetTheme();
  for (const panel of panels) panel.redraw();
  for (const follow of followers) follow();
}

const kPaper = 700;  // pixels: fits A4 and Letter with the margins that browsers leave

// Browsers lay out for paper without telling drawings how wide it is.
export function fitToPaper(isPaper: boolean): void {
  onPaper = isPaper;
  for (const panel of panels) {
    panel.host.style.width = isPaper ? `${kPaper}px` : "";
    panel.fit();
  }
}

let onPaper = false;

// Draws what lies in canvases below into the one above: printers of some browsers drop those below.
export function flattenForPaper(g: CanvasRenderingContext2D, below: HTMLCanvasElement[]): void {
  if (!onPaper) return;
  g.save();
  g.setTransform(1, 0, 0, 1, 0, 0);
  g.globalCompositeOperation = "destination-over";
  for (const canvas of below) g.drawImage(canvas, 0, 0);
  g.restore();
}

// Words with the ground around them, so that lines behind do not cut them.
export function haloText(g: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string): void {
  g.lineJoin = "round";
  g.lineWidth = 3.5;
  g.strokeStyle = theme().panel;
  g.strokeText(text, x, y);
  g.fillStyle = colour;
  g.fillText(text, x, y);
}

// As many letters as fit.
export function fitted(g: CanvasRenderingContext2D, text: string, width: number, letter: number): string {
  if (text.length * letter <= width) return text;
  const whole = g.measureText(text).width;
  if (whole <= width) return text;
  const letters = Math.floor((text.length * width) / whole) - 1;
  return letters < 2 ? "" : `${text.slice(0, letters)}…`;
}

export function facts(rows: [string, string][]): HTMLElement {
  const list = h("dl", {});
  for (const [key, value] of rows) if (value !== "") list.append(h("dt", {}, key), h("dd", {}, h("bdi", {}, value)));
  return list;
}
