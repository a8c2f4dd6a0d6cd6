// The runs of a group as one curve: their median, and between which values the middle half lies. The same rules as in
// reports (src/report/run_group.cpp): a run that has ended counts with its last value from then on.
import { firstFrom } from '../chart/trace';
import type { Band, Numbers } from './figure';

export interface Line2 {
  x: readonly number[];
  y: Numbers;
}

const MOST_PLACES = 240;

interface Clean {
  x: number[];
  y: number[];
}

function clean(line: Line2): Clean {
  const kept: Clean = { x: [], y: [] };
  line.y.forEach((value, i) => {
    if (typeof value !== 'number') return;
    kept.x.push(line.x[i] as number);
    kept.y.push(value);
  });
  return kept;
}

function valueAt(line: Clean, x: number): number | undefined {
  if (line.x.length === 0 || x < (line.x[0] as number)) return undefined;
  const next = firstFrom(line.x, x);
  if (next === line.x.length) return line.y[next - 1];
  const [x1, y1] = [line.x[next] as number, line.y[next] as number];
  if (x1 === x || next === 0) return y1;
  const [x0, y0] = [line.x[next - 1] as number, line.y[next - 1] as number];
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}

function places(lines: readonly Clean[]): number[] {
  const all = [...new Set(lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  if (all.length <= MOST_PLACES) return all;
  const [first, last] = [all[0] as number, all[all.length - 1] as number];
  return Array.from({ length: MOST_PLACES }, (_, i) => first + ((last - first) * i) / (MOST_PLACES - 1));
}

export function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const first = Math.floor(place);
  const low = sorted[first] as number;
  return first + 1 < sorted.length ? low + (place - first) * ((sorted[first + 1] as number) - low) : low;
}

export function medianOf(lines: readonly Line2[]): { x: number[]; y: number[]; band?: Band } {
  const cleaned = lines.map(clean).filter((line) => line.x.length > 0);
  const x: number[] = [];
  const y: number[] = [];
  const low: number[] = [];
  const high: number[] = [];
  for (const at of places(cleaned)) {
    const values = cleaned.map((line) => valueAt(line, at)).filter((value) => value !== undefined);
    // Where fewer than half have begun, a median would be of another set of runs.
    if (values.length === 0 || values.length * 2 < cleaned.length) continue;
    values.sort((a, b) => a - b);
    x.push(at);
    y.push(quantile(values, 0.5));
    low.push(quantile(values, 0.25));
    high.push(quantile(values, 0.75));
  }
  return cleaned.length >= 3 ? { x, y, band: { x, low, high } } : { x, y };
}
