// Colours that people with any kind of colour vision tell apart, on light and on dark ground.

export const kCategories = 8;
const kLight = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255", "#999933"];
const kDark = ["#4aa3df", "#f0803c", "#2fc79a", "#de9bc3", "#f0b73a", "#8fd0f5", "#c86ea3", "#c3c35a"];
// Dark to light in even steps of brightness, so that time reads without hue.
const kRamp = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

export interface Theme {
  isDark: boolean;
  ground: string; panel: string; ink: string; soft: string; faint: string; line: string;
  grid: string; other: string; dim: string; accent: string; roof: string;
}

let current: Theme | null = null;

export function theme(): Theme {
  if (current) return current;
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  current = {
    isDark: read("scheme") === "dark",
    ground: read("ground"), panel: read("panel"), ink: read("ink"), soft: read("soft"), faint: read("faint"),
    line: read("line"), grid: read("grid"), other: read("other"), dim: read("dim"), accent: read("accent"),
    roof: read("roof"),
  };
  return current;
}

export function forgetTheme(): void {
  current = null;
}

export function category(rank: number): string {
  return rank < 0 || rank >= kCategories ? theme().other : (theme().isDark ? kDark : kLight)[rank];
}

function parse(hex: string): [number, number, number] {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as [number, number, number];
}

// As a pixel of ImageData on a little-endian machine, which is every one that browsers run on.
export function pixel(hex: string, alpha = 255): number {
  const [r, g, b] = parse(hex);
  return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

// 0 to 1 along the ramp, less its end that would vanish in the ground.
export function ramp(at: number): string {
  const [from, to] = theme().isDark ? [0.22, 1] : [0, 0.9];
  const place = (from + Math.min(1, Math.max(0, at)) * (to - from)) * (kRamp.length - 1);
  const i = Math.min(kRamp.length - 2, Math.floor(place));
  const a = parse(kRamp[i]), b = parse(kRamp[i + 1]);
  const mixed = a.map((part, k) => Math.round(part + (b[k] - part) * (place - i)));
  return `#${mixed.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

// From -1, all of it is gone, to 1, all of it is new: blue to red, which all kinds of colour vision tell apart.
export function changeColour(part: number): string {
  const size = Math.min(1, Math.abs(part));
  const [hue, full] = part > 0 ? [12, 85] : [212, 75];
  return theme().isDark ? `hsl(${hue} ${full * 0.6}% ${28 + 18 * size}%)` : `hsl(${hue} ${full}% ${88 - 32 * size}%)`;
}

// The same name has the same shade in every graph: warm for user code, cool for the kernel.
export function frameColour(text: string, isKernel: boolean): string {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0;
  const hue = isKernel ? 205 + (hash % 20) : 24 + (hash % 26);
  const light = theme().isDark ? 30 + ((hash >>> 8) % 9) : 72 + ((hash >>> 8) % 11);
  return `hsl(${hue} ${theme().isDark ? 38 : 74}% ${light}%)`;
}
