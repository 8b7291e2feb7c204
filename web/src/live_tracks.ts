// Busy shares of all cores over time: a row for each core, darker where it is busier.

import { Panel } from "./panel";
import { Tracks } from "./live_data";
import { linearTicks, place } from "./scale";
import { ramp, theme } from "./colour";

const kLeft = 44, kRight = 8, kTop = 4, kBottom = 22;
const kRow = 14;

export class TrackPanel extends Panel {
  constructor(label: string, private readonly tracks: Tracks) {
    super(label, kTop + kBottom + kRow, "img");
  }

  protected override paint(): void {
    const { times, busy } = this.tracks;
    if (times.length < 2) return;
    const height = kTop + kBottom + kRow * busy.size;
    if (height !== this.height) return this.setHeight(height);
    const x = { from: times[0], to: times[times.length - 1], start: kLeft, end: this.width - kRight };
    const colours = theme();
    [...busy.entries()].forEach(([cpu, track], row) => {
      const y = kTop + row * kRow;
      this.g.fillStyle = colours.soft;
      this.g.textAlign = "right";
      this.g.textBaseline = "middle";
      this.g.fillText(`CPU ${cpu}`, kLeft - 6, y + kRow / 2);
      for (let i = 1; i < track.length; ++i) {
        if (Number.isNaN(track[i])) continue;
        const from = place(x, times[i - 1]), to = place(x, times[i]);
        this.g.fillStyle = ramp(track[i]);
        this.g.fillRect(from, y, Math.max(1, to - from), kRow - 1);
      }
    });
    this.g.fillStyle = colours.soft;
    this.g.textAlign = "center";
    this.g.textBaseline = "top";
    for (const tick of linearTicks(x.from, x.to, 8)) this.g.fillText(`${+tick.toFixed(3)} s`, place(x, tick), this.height - kBottom + 5);
  }
}
