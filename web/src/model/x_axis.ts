// From steps to samples or seconds.
import { firstFrom } from '../chart/trace';
import type { XKind } from '../state/choices';

export interface Clock {
  x: readonly number[];
  seconds: readonly (number | null)[];
}

export interface XUnit {
  label: string;
  after: string; // the moment
  of(step: number): number;
}

function secondsAt(clock: Clock, step: number): number {
  const known: { x: number; s: number }[] = [];
  const next = firstFrom(clock.x, step);
  for (const i of [next - 1, next, clock.x.length - 1]) {
    const s = clock.seconds[i];
    if (typeof s === 'number') known.push({ x: clock.x[i] as number, s });
  }
  const [a, b] = known;
  if (a === undefined) return NaN;
  if (b === undefined || a.x === b.x) return a.x === 0 ? a.s : (a.s * step) / a.x;
  return a.s + ((step - a.x) / (b.x - a.x)) * (b.s - a.s);
}

export function xUnit(kind: XKind, samplesPerStep: number | null, clock: Clock | undefined): XUnit | undefined {
  if (kind === 'step') return { label: 'training step', after: 'steps', of: (step) => step };
  if (kind === 'samples') return samplesPerStep === null ? undefined : { label: 'training samples', after: 'samples', of: (step) => step * samplesPerStep };
  return clock === undefined ? undefined : { label: 'seconds of training', after: 'seconds', of: (step) => secondsAt(clock, step) };
}
