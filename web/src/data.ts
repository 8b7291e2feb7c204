// The data of a page: columns of numbers and texts, unpacked once. src/view/page.cpp packs them.
//
// Layout: length of the JSON (u32), version (u32), the JSON, then columns, each on a multiple of 8.

import { shown } from "./format";

export type Numbers = Float64Array | Float32Array | Uint32Array | Uint8Array;

// Places of points at levels of memory beyond the core.
export interface Levels {
  point: Uint32Array;
  name: Uint32Array;
  intensity: Float32Array;
  share: Float32Array;
}

export interface Points {
  levels: Levels;
  count: number;
  texts: string[];
  scope: Uint8Array;
  origin: Uint8Array;
  run: Uint32Array;
  name: Uint32Array;
  tid: Uint32Array;
  function: Uint32Array;
  bound_by: Uint32Array;
  why: Uint32Array;
  intensity: Float32Array;
  flops_per_second: Float32Array;
  seconds: Float32Array;
  share: Float32Array;
  share_of_roof: Float32Array;
  start_s: Float64Array;
  end_s: Float64Array;
}

export interface Slope { level: string; name: string; bytes_per_second: number; verdict: string }
export interface Ceiling { name: string; flops_per_second: number; verdict: string }
export interface Roofline {
  machine: string; precision: string; unit: string; threads: number; slopes: Slope[]; ceilings: Ceiling[];
}
export interface TimeLine {
  name: string; unit: string; run: number; origin: string;
  start_s: Float64Array; end_s: Float64Array; value: Float64Array;
}
export interface Schedule { tid: Uint32Array; cpu: Uint32Array; start_s: Float64Array; end_s: Float64Array }
// Single calls by column; `name` is a number of `texts`.
export interface Calls {
  texts: string[]; name: Uint32Array; tid: Uint32Array; depth: Uint32Array; start_s: Float64Array; end_s: Float64Array;
}
export interface Histogram {
  title: string; quantity: string; unit: string; p50: number; p99: number;
  low: Float64Array; high: Float64Array; count: Float64Array;
}
export interface Flame {
  title: string; unit: string; from_callees: boolean; texts: string[];
  parent: Uint32Array; name: Uint32Array; self: Float64Array; total: Float64Array; is_kernel: Uint8Array;
  more?: Float64Array; noise?: Float64Array;  // of a differential graph: in the second run; by chance
}
export interface Column {
  name: string; form: "text" | "count" | "number" | "share" | "seconds"; unit: string; help: string;
  event: string;  // of which it tells; empty: of all
  texts?: string[]; numbers?: Float64Array; origins?: Uint8Array;
}
export interface Table { title: string; left_out: string; columns: Column[] }

// The code of a function by instruction; rows that `from` and `target` name are 0xffffffff where there is none.
export interface Code {
  name: string; head: string; verdict: string;
  places: { where: string; text: string }[];
  texts: string[]; waits: string[];
  text: Uint32Array; place: Uint32Array; wait: Uint8Array; from: Uint32Array; target: Uint32Array;
  offset: Float64Array; count: Float64Array; share: Float32Array; waited: Float32Array;
}

export interface PageData {
  title: string;
  command: string;
  source: string;
  version: string;
  figures: { label: string; value: string; note: string; origin: string }[];
  verdict: string[];
  warnings: { kind: string; text: string }[];
  runs: string[];
  rooflines: Roofline[];
  points: Points;
  time_lines: TimeLine[];
  task: "thread" | "rank";  // what a tid is the number of
  threads: { tid: number; name: string; node: string }[];
  schedule: Schedule | null;
  calls: Calls | null;
  histograms: Histogram[];
  flames: Flame[];
  tables: Table[];
  codes: Code[];
  facts: { title: string; facts: { name: string; value: string }[] }[];
}

export const kScopes = ["run", "thread", "function", "slice", "loop", "region"] as const;
export const kSlice = 3;
export const kFunction = 2;
export const kOrigins = ["counted", "scaled", "modelled", "missing"];
export const kNoThread = 0xffffffff;
const kVersion = 1;

interface Packed { type: "f64" | "f32" | "u32" | "u8"; length: number; at?: number; all?: number | null }
const kTypes = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, u8: Uint8Array };

function column(buffer: ArrayBuffer, start: number, packed: Packed): Numbers {
  const Type = kTypes[packed.type];
  if (packed.at !== undefined) return new Type(buffer, start + packed.at, packed.length);
  return new Type(packed.length).fill(packed.all ?? NaN);
}

function isColumn(value: unknown): value is Packed {
  return typeof value === "object" && value !== null && "type" in value && "length" in value
    && ("at" in value || "all" in value);
}

// Every packed column below `value` becomes its numbers, every text one that can be shown.
function resolve(value: unknown, buffer: ArrayBuffer, start: number): unknown {
  if (typeof value === "string") return shown(value);
  if (isColumn(value)) return column(buffer, start, value);
  if (Array.isArray(value)) return value.map((part) => resolve(part, buffer, start));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part, buffer, start)]));
  return value;
}

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// TypeScript 4.8 does not know it; browsers have had it since 2023.
declare class DecompressionStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(format: "gzip");
}

async function inflate(packed: Uint8Array): Promise<ArrayBuffer> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export async function unpack(base64: string): Promise<PageData> {
  const buffer = await inflate(bytesOf(base64.trim()));
  const head = new DataView(buffer);
  const length = head.getUint32(0, true);
  const version = head.getUint32(4, true);
  if (version !== kVersion) throw new Error(`the data are of version ${version}, the page of ${kVersion}`);
  const json = new TextDecoder().decode(new Uint8Array(buffer, 8, length));
  const start = Math.ceil((8 + length) / 8) * 8;
  return resolve(JSON.parse(json), buffer, start) as PageData;
}
