// Puts the page together: unpacks the data, makes a part for each kind that is there, links them.

import { PageData, kScopes, unpack } from "./data";
import { ColourBy, State } from "./state";
import { Groups } from "./groups";
import { RooflinePanel } from "./roofline";
import { rooflineName } from "./roofs";
import { TimeLinesPanel } from "./timelines";
import { SchedulePanel } from "./schedule";
import { CallsPanel } from "./calls";
import { histogramBoxes } from "./histograms";
import { FlamePanel } from "./flame";
import { CallersPanel } from "./callers";
import { eventChoice } from "./events";
import { CodePanel } from "./code";
import { TableView } from "./table";
import { factsPart, summary } from "./summary";
import { choice, h, name, search, section } from "./dom";
import { category, ramp } from "./colour";
import { fitToPaper, onTheme, redrawAll } from "./panel";
import { count, seconds, share } from "./format";
import { inside } from "./state";

const scopeWord = (state: State, scope: typeof kScopes[number]): string =>
  scope === "thread" ? `${state.data.task}s` : kWords[scope];
const kWords = { run: "whole run", function: "functions", slice: "slices of time", loop: "loops", region: "regions" };

function legend(state: State, groups: Groups): HTMLElement {
  const box = h("div", { class: "legend", "aria-label": "colours" });
  const fill = () => {
    const { colour, picked } = state.choices;
    if (colour === "time") {
      const steps = Array.from({ length: 9 }, (_, k) => ramp(k / 8)).join(",");
      const strip = h("span", { class: "ramp" });
      strip.style.background = `linear-gradient(90deg,${steps})`;
      box.replaceChildren(seconds(state.extent[0]), strip, seconds(state.extent[1]));
      return;
    }
    box.replaceChildren(...groups.legend(colour).map(({ label, rank, key }) => {
      const swatch = h("i", {});
      swatch.style.background = category(rank);
      const entry = h("button", { type: "button", "aria-pressed": String(key !== "" && key === picked) }, swatch, name(label));
      if (colour === "function") entry.addEventListener("click", () => state.set({ picked: key === picked ? null : key }));
      else entry.disabled = true;
      return entry;
    }));
  };
  fill();
  onTheme(fill);
  state.onChange((changed) => {
    if ("colour" in changed || "picked" in changed) fill();
  });
  return box;
}

// How many slices are looked at, and how to let go of them.
function brushStatus(state: State): HTMLElement {
  const text = h("span", {});
  const only = h("button", { type: "button", onclick: () => state.set({ view: state.choices.brush! }) }, "show it alone");
  const all = h("button", { type: "button", onclick: () => state.set({ brush: null, view: state.extent }) }, "all time");
  const box = h("div", { class: "note brush", role: "status", id: "brush" }, text, only, all);
  const fill = () => {
    const { brush, view } = state.choices;
    const { points } = state.data;
    let slices = 0, chosen = 0;
    for (let i = 0; i < points.count; ++i) {
      if (points.scope[i] !== 3) continue;
      ++slices;
      if (brush && inside(points, i, brush)) ++chosen;
    }
    const ofSlices = slices ? `: ${count(chosen)} of ${count(slices)} slices` : "";
    text.textContent = brush ? `${seconds(brush[0])} to ${seconds(brush[1])}${ofSlices}` : "drag to select time";
    only.hidden = !brush;
    all.hidden = !brush && view[0] === state.extent[0] && view[1] === state.extent[1];
  };
  fill();
  state.onChange((changed) => {
    if ("brush" in changed || "view" in changed) fill();
  });
  return box;
}

