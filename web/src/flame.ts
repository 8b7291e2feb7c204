// The flame graph: callers above what they called, as wide as their share. A click makes a frame as
// wide as the drawing; the search colours what it finds and adds it up.

import { Panel, facts, fitted, kFont } from "./panel";
import { Flame } from "./data";
import { State } from "./state";
import { changeColour, frameColour, theme } from "./colour";
import { count, seconds, share, si } from "./format";
import { h, name, say } from "./dom";

const kRow = 18;
const kNarrowest = 0.6;
const kRows = 32;  // seen at once; the rest is scrolled to
const kWorthARow = 0.01;  // of what is shown: a few chains that are deeper do not make the drawing high

// That of the event that is looked at.
export function flameOf(state: State): Flame {
  const { flames } = state.data;
  return flames.find((flame) => flame.title === state.choices.event) ?? flames[0];
}

export function flameValue({ unit }: Flame, value: number): string {
  if (unit === "s") return seconds(value);
  return unit === "samples" || unit === "" ? `${count(value)} ${unit}`.trim() : si(value, unit);
}

export class FlamePanel extends Panel {
  private flame: Flame;
  private children: Uint32Array[] = [];
  private left = new Float64Array(0);  // where a frame starts, in values
  private depth = new Uint16Array(0);
  private colours: string[] = [];
  private colouredFor = false;
  private root = 0;
  private focus = 0;
  private hovered = -1;
  private found: Uint8Array | null = null;  // by text
  private scrolled = 0;
  readonly frame: HTMLElement;
  private readonly spacer: HTMLElement;
  onFound: (share: number | null) => void = () => {};

  constructor(private readonly state: State) {
    super("Flame graph. Arrow keys go from frame to frame, Enter makes one wide, Escape shows all.", kRow * 4);
    this.flame = flameOf(state);
    this.spacer = h("div", { class: "spacer" });
    this.frame = h("div", { class: "scroll" }, this.host, this.spacer);
    this.frame.addEventListener("scroll", () => {
      this.scrolled = this.frame.scrollTop;
      this.invalidate();
    });
    this.show();
    this.listen();
    state.onChange((changed) => {
      if ("event" in changed) this.show();
      if ("picked" in changed) this.invalidate();
    });
  }

  // Whether any function called another: without, callers have nothing to tell.
  get hasCallers(): boolean {
    return this.state.data.flames.every((flame) => !flame.from_callees)
      && this.state.data.flames.some((flame) => flame.parent.some((above) => above !== 0));
  }

  private show(): void {
    this.flame = flameOf(this.state);
    this.layout();
    this.root = this.focus = 0;
    this.hovered = -1;
    this.found = null;
    this.colours = [];
    this.resize();
    this.invalidate();
  }

  private layout(): void {
    const { parent, total } = this.flame;
    const lists: number[][] = Array.from(parent, () => []);
    this.depth = new Uint16Array(parent.length);
    for (let i = 1; i < parent.length; ++i) {
      lists[parent[i]].push(i);
      this.depth[i] = this.depth[parent[i]] + 1;
    }
    this.children = lists.map((list) => Uint32Array.from(list.sort((a, b) => total[b] - total[a])));
    this.left = new Float64Array(parent.length);
    for (let i = 0; i < parent.length; ++i) {
      let at = this.left[i];
      for (const child of this.children[i]) {
        this.left[child] = at;
        at += total[child];
      }
    }
  }

  // As high as what most of it is deep; what is deeper is scrolled to.
  private resize(): void {
    const whole = this.flame.total[this.root];
    const narrow = (whole * kNarrowest) / Math.max(300, this.width || 1000);
    const first = this.depth[this.root];
    const sums: number[] = [];  // by depth below the root
    const stack = [this.root];
    while (stack.length) {
      const i = stack.pop()!;
      const row = this.depth[i] - first;
      sums[row] = (sums[row] ?? 0) + this.flame.total[i];
      for (const child of this.children[i]) if (this.flame.total[child] >= narrow) stack.push(child);
    }
    const rows = first + sums.length;
    const worthSeeing = first + sums.filter((sum) => sum >= kWorthARow * whole).length;
    const seen = Math.min(Math.max(worthSeeing + 1, first + 4), rows, kRows);
    this.setHeight(seen * kRow + 2);
    this.spacer.style.height = `${(rows - seen) * kRow}px`;
    this.frame.style.maxHeight = `${seen * kRow + 2}px`;
  }

