// From values to places and back, and where to write numbers.

export interface Scale {
  from: number; to: number;    // values; logarithms of them on logarithmic axes
  start: number; end: number;  // pixels
}

export const place = (s: Scale, value: number): number =>
  s.start + ((value - s.from) / (s.to - s.from)) * (s.end - s.start);

export const valueAt = (s: Scale, pixel: number): number =>
  s.from + ((pixel - s.start) / (s.end - s.start)) * (s.to - s.from);

// Round numbers, at most about `most` of them.
export function linearTicks(from: number, to: number, most: number): number[] {
  const span = to - from;
  if (!(span > 0) || most < 1) return [];
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough)!;
  const ticks: number[] = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; ++i) ticks.push(i * step);
  return ticks;
}

export interface LogTick { at: number; value: number; label: boolean }

// Decades with their parts between; labels where there is room for them.
export function logTicks(from: number, to: number, pixels: number): LogTick[] {
  const decade = pixels / (to - from);
  const labelled = decade > 260 ? [1, 2, 3, 5, 7] : decade > 130 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(34 / decade));
  const parts = decade > 60 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1];
  const ticks: LogTick[] = [];
  for (let power = Math.floor(from); power <= Math.ceil(to); ++power)
    for (const part of parts) {
      const at = power + Math.log10(part);
      if (at < from - 1e-9 || at > to + 1e-9) continue;
      ticks.push({ at, value: part * 10 ** power, label: labelled.includes(part) && power % every === 0 });
    }
  return ticks;
}
