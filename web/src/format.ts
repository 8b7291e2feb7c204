// Numbers and texts as people read them. A value that is not known is never written as 0.

export const kMissing = "—";

const kPrefixes: [number, string][] = [
  [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"],
  [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"],
];

// Three significant digits, without an exponent: 0.125, 3.14, 31.4, 314, 3142.
export function three(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : Math.min(12, 2 - Math.floor(Math.log10(size)));
  return value.toFixed(decimals);
}

export function si(value: number, unit: string): string {
  if (Number.isNaN(value)) return kMissing;
  if (!Number.isFinite(value)) return "∞";
  const gap = unit === "" ? "" : " ";
  if (value === 0) return `0${gap}${unit}`;
  const size = Math.abs(value) * (1 + 1e-9);
  const [step, prefix] = kPrefixes.find(([least]) => size >= least) ?? kPrefixes[kPrefixes.length - 1];
  return `${three(value / step)}${gap || (prefix ? " " : "")}${prefix}${unit}`;
}

// Intensities stay without a prefix: "0.125 FLOP/B" is read at once, "125 mFLOP/B" is not.
export function plainNumber(value: number, unit: string): string {
  if (Number.isNaN(value)) return kMissing;
  const text = value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : three(value);
  return unit === "" ? text : `${text} ${unit}`;
}

export function withUnit(value: number, unit: string): string {
  return /\/B$|\/cycle$|^CPUs$|^threads$|^%$|^$/.test(unit) && Math.abs(value) < 1e4 ? plainNumber(value, unit) : si(value, unit);
}

// A number beside an axis: its unit stands at the axis.
export function tickText(value: number, unit: string): string {
  return withUnit(value, unit).replace(unit, "").trim().replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");
}

export function seconds(value: number): string {
  if (Number.isNaN(value)) return kMissing;
  const size = Math.abs(value);
  if (size === 0 || size >= 1) return `${size >= 1000 ? value.toFixed(1) : value.toFixed(3)} s`;
  if (size >= 1e-3) return `${three(value * 1e3)} ms`;
  if (size >= 1e-6) return `${three(value * 1e6)} µs`;
  return `${three(value * 1e9)} ns`;
}

export function share(value: number): string {
  if (Number.isNaN(value)) return kMissing;
  const percent = 100 * value;
  return `${percent !== 0 && Math.abs(percent) < 10 ? percent.toFixed(2) : percent.toFixed(1)} %`;
}

export function count(value: number): string {
  return Number.isNaN(value) ? kMissing : value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

// What was not counted carries a mark, as everywhere in loft.
export function marked(text: string, origin: string): string {
  return text !== kMissing && (origin === "scaled" || origin === "modelled") ? `~${text}` : text;
}

// Characters that turn the direction of text or take no room would let one name look like another.
export function shown(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