function rooflinePart(state: State, groups: Groups): [HTMLElement, RooflinePanel] {
  const { points, rooflines, runs } = state.data;
  const panel = new RooflinePanel(state, groups);
  const colours: [ColourBy, string, boolean][] = [
    ["function", "function", groups.legend("function").length > 0], ["thread", state.data.task, groups.legend("thread").length > 0],
    ["node", "node", groups.legend("node").length > 0], ["time", "time", points.scope.includes(3)], ["run", "run", runs.length > 1]];
  const offered = colours.filter(([, , isThere]) => isThere).map(([value, text]): [string, string] => [value, text]);
  const tools = h("div", { class: "tools" });
  if (offered.length > 1)
    tools.append(choice("colour", offered, state.choices.colour, (value) => state.set({ colour: value as ColourBy })));
  const scopes = [0, 1, 2, 5, 4, 3].filter((scope) => points.scope.includes(scope));
  if (scopes.length > 1)
    tools.append(h("div", { class: "choice", role: "group", "aria-label": "show" }, h("span", {}, "show"),
      ...scopes.map((scope) => {
        const button = h("button", { type: "button", "aria-pressed": "true", onclick: () => {
          const isShown = button.getAttribute("aria-pressed") !== "true";
          button.setAttribute("aria-pressed", String(isShown));
          panel.showScope(scope, isShown);
        } }, scopeWord(state, kScopes[scope]));
        return button;
      })));
  if (rooflines.length > 1)
    tools.append(choice("roofs", rooflines.map((one, i): [string, string] => [String(i), rooflineName(one)]), "0",
      (value) => state.set({ roofline: Number(value) })));
  tools.append(h("button", { type: "button", class: "plain", onclick: () => panel.reset() }, "reset view"));
  const part = section("roofline", "Roofline", tools);
  const about = rooflines.length ? `${rooflines[0].machine ? `${rooflines[0].machine}, ` : ""}${rooflineName(rooflines[0])}; dashed roofs are noisy. ` : "";
  const left = panel.notPlaced ? `${count(panel.notPlaced)} without operations or bytes have no place here. ` : "";
  const outside = panel.outside ? `${count(panel.outside)} with hardly any lie outside of this view; zoom out to see them. ` : "";
  part.append(legend(state, groups), panel.host,
    h("p", { class: "note" }, name(about), panel.unnamed, left, outside,
      h("span", { class: "hands" }, "Drag to move, Ctrl and wheel or + and − to zoom, N and P to step through points, click to follow a function.")));
  return [part, panel];
}

function timePart(state: State, groups: Groups): [HTMLElement[], TimeLinesPanel | null, SchedulePanel | null] {
  const parts: HTMLElement[] = [];
  let lines: TimeLinesPanel | null = null, schedule: SchedulePanel | null = null;
  if (state.data.time_lines.length) {
    lines = new TimeLinesPanel(state);
    const part = section("time", "Over time", brushStatus(state));
    part.append(lines.host);
    parts.push(part);
  }
  if (state.data.schedule) {
    const panel = (schedule = new SchedulePanel(state, groups));
    const part = section("schedule", "Schedule",
      !panel.knowsCpus ? null : choice("lanes", [["cpu", "CPUs"], ["thread", "threads"]], "cpu", (value) => panel.laneBy(value as "cpu" | "thread")),
      lines ? null : brushStatus(state));
    part.append(schedule.host);
    parts.push(part);
  }
  return [parts, lines, schedule];
}

function callParts(state: State): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (state.data.calls) {
    const panel = new CallsPanel(state);
    const part = section("calls", "Calls over time", state.data.time_lines.length ? null : brushStatus(state));
    part.append(panel.host, h("p", { class: "note" },
      "A lane for each depth of a thread. ", panel.hidden ? `${count(panel.hidden)} more lanes are not shown.` : null));
    parts.push(part);
  }
  if (state.data.histograms.length) {
    const part = section("histograms", "Histograms");
    part.append(histogramBoxes(state.data.histograms),
      h("p", { class: "note" }, "Both axes are logarithmic; dashed: half of the calls, and 99 of 100."));
    parts.push(part);
  }
  return parts;
}

