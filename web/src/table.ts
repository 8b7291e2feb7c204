// A table that can be sorted by each column and searched in its texts. All rows take part; as many
// as a person reads are put into the page, the rest on demand. Columns that tell of an event are shown
// for one event at a time.

import { Column, Table, kOrigins } from "./data";
import { State } from "./state";
import { count, kMissing, marked, seconds, share, withUnit } from "./format";
import { h, name, search, section } from "./dom";
import { eventChoice } from "./events";

const kRowsAtOnce = 40;
const kLong = 60;  // letters: a text that needs room to be read

export class TableView {
  readonly element: HTMLElement;
  private readonly body = h("tbody", {});
  private readonly status = h("span", { class: "note", role: "status" });
  private readonly more = h("button", { type: "button", class: "more", onclick: () => this.showMore() });
  private readonly headings: HTMLElement[] = [];
  private readonly head = h("tr", {});
  private readonly events: string[];
  private columns: Column[] = [];  // that are shown
  private order: number[] = [];
  private limit = kRowsAtOnce;
  private sortedBy: number;
  private isDescending: boolean;
  private wanted = "";
  private readonly functionColumn: number;

  constructor(private readonly table: Table, private readonly state: State, id: string) {
    this.events = [...new Set(table.columns.map((column) => column.event))].filter((event) => event !== "");
    this.chooseColumns();
    const firstNumber = this.columns.findIndex((column) => column.form !== "text");
    this.sortedBy = Math.max(0, firstNumber);
    this.isDescending = firstNumber >= 0;
    this.functionColumn = table.columns.findIndex((column) => column.name === "function");
    const words = `search ${table.title.toLowerCase()}`;
    this.element = section(id, table.title, eventChoice(state, this.events), this.status, search(words, (text) => this.search(text)));
    this.element.append(h("div", { class: "wide" }, h("table", {}, h("thead", {}, this.head), this.body)), this.more,
      table.left_out ? h("p", { class: "note" }, table.left_out) : "");
    this.element.classList.add("table");
    this.arrange();
    state.onChange((changed) => {
      if ("event" in changed && this.events.length > 1) {
        this.chooseColumns();
        this.arrange();
      } else if ("picked" in changed) this.fill();
    });
  }

  // Those of the event that is looked at; of its first one where the table does not have it.
  private chooseColumns(): void {
    const { event } = this.state.choices;
    const chosen = this.events.includes(event) ? event : this.events[0];
    this.columns = this.table.columns.filter((column) => column.event === "" || column.event === chosen);
    this.headings.length = 0;
    this.head.replaceChildren(...this.columns.map((column, i) => this.heading(column, i)));
  }

  private get rows(): number {
    const [first] = this.table.columns;
    return first ? (first.texts ?? first.numbers!).length : 0;
  }

  private heading(column: Column, i: number): HTMLElement {
    const button = h("button", { type: "button", onclick: () => this.sort(i) }, column.name);
    if (column.help) button.title = column.help;
    const cell = h("th", { scope: "col", class: column.form === "text" ? "text" : "number" }, button);
    this.headings.push(cell);
    return cell;
  }

  sort(i: number): void {
    const isText = this.columns[i].form === "text";
    this.isDescending = i === this.sortedBy ? !this.isDescending : !isText;
    this.sortedBy = i;
    this.arrange();
  }

  search(text: string): void {
    this.wanted = text.trim().toLowerCase();
    this.limit = kRowsAtOnce;
    this.arrange();
  }

  private showMore(): void {
    this.limit = this.limit * 5;
    this.fill();
  }

  private matches(row: number): boolean {
    return this.hasEvent(row) && (this.wanted === "" || this.table.columns.some((column) => column.texts?.[row].toLowerCase().includes(this.wanted)));
  }

  // A row that the event has no part in is left out while it is looked at.
  private hasEvent(row: number): boolean {
    if (this.events.length < 2) return true;
    return this.columns.some((column) => column.event !== "" && column.numbers && column.numbers[row] > 0);
  }

  // What is not known stands behind what is, in either order.
  private compare(a: number, b: number): number {
    const column = this.columns[this.sortedBy];
    const sign = this.isDescending ? -1 : 1;
    if (column.texts) return sign * column.texts[a].localeCompare(column.texts[b]) || a - b;
    const x = column.numbers![a], y = column.numbers![b];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return sign * (x - y) || a - b;
  }

  private arrange(): void {
    this.order = Array.from({ length: this.rows }, (_, i) => i).filter((i) => this.matches(i)).sort((a, b) => this.compare(a, b));
    this.headings.forEach((cell, i) =>
      cell.setAttribute("aria-sort", i !== this.sortedBy ? "none" : this.isDescending ? "descending" : "ascending"));
    this.status.textContent = this.wanted === "" ? count(this.order.length) : `${count(this.order.length)} of ${count(this.rows)}`;
    this.fill();
  }

  private fill(): void {
    const shown = this.order.slice(0, this.limit);
    this.body.replaceChildren(...shown.map((row) => this.row(row)));
    const rest = this.order.length - shown.length;
    this.more.hidden = rest <= 0;
    this.more.textContent = `show more (${count(rest)} left)`;
  }

  private row(row: number): HTMLElement {
    const cells = this.columns.map((column) => this.cell(column, row));
    const subject = this.functionColumn < 0 ? "" : this.table.columns[this.functionColumn].texts?.[row] ?? "";
    const line = h("tr", {}, ...cells);
    if (subject === "") return line;
    const isPicked = subject === this.state.choices.picked;
    line.setAttribute("aria-selected", String(isPicked));
    line.addEventListener("click", () => {
      if (String(getSelection()) === "") this.pick(row, isPicked ? null : subject);
    });
    line.tabIndex = 0;
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.pick(row, isPicked ? null : subject);
    });
    return line;
  }

  // A row of a loop says where it starts: "+1f".
  private pick(row: number, picked: string | null): void {
    const at = this.table.columns.find((column) => column.name === "at")?.texts?.[row];
    this.state.set({ picked, at: at === undefined || picked === null ? null : parseInt(at.slice(1), 16) });
  }

  private cell(column: Column, row: number): HTMLElement {
    if (column.texts) {
      const text = column.texts[row];
      return h("td", { class: text.length > kLong ? "text long" : "text" }, text === "" ? missing() : name(text));
    }
    const value = column.numbers![row];
    const origin = column.origins ? kOrigins[column.origins[row]] : "counted";
    if (Number.isNaN(value) || origin === "missing") return h("td", { class: "number" }, missing());
    const cell = h("td", { class: "number" }, marked(written(column, value), origin));
    if (origin !== "counted") cell.title = origin;
    if (column.form === "share") {
      cell.classList.add("bar");
      cell.style.setProperty("--part", `${Math.min(100, Math.max(0, 100 * value)).toFixed(2)}%`);
    }
    return cell;
  }
}

function missing(): HTMLElement {
  return h("span", { class: "missing", title: "not known", "aria-label": "not known" }, kMissing);
}

function written(column: Column, value: number): string {
  switch (column.form) {
    case "count": return count(value);
    case "share": return share(value);
    case "seconds": return seconds(value);
    default: return withUnit(value, column.unit);
  }
}
