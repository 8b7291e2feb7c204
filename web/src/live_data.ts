// Samples as `loft top` sends them, and what is kept of them to show their course.

export interface Core {
  cpu: number; busy: number | null; waiting: number | null; why?: string;
  values: Record<string, number | null>; kinds?: Record<string, string>; missing?: Record<string, string>;
}
export interface Energy { domain: string; watts: number | null; kind: string; gpu: boolean }
export interface Sample {
  schema: string; time_s: number; cores: Core[]; energy: Energy[]; units: Record<string, string>;
  cost: { cpu_share: number; reader_us: number; lateness_us: number };
}

const kKept = 600;  // samples

// Busy shares of each core, the latest last; NaN where they are not known.
export class Tracks {
  readonly times: number[] = [];
  readonly busy = new Map<number, number[]>();

  add(sample: Sample): void {
    this.times.push(sample.time_s);
    for (const core of sample.cores) {
      let track = this.busy.get(core.cpu);
      if (!track) this.busy.set(core.cpu, track = new Array(this.times.length - 1).fill(NaN));
      track.push(core.busy ?? NaN);
    }
    for (const track of this.busy.values()) if (track.length < this.times.length) track.push(NaN);
    if (this.times.length <= kKept) return;
    this.times.shift();
    for (const track of this.busy.values()) track.shift();
  }
}