  search(text: string): void {
    const wanted = text.trim().toLowerCase();
    this.found = wanted === "" ? null
      : Uint8Array.from(this.flame.texts, (one) => (one.toLowerCase().includes(wanted) ? 1 : 0));
    this.onFound(this.found ? this.foundShare() : null);
    this.invalidate();
  }

  // Frames below one that was found count with it, once.
  private foundShare(): number {
    let sum = 0;
    const stack = [0];
    while (stack.length) {
      const i = stack.pop()!;
      if (i !== 0 && this.found![this.flame.name[i]]) sum += this.flame.total[i];
      else for (const child of this.children[i]) stack.push(child);
    }
    return this.flame.total[0] > 0 ? sum / this.flame.total[0] : NaN;
  }

  zoomTo(i: number): void {
    this.root = this.focus = i;
    this.frame.scrollTop = this.scrolled = 0;
    this.resize();
    this.invalidate();
  }

  get shownRoot(): string {
    return this.flame.texts[this.flame.name[this.root]];
  }

  protected paint(): void {
    this.g.font = kFont;
    if (this.colours.length === 0 || this.colouredFor !== theme().isDark) {
      this.colouredFor = theme().isDark;
      this.colours = new Array(this.flame.texts.length);
    }
    this.g.textBaseline = "middle";
    this.g.textAlign = "left";
    for (let i = this.root; i !== 0; i = this.flame.parent[i]) this.paintFrame(this.flame.parent[i], 0, this.width, true);
    const scale = this.width / (this.flame.total[this.root] || 1);
    const stack = [this.root];
    while (stack.length) {
      const i = stack.pop()!;
      const x = (this.left[i] - this.left[this.root]) * scale;
      const wide = this.flame.total[i] * scale;
      this.paintFrame(i, x, wide, false);
      if ((this.depth[i] + 1) * kRow - this.scrolled > this.height) continue;
      for (const child of this.children[i]) {
        if (this.flame.total[child] * scale < kNarrowest) break;  // heaviest first: the rest is narrower
        stack.push(child);
      }
    }
  }

  private paintFrame(i: number, x: number, wide: number, isAbove: boolean): void {
    const { g, flame } = this;
    const y = this.depth[i] * kRow - this.scrolled;
    if (y < -kRow || y > this.height) return;
    const text = flame.texts[flame.name[i]];
    const colours = theme();
    const isFound = this.found !== null && this.found[flame.name[i]] === 1;
    const isPicked = text === this.state.choices.picked;
    g.globalAlpha = isAbove ? 0.45 : this.found && !isFound ? 0.35 : 1;
    g.fillStyle = isFound || isPicked ? colours.accent : i === 0 ? colours.line : this.colourOf(i, text);
    g.fillRect(x, y, Math.max(0.5, wide - 0.75), kRow - 1);
    g.globalAlpha = 1;
    if (i === this.hovered || (i === this.focus && document.activeElement === this.canvas)) {
      g.lineWidth = 2;
      g.strokeStyle = colours.ink;
      g.strokeRect(x + 1, y + 1, Math.max(1, wide - 2.75), kRow - 3);
    }
    if (wide < 24) return;
    g.fillStyle = isFound || isPicked ? colours.panel : colours.ink;
    g.fillText(fitted(g, text, wide - 8, 6.5), x + 4, y + kRow / 2);
  }

  // In a differential graph: more is red, less is blue, what may be chance is grey.
  private colourOf(i: number, text: string): string {
    const { flame } = this;
    if (!flame.more || !flame.noise) return (this.colours[flame.name[i]] ??= frameColour(text, flame.is_kernel[i] === 1));
    const more = flame.more[i];
    if (Math.abs(more) <= flame.noise[i]) return theme().dim;
    return changeColour(more / Math.max(flame.total[i], Math.abs(more)));
  }

