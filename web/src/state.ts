// What a person has chosen. Parts of the page read it and are told when it changes.

import { PageData, Points, kNoThread, kSlice } from "./data";

export type ColourBy = "function" | "thread" | "node" | "time" | "run";
export type Span = [number, number];

export interface Choices {
  colour: ColourBy;
  brush: Span | null;   // seconds that are looked at
  view: Span;           // seconds that the time axes show
  picked: string | null;  // a function
  at: number | null;      // an offset in it: where a loop starts
  roofline: number;
  event: string;          // that tables and flame graph show; empty: there is but one
}

export class State {
  readonly extent: Span;
  readonly choices: Choices;
  readonly events: string[];
  private readonly threads = new Map<number, PageData["threads"][number]>();
  private readonly listeners: ((changed: Partial<Choices>) => void)[] = [];

  constructor(readonly data: PageData) {
    this.extent = timeExtent(data);
    this.events = eventsOf(data);
    for (const thread of data.threads) if (!this.threads.has(thread.tid)) this.threads.set(thread.tid, thread);
    this.choices = {
      colour: this.firstColour(), brush: null, view: this.extent, picked: null, at: null, roofline: 0,
      event: this.events[0] ?? "",
    };
  }

  private firstColour(): ColourBy {
    if (this.data.runs.length > 1 && !this.data.points.scope.includes(kSlice)) return "run";
    return this.nodes.length ? "node" : "function";
  }

  // Of a job; in the order of its ranks.
  get nodes(): string[] {
    return [...new Set(this.data.threads.map((thread) => thread.node))].filter((node) => node !== "");
  }

  nodeOf(tid: number): string {
    return this.threads.get(tid)?.node ?? "";
  }

  get hasTime(): boolean {
    return this.extent[1] > this.extent[0];
  }

  onChange(listener: (changed: Partial<Choices>) => void): void {
    this.listeners.push(listener);
  }

  set(changed: Partial<Choices>): void {
    Object.assign(this.choices, changed);
    for (const listener of this.listeners) listener(changed);
  }

  // A brush that is too narrow to be meant is none.
  setBrush(from: number, to: number): void {
    const [least, most] = this.extent;
    const start = Math.max(least, Math.min(from, to));
    const end = Math.min(most, Math.max(from, to));
    this.set({ brush: end > start ? [start, end] : null });
  }

  threadName(tid: number): string {
    if (tid === kNoThread) return "";
    const thread = this.threads.get(tid);
    return thread && thread.name ? `${thread.name} ${tid}` : `${this.data.task} ${tid}`;
  }

  runName(run: number): string {
    return this.data.runs[run] ?? "";
  }
}

// Flame graphs come first: the page opens on the event that has the most telling one.
function eventsOf(data: PageData): string[] {
  const events = data.flames.map((flame) => flame.title);
  for (const table of data.tables) events.push(...table.columns.map((column) => column.event));
  return [...new Set(events)].filter((event) => event !== "");
}

function widen(span: Span, starts: Float64Array, ends: Float64Array): void {
  for (let i = 0; i < starts.length; ++i) {
    if (starts[i] < span[0]) span[0] = starts[i];
    if (ends[i] > span[1]) span[1] = ends[i];
  }
}

function timeExtent(data: PageData): Span {
  const span: Span = [Infinity, -Infinity];
  widen(span, data.points.start_s, data.points.end_s);
  for (const line of data.time_lines) widen(span, line.start_s, line.end_s);
  if (data.calls) widen(span, data.calls.start_s, data.calls.end_s);
  if (data.schedule) widen(span, data.schedule.start_s, data.schedule.end_s);
  return span[0] < span[1] ? span : [0, 0];
}

export function inside(points: Points, i: number, span: Span): boolean {
  return points.start_s[i] < span[1] && points.end_s[i] > span[0];
}
