// The flame graph: callers above what they called, as wide as their share. A click makes a frame as
// wide as the drawing; the search colours what it finds and adds it up.

import { Panel, facts, fitted, kFont } from "./panel";
import { Flame } from "./data";
import { State } from "./state";
import { frameColour, theme } from "./colour";
import { count, seconds, share, si } from "./format";
import { h, name, say } from "./dom";

const kRow = 18;
const kNarrowest = 0.6;
const kRows = 32;  // seen at once; the rest is scrolled to

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
    this.flame = state.data.flames[0];
    this.spacer = h("div", { class: "spacer" });
    this.frame = h("div", { class: "scroll" }, this.host, this.spacer);
    this.frame.addEventListener("scroll", () => {
      this.scrolled = this.frame.scrollTop;
      this.invalidate();
    });
    this.show(0);
    this.listen();
    state.onChange((changed) => {
      if ("picked" in changed) this.invalidate();
    });
  }

  show(index: number): void {
    this.flame = this.state.data.flames[index];
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

  // As high as what is shown is deep.
  private resize(): void {
    let deepest = this.depth[this.root];
    const narrow = (this.flame.total[this.root] * kNarrowest) / Math.max(300, this.width || 1000);
    const look = (i: number) => {
      if (this.depth[i] > deepest) deepest = this.depth[i];
      for (const child of this.children[i]) if (this.flame.total[child] >= narrow) stack.push(child);
    };
    const stack = [this.root];
    while (stack.length) look(stack.pop()!);
    const rows = deepest + 1;
    this.setHeight(Math.min(rows, kRows) * kRow + 2);
    this.spacer.style.height = `${Math.max(0, rows - kRows) * kRow}px`;
    this.frame.style.maxHeight = `${kRows * kRow + 2}px`;
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
    g.fillStyle = isFound || isPicked ? colours.accent : i === 0 ? colours.line
      : (this.colours[flame.name[i]] ??= frameColour(text, flame.is_kernel[i] === 1));
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

  private value(value: number): string {
    return this.flame.unit === "s" ? seconds(value) : this.flame.unit === "samples" || this.flame.unit === ""
      ? `${count(value)} ${this.flame.unit}`.trim() : si(value, this.flame.unit);
  }

  private tell(i: number, x: number, y: number): void {
    const { flame } = this;
    const whole = flame.total[0];
    const rows: [string, string][] = [
      ["with all it called", `${this.value(flame.total[i])}, ${share(flame.total[i] / whole)}`],
      ["itself", `${this.value(flame.self[i])}, ${share(flame.self[i] / whole)}`],
      ["of its caller", i === 0 ? "" : share(flame.total[i] / flame.total[flame.parent[i]])],
    ];
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
