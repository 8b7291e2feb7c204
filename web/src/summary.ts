// The top of the page: what it is about, the numbers that matter, what to be careful with; and the
// facts at its end.

import { PageData } from "./data";
import { h, name, section } from "./dom";
import { marked } from "./format";

const kWords: Record<string, string> = {
  lost: "lost", scaled: "scaled", estimated: "estimated", missing: "missing", note: "note",
};

function warnings(data: PageData): HTMLElement | null {
  if (data.warnings.length === 0) return null;
  return h("ul", { class: "warnings", "aria-label": "warnings" }, ...data.warnings.map(({ kind, text }) =>
    h("li", { class: kind in kWords ? kind : "note" }, h("b", {}, kWords[kind] ?? kind), " ", name(text))));
}

function figures(data: PageData): HTMLElement | null {
  if (data.figures.length === 0) return null;
  return h("dl", { class: "figures" }, ...data.figures.map(({ label, value, note, origin }) =>
    h("div", {}, h("dt", {}, label), h("dd", {}, name(marked(value, origin))), note ? h("dd", { class: "note" }, name(note)) : null)));
}

export function summary(data: PageData): HTMLElement {
  return h("section", { id: "summary", "aria-label": "summary" },
    figures(data),
    data.verdict.length ? h("div", { class: "verdict" }, ...data.verdict.map((text) => h("p", {}, name(text)))) : null,
    warnings(data));
}

export function factsPart(data: PageData): HTMLElement | null {
  if (data.facts.length === 0) return null;
  const part = section("facts", "Machine and run");
  part.append(h("div", { class: "facts" }, ...data.facts.map(({ title, facts }) =>
    h("div", {}, h("h3", {}, name(title)),
      h("dl", {}, ...facts.flatMap((fact) => [h("dt", {}, name(fact.name)), h("dd", {}, name(fact.value))]))))));
  return part;
}