function flamePart(state: State): [HTMLElement, FlamePanel] {
  const panel = new FlamePanel(state);
  const found = h("span", { class: "note", role: "status", id: "found" });
  panel.onFound = (part) => { found.textContent = part === null ? "" : `found: ${share(part)}`; };
  const field = search("search frames", (text) => panel.search(text));
  state.onChange((changed) => {
    if ("event" in changed) field.value = found.textContent = "";
  });
  const events = state.data.flames.map((flame) => flame.title);
  const part = section("flame", "Flame graph", eventChoice(state, events), found, field,
    h("button", { type: "button", class: "plain", onclick: () => panel.zoomTo(0) }, "reset"));
  part.append(panel.frame);
  return [part, panel];
}

// Light, dark, or as the system has it.
function themeButton(): HTMLElement {
  const next: Record<string, string> = { auto: "light", light: "dark", dark: "auto" };
  const button = h("button", { type: "button", class: "plain", "aria-label": "colour scheme", onclick: () => {
    const chosen = next[document.documentElement.dataset.theme ?? "auto"];
    document.documentElement.dataset.theme = chosen;
    button.textContent = chosen;
    redrawAll();
  } }, "auto");
  return button;
}

function watchTheme(): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  matchMedia("print").addEventListener("change", redrawAll);
  const { dataset } = document.documentElement;
  let before: string | undefined;
  addEventListener("beforeprint", () => {
    before = dataset.theme;
    dataset.theme = "light";  // paper is, whatever the screen is
    fitToPaper(true);
    redrawAll();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete dataset.theme;
    else dataset.theme = before;
    fitToPaper(false);
    redrawAll();
  });
}

function header(data: PageData, parts: HTMLElement[]): HTMLElement {
  const links = parts.filter((part) => part.id && part.id !== "summary").map((part) =>
    h("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent ?? ""));
  return h("header", {},
    h("div", { class: "title" }, h("h1", {}, name(data.title || "loft")), h("nav", { "aria-label": "parts" }, ...links), themeButton()),
    data.command ? h("p", { class: "command" }, h("code", {}, name(data.command))) : null,
    data.source ? h("p", { class: "note" }, name(data.source)) : null);
}

async function start(): Promise<void> {
  const data = await unpack(document.getElementById("data")!.textContent ?? "");
  document.getElementById("data")!.remove();
  document.title = data.title ? `${data.title} · loft` : "loft";
  const state = new State(data);
  const groups = new Groups(state);
  const parts: HTMLElement[] = [];
  const panels: Record<string, unknown> = {};
  if (data.figures.length || data.verdict.length || data.warnings.length) parts.push(summary(data));
  if (data.points.count || data.rooflines.length) {
    const [part, panel] = rooflinePart(state, groups);
    parts.push(part);
    panels.roofline = panel;
  }
  const [timeParts, lines, schedule] = timePart(state, groups);
  parts.push(...timeParts);
  Object.assign(panels, { lines, schedule });
  parts.push(...callParts(state));
  if (data.flames.length) {
    const [part, panel] = flamePart(state);
    parts.push(part);
    panels.flame = panel;
    if (panel.hasCallers) parts.push(new CallersPanel(state).element);
  }
  if (data.codes.length) {
    const panel = new CodePanel(state);
    parts.push(panel.element);
    panels.code = panel;
  }
  data.tables.forEach((table, i) => parts.push(new TableView(table, state, `table-${i}`).element));
  const facts = factsPart(data);
  if (facts) parts.push(facts);
  document.body.replaceChildren(header(data, parts), h("main", {}, ...parts),
    h("footer", { class: "note" }, `loft ${data.version}: see your program under its roof`));
  watchTheme();
  // For tests, and for whoever looks at the page from the console.
  Object.assign(window, { loft: { state, ...panels } });
  document.documentElement.dataset.ready = "true";
}

start().catch((error: unknown) => {
  document.body.replaceChildren(h("p", { class: "failed", role: "alert" },
    `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}. It needs a browser of 2023 or later.`));
  document.documentElement.dataset.ready = "failed";
});
