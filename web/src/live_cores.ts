// The table of cores. Cores may count different events: a column for each name that any counts.

import { Core, Sample, Tracks } from "./live_data";
import { category, theme } from "./colour";
import { h, name } from "./dom";
import { kMissing, marked, share, shown, si } from "./format";

const kSpark = [120, 18];  // pixels

export class CoreTable {
  readonly host = h("div", { class: "wide" });
  private columns = "";
  private readonly sparks = new Map<number, HTMLCanvasElement>();
  private readonly body = h("tbody");

  show(sample: Sample, tracks: Tracks): void {
    const names = [...new Set(sample.cores.flatMap((core) => Object.keys(core.values)))];
    const titles = names.map((text) => `${text} ${sample.units[text] === "1/s" ? "/s" : sample.units[text] ?? ""}`.trim());
    if (this.columns !== titles.join("\n")) this.begin(titles);
    this.body.replaceChildren(...sample.cores.map((core) => this.row(core, names)));
    for (const core of sample.cores) this.draw(core.cpu, tracks.busy.get(core.cpu) ?? []);
  }

  private begin(titles: string[]): void {
    this.columns = titles.join("\n");
    const head = ["CPU", "busy", "over time", "waiting", ...titles];
    this.host.replaceChildren(h("table", {},
      h("thead", {}, h("tr", {}, ...head.map((text, i) =>
        h("th", { scope: "col", class: i === 2 ? "spark" : "number" }, name(shown(text)))))),
      this.body));
  }

  private row(core: Core, names: string[]): HTMLElement {
    const busy = core.busy ?? NaN;
    const bar = h("td", { class: "number bar" }, marked(share(busy), core.kinds?.busy ?? "counted"));
    bar.style.setProperty("--part", `${Number.isNaN(busy) ? 0 : 100 * busy}%`);
    const cells = core.why ? [h("td", { class: "note", colspan: Math.max(1, names.length) }, shown(core.why))]
      : names.map((text) => this.cell(core, text));
    return h("tr", {}, h("td", { class: "number strong" }, String(core.cpu)), bar,
      h("td", { class: "spark" }, this.spark(core.cpu)),
      h("td", { class: "number" }, core.waiting === null ? kMissing : core.waiting.toFixed(2)), ...cells);
  }

  private cell(core: Core, text: string): HTMLElement {
    const value = core.values[text];
    if (value === undefined) return h("td", {});
    if (value === null) return h("td", { class: "number missing", title: shown(core.missing?.[text] ?? "") }, kMissing);
    return h("td", { class: "number" }, marked(si(value, ""), core.kinds?.[text] ?? "counted"));
  }

  private spark(cpu: number): HTMLCanvasElement {
    let canvas = this.sparks.get(cpu);
    if (!canvas) {
      canvas = h("canvas", { width: kSpark[0], height: kSpark[1], "aria-hidden": "true" });
      this.sparks.set(cpu, canvas);
    }
    return canvas;
  }

  private draw(cpu: number, track: number[]): void {
    const g = this.spark(cpu).getContext("2d")!;
    g.clearRect(0, 0, kSpark[0], kSpark[1]);
    g.fillStyle = category(0) || theme().accent;
    track.slice(-kSpark[0]).forEach((value, i, shownOnes) => {
      const height = Number.isNaN(value) ? 0 : Math.max(1, value * kSpark[1]);
      g.fillRect(kSpark[0] - shownOnes.length + i, kSpark[1] - height, 1, height);
    });
  }
}
