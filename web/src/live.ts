// The live page of `loft top --listen`: cores, watts and roofline, moving. Samples come as events
// from the server that gave the page, and from nowhere else.

import { CoreTable } from "./live_cores";
import { LiveRoofline } from "./live_roofline";
import { Sample, Tracks } from "./live_data";
import { TrackPanel } from "./live_tracks";
import { h, name, section } from "./dom";
import { redrawAll } from "./panel";
import { kMissing, seconds, share, shown, si } from "./format";

const status = h("span", { class: "note", role: "status" }, "connecting");
const figures = h("dl", { class: "figures" });
const tracks = new Tracks();
const cores = new CoreTable();
const busy = new TrackPanel("Busy share of each core over time", tracks);
const roofline = new LiveRoofline();

function figure(title: string, value: string, note = ""): HTMLElement {
  return h("div", {}, h("dt", {}, name(title)), h("dd", {}, value), note ? h("dd", { class: "note" }, note) : null);
}

function showFigures(sample: Sample): void {
  const known = sample.cores.filter((core) => core.busy !== null);
  const mean = known.reduce((sum, core) => sum + core.busy!, 0) / known.length;
  figures.replaceChildren(
    figure("busy, all cores", known.length ? share(mean) : kMissing),
    ...sample.energy.map((energy) => figure(shown(energy.domain),
      energy.watts === null ? kMissing : `${energy.kind === "counted" ? "" : "~"}${si(energy.watts, "W")}`)),
    figure("loft itself", share(sample.cost.cpu_share), `of a CPU; ${seconds(sample.cost.reader_us / 1e6)} a reading`));
}

function show(sample: Sample): void {
  tracks.add(sample);
  showFigures(sample);
  cores.show(sample, tracks);
  busy.invalidate();
  roofline.show(sample);
  status.textContent = `${sample.cores.length} cores, ${seconds(sample.time_s)} since the start`;
  document.documentElement.dataset.samples = String(Number(document.documentElement.dataset.samples ?? 0) + 1);
}

document.body.append(
  h("header", {}, h("div", { class: "title" }, h("h1", {}, "loft top"), status)),
  h("main", {},
    h("section", { "aria-label": "figures" }, figures),
    (() => { const part = section("cores", "Cores"); part.append(cores.host); return part; })(),
    (() => { const part = section("time", "Busy over time"); part.append(busy.host); return part; })(),
    (() => { const part = section("roofline", "Roofline", roofline.note); part.append(roofline.host); return part; })()));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);

const events = new EventSource("events");
events.onmessage = (event) => show(JSON.parse(event.data) as Sample);
events.onerror = () => { status.textContent = "the connection is lost; trying again"; };
void roofline.load();
