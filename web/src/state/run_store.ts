// The curves of one run that is watched: read once, then grown by what the server tells.
import { fetchRun, fetchSeries } from '../api/client';
import { followRun, type Row } from '../api/stream';
import type { Run } from '../api/types';

export interface Growing {
  x: number[];
  y: (number | null)[];
}

const POINTS = 1500;
const MOST_POINTS = 6000; // then it is thinned anew
const PAUSE = 120; // ms between two repaints

export class RunStore {
  run: Run | undefined;
  problem: Error | undefined;
  isConnected = true;
  samplesPerStep: number | null = null;
  clock: { x: number[]; seconds: (number | null)[] } | undefined;
  readonly columns = new Map<string, Growing>();
  private readonly asked = new Set<string>();
  private stop: (() => void) | undefined;
  private readonly abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private rereads: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string, private readonly changed: () => void) {
    void this.start();
  }

  close(): void {
    this.abort.abort();
    this.stop?.();
    clearTimeout(this.timer);
    clearTimeout(this.rereads);
  }

  // Curves that are needed from now on.
  async want(names: readonly string[]): Promise<void> {
    const missing = names.filter((name) => !this.asked.has(name));
    if (missing.length === 0) return;
    missing.forEach((name) => this.asked.add(name));
    await this.guarded(async () => {
      await this.read(missing);
    });
  }

  private async start(): Promise<void> {
    await this.guarded(async () => {
      this.run = await fetchRun(this.id, this.abort.signal);
      const main = this.run.columns.filter((column) => !column.diagnostic).map((column) => column.name);
      main.forEach((name) => this.asked.add(name));
      const offset = main.length > 0 ? await this.read(main) : 0;
      if (this.abort.signal.aborted) return;
      this.stop = followRun(this.id, offset, {
        row: (row) => this.grow(row),
        event: () => this.reread(),
        reset: () => void this.restart(),
        connected: (isConnected) => {
          this.isConnected = isConnected;
          this.tell();
        },
      });
    });
  }

  private async restart(): Promise<void> {
    this.stop?.();
    this.columns.clear();
    await this.start();
  }

  private async read(names: readonly string[]): Promise<number> {
    const series = await fetchSeries(this.id, names, POINTS, this.abort.signal);
    this.samplesPerStep = series.samples_per_step;
    if (series.seconds) this.clock = { x: series.x, seconds: [...series.seconds] };
    for (const [name, values] of Object.entries(series.columns)) this.columns.set(name, withoutHoles(series.x, values));
    this.tell();
    return series.offset;
  }

  private grow(row: Row): void {
    for (const [name, value] of Object.entries(row.values)) {
      if (!this.asked.has(name)) {
        if (!name.includes('/') && this.run !== undefined) this.takeNew(name);
        else continue;
      }
      const column = this.columns.get(name) ?? { x: [], y: [] };
      if (column.x.length > 0 && (column.x[column.x.length - 1] as number) >= row.step) continue;
      column.x.push(row.step);
      column.y.push(value);
      this.columns.set(name, column);
      if (column.x.length > MOST_POINTS) void this.guarded(async () => void (await this.read([name])));
    }
    if (this.run) this.run.entry = { ...this.run.entry, step: Math.max(this.run.entry.step ?? 0, row.step) };
    this.tell();
  }

  // A column that began after we did.
  private takeNew(name: string): void {
    this.asked.add(name);
    this.run?.columns.push({ name, diagnostic: false });
  }

  // What was found so far; at most once a second.
  private reread(): void {
    if (this.rereads !== undefined) return;
    this.rereads = setTimeout(() => {
      this.rereads = undefined;
      void this.guarded(async () => {
        this.run = await fetchRun(this.id, this.abort.signal);
        this.tell();
      });
    }, 300);
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.problem = undefined;
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.problem = error as Error;
      this.tell();
    }
  }

  private tell(): void {
    if (this.timer !== undefined || this.abort.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.changed();
    }, PAUSE);
  }
}

// Columns that are asked for together share x; a row without one of them is no gap in it.
export function withoutHoles(x: readonly number[], y: readonly (number | null)[]): Growing {
  const kept: Growing = { x: [], y: [] };
  y.forEach((value, i) => {
    if (value === null) return;
    kept.x.push(x[i] as number);
    kept.y.push(value);
  });
  return kept;
}
