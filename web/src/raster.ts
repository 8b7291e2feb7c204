// Points as pixels: a million of them in a few milliseconds, which no drawing command reaches.

export interface Raster {
  pixels: Uint32Array;
  counts: Uint16Array | null;  // points on each pixel; where given, shade() makes them seen
  width: number;
  height: number;
}

export interface Projection {
  x0: number; kx: number;  // pixel = (value - x0) * kx
  y0: number; ky: number;
}

// Squares of `size` pixels in the colour of their point; only points with `group[i] === wanted`.
// A point that is no number falls outside every comparison and is not drawn.
export function squares(raster: Raster, xs: Float32Array, ys: Float32Array, colours: Uint32Array,
                        group: Uint8Array, wanted: number, view: Projection, size: number): void {
  const { pixels, counts, width, height } = raster;
  const { x0, kx, y0, ky } = view;
  // Half a pixel more, so that cutting off rounds; what is not inside is cut off wrongly, but unused.
  const shift = 0.5 - (size - 1) / 2;
  const right = width - size + 1, bottom = height - size + 1;
  for (let i = 0; i < xs.length; ++i) {
    if (group[i] !== wanted) continue;
    const fx = (xs[i] - x0) * kx + shift, fy = (ys[i] - y0) * ky + shift;
    if (!(fx >= 0 && fx < right && fy >= 0 && fy < bottom)) continue;
    const colour = colours[i];
    let at = (fy | 0) * width + (fx | 0);
    if (counts) ++counts[at];
    pixels[at] = colour;
    if (size === 1) continue;
    pixels[at + 1] = colour;
    pixels[at + width] = colour;
    pixels[at + width + 1] = colour;
    if (size === 2) continue;
    for (let row = 0; row < size; ++row, at += width) pixels.fill(colour, at, at + size);
  }
}

const alphas = Uint8Array.from({ length: 4096 }, (_, n) => Math.min(255, 90 + 24 * Math.log2(n)));

// Pixels with few points are pale, those with many are full: a cloud shows where its middle is.
// A square is counted at its first pixel; the others are as dense as the densest that covers them.
export function shade({ pixels, counts, width }: Raster, size: number): void {
  for (let at = size * width; at < pixels.length; ++at) {
    const colour = pixels[at];
    if (colour === 0) continue;
    let n = 0;
    for (let row = 0; row < size; ++row)
      for (let column = 0; column < size; ++column) n = Math.max(n, counts![at - row * width - column]);
    if (n > 0) pixels[at] = ((alphas[Math.min(n, 4095)] << 24) | (colour & 0xffffff)) >>> 0;
  }
}

// How much of each pixel of a disc is covered, 0 to 256.
function discMask(size: number): Uint16Array {
  const mask = new Uint16Array(size * size);
  const centre = (size - 1) / 2, radius = size / 2;
  for (let y = 0; y < size; ++y)
    for (let x = 0; x < size; ++x)
      mask[y * size + x] = 256 * Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x - centre, y - centre)));
  return mask;
}

// Translucent discs: where many lie upon each other they grow dense. For fewer points than squares().
export function discs(raster: Raster, xs: Float32Array, ys: Float32Array, colours: Uint32Array,
                      group: Uint8Array, wanted: number, view: Projection, size: number, opacity: number): void {
  const { pixels, width, height } = raster;
  const mask = discMask(size);
  const half = (size - 1) / 2;
  for (let i = 0; i < xs.length; ++i) {
    if (group[i] !== wanted) continue;
    const left = Math.round((xs[i] - view.x0) * view.kx - half);
    const top = Math.round((ys[i] - view.y0) * view.ky - half);
    if (!(left >= 0 && left <= width - size && top >= 0 && top <= height - size)) continue;
    const colour = colours[i];
    for (let row = 0; row < size; ++row)
      for (let column = 0; column < size; ++column) {
        const alpha = mask[row * size + column] * opacity;
        if (alpha < 1) continue;
        const at = (top + row) * width + left + column;
        pixels[at] = over(pixels[at], colour, alpha / 256);
      }
  }
}

// A colour upon a pixel, both as they are in ImageData: not multiplied by their alpha.
function over(below: number, colour: number, alpha: number): number {
  const under = (below >>> 24) / 255;
  const sum = alpha + under * (1 - alpha);
  const mix = (shift: number) =>
    (((colour >>> shift) & 255) * alpha + ((below >>> shift) & 255) * under * (1 - alpha)) / sum + 0.5;
  return ((((sum * 255 + 0.5) & 255) << 24) | ((mix(16) & 255) << 16) | ((mix(8) & 255) << 8) | (mix(0) & 255)) >>> 0;
}
