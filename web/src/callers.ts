// Who called a function, and what it called: from all places where it stands in the flame graph together.
// Follows the function that is picked anywhere on the page.

import { Flame } from "./data";
import { State } from "./state";
import { flameOf, flameValue } from "./flame";
import { share } from "./format";
import { h, name, section } from "./dom";

const kRows = 12;

export interface Neighbours {
  total: number; self: number;
  callers: [number, number][]; callees: [number, number][];  // number of the text and value, heaviest first
}

// Of the outermost frames of a function only, so that recursion counts once: what called it adds up to its
// total, and so do its own share and what it called. Calls of itself are part of it.
export function neighboursOf(flame: Flame, text: number): Neighbours {
  const { parent, name: names, self, total } = flame;
  const state = new Uint8Array(parent.length);  // of the frame: 1 is the function, 2 is below it
  const callers = new Map<number, number>(), callees = new Map<number, number>();
  const add = (sums: Map<number, number>, key: number, value: number) => sums.set(key, (sums.get(key) ?? 0) + value);
  let whole = 0, own = 0;
  for (let i = 1; i < parent.length; ++i) {
    const above = state[parent[i]];
    if (names[i] === text && above !== 2) {
      state[i] = 1;
      own += self[i];
      if (above === 1) continue;  // called itself
      whole += total[i];
      add(callers, parent[i] === 0 ? -1 : names[parent[i]], total[i]);
    } else if (above !== 0) {
      state[i] = 2;
      if (above === 1) add(callees, names[i], total[i]);
    }
  }
  const sorted = (sums: Map<number, number>) => [...sums].sort((a, b) => b[1] - a[1]);
  return { total: whole, self: own, callers: sorted(callers), callees: sorted(callees) };
}

// The function that took most itself.
function heaviest(flame: Flame): number {
  const sums = new Float64Array(flame.texts.length);
  for (let i = 1; i < flame.name.length; ++i) sums[flame.name[i]] += flame.self[i];
  return sums.reduce((best, sum, text) => (sum > sums[best] ? text : best), flame.name[1] ?? 0);
}

export class CallersPanel {
  readonly element: HTMLElement;
  private readonly body = h("div", { class: "callers" });
  private readonly back = h("button", { type: "button", class: "plain", onclick: () => this.goBack() }, "back");
  private readonly seen: string[] = [];
  private shown = "";

  constructor(private readonly state: State) {
    this.element = section("callers", "Callers and callees", this.back);
    this.element.append(this.body);
    this.show(this.flame.texts[heaviest(this.flame)]);
    state.onChange((changed) => {
      if (changed.picked && this.flame.texts.includes(changed.picked)) this.go(changed.picked);
      if ("event" in changed) this.show(this.flame.texts.includes(this.shown) ? this.shown : this.flame.texts[heaviest(this.flame)]);
    });
  }

  private get flame(): Flame {
    return flameOf(this.state);
  }

  private go(text: string): void {
    if (text === this.shown) return;
    this.seen.push(this.shown);
    this.show(text);
  }

  private goBack(): void {
    const before = this.seen.pop();
    if (before !== undefined) this.show(before);
  }

  private show(text: string): void {
    const { flame } = this;
    this.shown = text;
    this.back.hidden = this.seen.length === 0;
    const { total, self, callers, callees } = neighboursOf(flame, flame.texts.indexOf(text));
    const own: [number, number][] = self > 0 ? [[-2, self], ...callees] : callees;
    this.body.replaceChildren(
      this.side("called by", callers, total),
      h("div", { class: "subject" }, name(text, "strong"),
        h("span", {}, `${flameValue(flame, total)}, ${share(total / flame.total[0])} with all it called`),
        h("span", {}, `${flameValue(flame, self)}, ${share(self / flame.total[0])} itself`)),
      this.side("its time goes to", own.sort((a, b) => b[1] - a[1]), total));
  }

  private side(title: string, rows: [number, number][], whole: number): HTMLElement {
    const rest = rows.slice(kRows).reduce((sum, [, value]) => sum + value, 0);
    const lines = rows.slice(0, kRows).map(([text, value]) => this.line(text, value, whole));
    if (rows.length > kRows) lines.push(h("tr", {}, barCell(rest / whole), h("td", { class: "number" }, flameValue(this.flame, rest)),
      h("td", { class: "text" }, `${rows.length - kRows} others`)));
    return h("table", {}, h("caption", {}, title), h("tbody", {}, ...lines));
  }

  private line(text: number, value: number, whole: number): HTMLElement {
    const words = text === -1 ? "nothing that was recorded" : text === -2 ? "itself" : this.flame.texts[text];
    const cell = text < 0 ? h("td", { class: "text missing" }, words)
      : h("td", { class: "text" }, h("button", { type: "button", class: "link", onclick: () => this.go(words) }, name(words)));
    return h("tr", {}, barCell(value / whole), h("td", { class: "number" }, flameValue(this.flame, value)), cell);
  }
}

function barCell(part: number): HTMLElement {
  const cell = h("td", { class: "number bar" }, share(part));
  cell.style.setProperty("--part", `${Math.min(100, 100 * part).toFixed(2)}%`);
  return cell;
}