  private frameAt(x: number, y: number): number {
    const depth = Math.floor((y + this.scrolled) / kRow);
    let i = this.root;
    if (depth < this.depth[i]) {
      while (this.depth[i] > depth) i = this.flame.parent[i];
      return i;
    }
    const value = this.left[this.root] + (x / this.width) * this.flame.total[this.root];
    while (this.depth[i] < depth) {
      const next = this.children[i].find((child) => value >= this.left[child] && value < this.left[child] + this.flame.total[child]);
      if (next === undefined) return -1;
      i = next;
    }
    return i;
  }

  // Where a frame stands, for those who look for it by its name.
  placeOf(text: string): [number, number] | null {
    const scale = this.width / (this.flame.total[this.root] || 1);
    const i = this.flame.name.findIndex((one, at) => this.flame.texts[one] === text && this.depth[at] >= this.depth[this.root]);
    if (i < 0) return null;
    return [(this.left[i] - this.left[this.root] + this.flame.total[i] / 2) * scale, (this.depth[i] + 0.5) * kRow - this.scrolled];
  }

  private tell(i: number, x: number, y: number): void {
    const { flame } = this;
    const whole = flame.total[0];
    const rows: [string, string][] = [
      ["with all it called", `${flameValue(flame, flame.total[i])}, ${share(flame.total[i] / whole)}`],
      ["itself", `${flameValue(flame, flame.self[i])}, ${share(flame.self[i] / whole)}`],
      [flame.from_callees ? "of what it called" : "of its caller", i === 0 ? "" : share(flame.total[i] / flame.total[flame.parent[i]])],
    ];
    if (flame.more && flame.noise)
      rows.push(["B − A", `${flame.more[i] > 0 ? "+" : ""}${flameValue(flame, flame.more[i])} ± ${flameValue(flame, flame.noise[i])}`
        + (Math.abs(flame.more[i]) > flame.noise[i] ? "" : ", may be chance")]);
    const text = flame.texts[flame.name[i]];
    this.showTip(x, y, name(text, "strong"), facts(rows));
    say(`${text}: ${rows.map((row) => row.join(" ")).join(", ")}`);
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = this.place(event);
      const i = this.frameAt(x, y);
      if (i !== this.hovered) this.invalidate();
      this.hovered = i;
      if (i < 0) this.hideTip();
      else this.tell(i, x, y);
    });
    canvas.addEventListener("pointerleave", () => {
      this.hovered = -1;
      this.invalidate();
    });
    canvas.addEventListener("click", (event) => {
      const i = this.frameAt(...this.place(event));
      if (i >= 0) this.zoomTo(i);
    });
    canvas.addEventListener("focus", () => this.invalidate());
    canvas.addEventListener("blur", () => this.invalidate());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const siblings = this.focus === 0 ? [] : [...this.children[this.flame.parent[this.focus]]];
    const at = siblings.indexOf(this.focus);
    const moves: Record<string, () => void> = {
      ArrowDown: () => { this.focus = this.children[this.focus][0] ?? this.focus; },
      ArrowUp: () => { this.focus = this.focus === 0 ? 0 : this.flame.parent[this.focus]; },
      ArrowLeft: () => { this.focus = siblings[at - 1] ?? this.focus; },
      ArrowRight: () => { this.focus = siblings[at + 1] ?? this.focus; },
      Enter: () => this.zoomTo(this.focus),
      Escape: () => this.zoomTo(0),
      Backspace: () => this.zoomTo(this.root === 0 ? 0 : this.flame.parent[this.root]),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
    const scale = this.width / (this.flame.total[this.root] || 1);
    const x = Math.max(0, (this.left[this.focus] - this.left[this.root]) * scale);
    this.tell(this.focus, x, (this.depth[this.focus] + 1) * kRow - this.scrolled);
    this.invalidate();
  }
}
