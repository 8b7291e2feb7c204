// The code of a function: its source lines and instructions, with how often each ran, how long samples met
// it, and how much of the time all waited for it. Follows the function that is picked anywhere on the page.

import { Code } from "./data";
import { State } from "./state";
import { choice, h, name, section, setChoice } from "./dom";
import { count, share } from "./format";

const kNowhere = 0xffffffff;
const kQuiet = 0.005;     // of the time: less is not worth a line
const kQuietRun = 4;      // so many quiet ones in a row are left out
const kHoldsBack = 0.1;   // of the modelled time

export class CodePanel {
  readonly element: HTMLElement;
  shown = -1;
  private readonly body = h("tbody", {});
  private readonly head = h("p", { class: "note" });
  private readonly frame = h("div", { class: "wide code", tabindex: "0", role: "region", "aria-label": "code" });
  private readonly opened = new Set<number>();  // first rows of quiet code that is shown all the same
  private rows = new Map<number, HTMLElement>();
  private tools: HTMLElement | null = null;

  constructor(private readonly state: State) {
    const { codes } = state.data;
    this.element = section("code", "Code");
    if (codes.length > 1) {
      this.tools = choice("function", codes.map((code, i): [string, string] => [String(i), code.name.replaceAll("(anonymous namespace)::", "")]), "0",
        (value) => this.show(Number(value)));
      this.tools.classList.add("functions");
      this.element.firstElementChild!.append(this.tools);
    }
    const heading = (text: string, help: string, className: string) => h("th", { scope: "col", class: className, title: help }, text);
    this.frame.append(h("table", {}, h("thead", {}, h("tr", {},
      heading("time", "share of the function's samples that met it", "number"),
      heading("runs", "how often it was executed, exact", "number"),
      heading("at", "offset in the function", "number"),
      heading("code", "", "text"),
      heading("all waits for", "share of the function's modelled time in which everything waits for this instruction", "text"))),
      this.body));
    this.element.append(this.head, this.frame,
      h("p", { class: "note" }, "★ holds the function back: a tenth or more of its modelled time all waits for it. ",
        "Times are samples, runs are exact, waits are modelled."));
    this.show(0);
    state.onChange((changed) => {
      if (!("picked" in changed) || changed.picked === null) return;
      const found = codes.findIndex((code) => code.name === changed.picked);
      if (found < 0) return;
      this.show(found);
      if (changed.at !== undefined && changed.at !== null) this.goToOffset(changed.at);
    });
  }

  show(index: number): void {
    if (index === this.shown) return;
    this.shown = index;
    this.opened.clear();
    if (this.tools) setChoice(this.tools, String(index));
    this.fill();
    this.frame.scrollTop = 0;
    const code = this.code;
    let hottest = 0;
    for (let i = 1; i < code.share.length; ++i) if (code.share[i] > code.share[hottest]) hottest = i;
    const row = this.rows.get(hottest);
    if (row) this.frame.scrollTop = Math.max(0, row.offsetTop - this.frame.clientHeight / 3);
  }

  private get code(): Code {
    return this.state.data.codes[this.shown];
  }

  private isQuiet(i: number): boolean {
    return !(this.code.share[i] >= kQuiet) && !(this.code.waited[i] >= kQuiet);
  }

  private fill(): void {
    const { code } = this;
    this.head.replaceChildren(name(code.head), h("br"), name(code.verdict));
    this.rows = new Map();
    const lines: HTMLElement[] = [];
    let place = -1;
    for (let i = 0; i < code.text.length;) {
      let end = i;
      while (end < code.text.length && this.isQuiet(end)) ++end;
      if (end - i >= kQuietRun && !this.opened.has(i)) {
        lines.push(this.leftOut(i, end));
        i = end;
        place = -1;
        continue;
      }
      const until = Math.max(end, i + 1);
      for (; i < until; ++i) {
        if (code.place[i] !== place) {
          place = code.place[i];
          const source = this.sourceLine(i);
          if (source) lines.push(source);
        }
        const line = this.instruction(i);
        this.rows.set(i, line);
        lines.push(line);
      }
    }
    this.body.replaceChildren(...lines);
  }

  private leftOut(first: number, end: number): HTMLElement {
    const open = h("button", { type: "button", onclick: () => this.open(first) }, `… ${count(end - first)} instructions that took no time`);
    return h("tr", { class: "quiet" }, h("td", { colspan: 3 }), h("td", { colspan: 2 }, open));
  }

  private open(first: number): void {
    this.opened.add(first);
    this.fill();
    this.focusRow(first);
  }

  private sourceLine(first: number): HTMLElement | null {
    const { code } = this;
    const place = code.places[code.place[first]];
    if (place.where === "" && place.text === "") return null;
    let sum = 0;
    for (let i = first; i < code.place.length && code.place[i] === code.place[first]; ++i) sum += code.share[i] || 0;
    return h("tr", { class: "source" }, this.bar(sum), h("td", {}), h("td", {}),
      h("td", { colspan: 2 }, h("span", { class: "where" }, name(place.where)), h("code", {}, name(place.text))));
  }

  private bar(value: number): HTMLElement {
    const cell = h("td", { class: "number bar", title: "sampled" }, value > 0 ? `~${share(value)}` : "");
    cell.style.setProperty("--part", `${Math.min(100, 100 * (value || 0)).toFixed(2)}%`);
    return cell;
  }

  private instruction(i: number): HTMLElement {
    const { code } = this;
    const holds = code.waited[i] >= kHoldsBack;
    const text = h("code", {}, name(code.texts[code.text[i]]));
    const cell = h("td", {}, text);
    if (code.target[i] !== kNowhere) cell.append(" ", this.link(code.target[i], "→"));
    const waits = h("td", { title: "modelled" });
    if (code.waited[i] >= kQuiet) {
      waits.append(`${holds ? "★ " : ""}~${share(code.waited[i])} ${code.waits[code.wait[i]]}`);
      if (code.from[i] !== kNowhere && code.from[i] !== i) waits.append(", which waits for ", this.link(code.from[i]));
    }
    return h("tr", { class: holds ? "held" : "", tabindex: "-1" }, this.bar(code.share[i]),
      h("td", { class: "number" }, count(code.count[i])),
      h("td", { class: "number" }, h("code", {}, offsetText(code.offset[i]))), cell, waits);
  }

  private link(to: number, sign = ""): HTMLElement {
    const text = offsetText(this.code.offset[to]);
    return h("button", { type: "button", class: "goto", "aria-label": `go to ${text}`, onclick: () => this.goTo(to) }, sign || text);
  }

  private goToOffset(offset: number): void {
    const found = this.code.offset.findIndex((one) => one >= offset);
    if (found >= 0) this.goTo(found);
  }

  // Code that was left out is opened first.
  private goTo(row: number): void {
    if (!this.rows.has(row)) {
      let first = row;
      while (first > 0 && this.isQuiet(first - 1)) --first;
      this.opened.add(first);
      this.fill();
    }
    this.focusRow(row);
  }

  private focusRow(row: number): void {
    const line = this.rows.get(row);
    if (!line) return;
    this.frame.scrollTop = Math.max(0, line.offsetTop - this.frame.clientHeight / 3);
    line.focus({ preventScroll: true });
  }
}

function offsetText(offset: number): string {
  return `+${offset.toString(16)}`;
}
