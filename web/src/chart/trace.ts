// Curves and bands as paths, for the screen (Path2D) and for files (SvgPath) alike.
import type { Band, Curve, Numbers } from '../model/figure';
import { shareOf, type Scale } from './scale';

export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

export class SvgPath implements Pen {
  private text = '';

  moveTo(x: number, y: number): void {
    this.text += `M${tenths(x)} ${tenths(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.text += `L${tenths(x)} ${tenths(y)}`;
  }
  toString(): string {
    return this.text;
  }
}

const tenths = (x: number): string => String(Math.round(x * 10) / 10);

export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Places {
  x(value: number): number;
  y(value: number): number;
}

// Far outside is as good as infinitely far, and does not upset those who draw.
const clamped = (share: number): number => Math.max(-50, Math.min(50, share));

export function placesIn(frame: Frame, x: Scale, y: Scale): Places {
  const xShare = shareOf(x);
  const yShare = shareOf(y);
  return {
    x: (value) => frame.left + clamped(xShare(value)) * frame.width,
    y: (value) => frame.top + (1 - clamped(yShare(value))) * frame.height,
  };
}

// First index whose x is not below `value`.
export function firstFrom(x: readonly number[], value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((x[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// What is seen of x, and one point to either side.
function seen(x: readonly number[], scale: Scale): [number, number] {
  return [Math.max(0, firstFrom(x, scale.low) - 1), Math.min(x.length, firstFrom(x, scale.high) + 2)];
}

export function traceCurve(pen: Pen, curve: Curve, places: Places, xScale: Scale): void {
  const [from, to] = seen(curve.x, xScale);
  let isDown = false;
  let last = 0;
  for (let i = from; i < to; ++i) {
    const value = curve.y[i];
    const px = places.x(curve.x[i] as number);
    const py = value === null || value === undefined ? NaN : places.y(value);
    if (Number.isNaN(py) || Number.isNaN(px)) {
      isDown = false;
      continue;
    }
    if (!isDown) pen.moveTo(px, py);
    else {
      if (curve.stairs) pen.lineTo(px, last);
      pen.lineTo(px, py);
    }
    isDown = true;
    last = py;
  }
}

export function traceBand(pen: Pen, band: Band, stairs: boolean, places: Places, xScale: Scale, frame: Frame): void {
  const [from, to] = seen(band.x, xScale);
  const inside = (y: number): number => Math.max(frame.top, Math.min(frame.top + frame.height, y));
  let piece: number[] = [];
  const flush = (): void => {
    if (piece.length > 1) {
      outline(pen, band, piece, stairs, (x) => places.x(x), (y) => inside(places.y(y)));
    }
    piece = [];
  };
  for (let i = from; i < to; ++i)
    if (isNumber(band.low, i) && isNumber(band.high, i)) piece.push(i);
    else flush();
  flush();
}

const isNumber = (values: Numbers, i: number): boolean => typeof values[i] === 'number';

function outline(
  pen: Pen, band: Band, piece: number[], stairs: boolean, px: (x: number) => number, py: (y: number) => number,
): void {
  const xs = piece.map((i) => px(band.x[i] as number));
  const highs = piece.map((i) => py(band.high[i] as number));
  const lows = piece.map((i) => py(band.low[i] as number));
  const last = xs.length - 1;
  pen.moveTo(xs[0] as number, highs[0] as number);
  for (let i = 1; i <= last; ++i) {
    if (stairs) pen.lineTo(xs[i] as number, highs[i - 1] as number);
    pen.lineTo(xs[i] as number, highs[i] as number);
  }
  pen.lineTo(xs[last] as number, lows[last] as number);
  for (let i = last; i > 0; --i) {
    if (stairs) pen.lineTo(xs[i] as number, lows[i - 1] as number);
    pen.lineTo(xs[i - 1] as number, lows[i - 1] as number);
  }
  pen.lineTo(xs[0] as number, highs[0] as number);
}

// The value at x: level for stairs, else that of the nearest point if one is near.
export function valueAt(curve: Curve, x: number, reach: number): { x: number; y: number } | undefined {
  const next = firstFrom(curve.x, x);
  const before = next - 1;
  const pick = (i: number): { x: number; y: number } | undefined => {
    const y = curve.y[i];
    return y === null || y === undefined ? undefined : { x: curve.x[i] as number, y };
  };
  if (curve.stairs) return before >= 0 || curve.x[next] === x ? pick(curve.x[next] === x ? next : before) : undefined;
  const nextGap = next < curve.x.length ? (curve.x[next] as number) - x : Infinity;
  const gap = before >= 0 ? x - (curve.x[before] as number) : Infinity;
  const nearest = gap <= nextGap ? before : next;
  return Math.min(gap, nextGap) <= reach ? pick(nearest) : undefined;
}
