// From values to places along an axis, and the ticks on it: the same choices as src/figure/scale.cpp makes.
import type { Axis } from '../model/figure';

export interface Range {
  low: number;
  high: number;
}

export interface Tick {
  at: number;
  label: string;
}

export interface Scale extends Range {
  log: boolean;
  ticks: Tick[];
}

const LARGEST = 1e300;

export class Extent {
  low = Infinity;
  high = -Infinity;
  lowPositive = Infinity;

  add(value: number | null | undefined): void {
    if (value === null || value === undefined || !(Math.abs(value) <= LARGEST)) return;
    if (value < this.low) this.low = value;
    if (value > this.high) this.high = value;
    if (value > 0 && value < this.lowPositive) this.lowPositive = value;
  }

  get isEmpty(): boolean {
    return this.low > this.high;
  }
}

// The smallest 1, 2 or 5 times a power of ten not below `raw`.
export function roundStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  for (const factor of [1, 2, 5]) if (factor * power >= raw * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

export function widened(low: number, high: number): Range {
  if (high < low) return widened(high, low);
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > Math.max(1e-290, size * 1e-12)) return { low, high };
  const room = size > 1e-280 ? size * 0.1 : 1;
  return { low: low - room, high: high + room };
}

export function numberText(x: number, step: number): string {
  const size = Math.max(Math.abs(x), step);
  if (size >= 1e6 || step < 1e-5) return shortest(x, 3);
  const decimals = Math.min(20, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  return (Math.abs(x) < step * 1e-6 ? 0 : x).toFixed(decimals);
}

export function shortest(x: number, digits: number): string {
  const text = String(Number(x.toPrecision(digits)));
  return text.replace('e+', 'e');
}

// Long counts of steps: "20k", "1.5M".
function countText(x: number, step: number): string {
  if (step % 1000 === 0 && Math.abs(x) >= 1e6) return `${shortest(x / 1e6, 6)}M`;
  if (step % 1000 === 0 && Math.abs(x) >= 1e4) return `${shortest(x / 1e3, 6)}k`;
  return numberText(x, step);
}

function plainScale(range: Range, axis: Axis, most: number, isFixed: { low: boolean; high: boolean }): Scale {
  let { low, high } = range;
  const step = roundStep((high - low) / Math.max(1, most - 1));
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  if (!isFixed.low && low - first * step <= step / 2) low = first * step;
  if (!isFixed.high && last * step - high <= step / 2) high = last * step;
  const slack = 1e-9 * (high - low);
  const ticks: Tick[] = [];
  for (let i = first; i <= last; ++i) {
    const at = Number((i * step).toPrecision(12));
    if (at < low - slack || at > high + slack) continue;
    ticks.push({
      at,
      label: axis.percent ? `${numberText(100 * at, 100 * step)}%` : Math.abs(at) >= 1e4 ? countText(at, step) : numberText(at, step),
    });
  }
  return { low, high, log: false, ticks };
}

// One number on an axis does not say how far it goes.
const FEWEST_TICKS = 2;
const MORE_TICKS = 4;

function enoughTicks(range: Range, axis: Axis, most: number, isFixed: { low: boolean; high: boolean }): Scale {
  let scale = plainScale(range, axis, most, isFixed);
  for (let more = 1; scale.ticks.length < FEWEST_TICKS && more < MORE_TICKS; ++more) scale = plainScale(range, axis, most + more, isFixed);
  return scale;
}

function decades(range: Range, most: number): Tick[] {
  const first = Math.floor(Math.log10(range.low) + 1e-9);
  const last = Math.ceil(Math.log10(range.high) - 1e-9);
  const withParts = Math.log10(range.high / range.low) <= 2;
  const every = Math.max(1, Math.ceil((last - first) / Math.max(1, most)));
  const ticks: Tick[] = [];
  for (let power = first; power <= last; power += every)
    for (const factor of [1, 2, 5]) {
      const at = Number((factor * 10 ** power).toPrecision(12));
      if ((factor > 1 && !withParts) || at < range.low * (1 - 1e-9) || at > range.high * (1 + 1e-9)) continue;
      ticks.push({ at, label: power < -3 || power > 4 ? `${factor}e${power}` : shortest(at, 6) });
    }
  return ticks;
}

// `chosen` is what somebody zoomed to: it is kept to the digit. `isTight`: the axis ends where the data do.
export function scaleOf(extent: Extent, axis: Axis, most: number, isTight: boolean, chosen?: Range): Scale {
  const found = extent.isEmpty ? { low: 0, high: 1 } : { low: extent.low, high: extent.high };
  let low = chosen?.low ?? axis.low ?? found.low;
  let high = chosen?.high ?? axis.high ?? found.high;
  if (axis.log && high > 0) {
    if (low <= 0) low = Math.min(extent.lowPositive, high / 10);
    const powers = widened(Math.log10(low), Math.log10(high));
    const range = { low: 10 ** powers.low, high: 10 ** powers.high };
    const ticks = decades(range, most);
    // Within a part of a decade.
    const isEnough = ticks.length >= FEWEST_TICKS;
    return { ...range, log: true, ticks: isEnough ? ticks : enoughTicks(range, { label: '' }, most, { low: true, high: true }).ticks };
  }
  ({ low, high } = widened(low, high));
  const isFixed = { low: isTight || axis.low !== undefined, high: isTight || axis.high !== undefined };
  return enoughTicks({ low, high }, axis, most, isFixed);
}

// Between 0 at the low end and 1 at the high end.
export function shareOf(scale: Range & { log: boolean }): (value: number) => number {
  if (scale.log) {
    const low = Math.log10(scale.low);
    const size = Math.log10(scale.high) - low;
    return (value) => (value > 0 ? (Math.log10(value) - low) / size : NaN);
  }
  const size = scale.high - scale.low;
  return (value) => (value - scale.low) / size;
}
