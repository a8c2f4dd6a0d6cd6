// What is chosen about curves, in the address: log, smooth, x, seeds, align, hide, zoom.
import { useMemo } from 'preact/hooks';
import type { Choices } from '../chart/layout';
import { toggled } from '../chart/legend';
import type { Range } from '../chart/scale';
import { choose, parseRange, rangeText, type View } from './location';

export type XKind = 'step' | 'samples' | 'seconds';

export interface ViewChoices extends Choices {
  x: XKind;
  aligned: boolean;
  column: string | undefined;
  point: string | undefined;
}

export const SMOOTHNESS = [0, 1, 3, 8, 20];

export function choicesOf(values: URLSearchParams): ViewChoices {
  const log = values.get('log') ?? '';
  const smooth = Number(values.get('smooth') ?? 0);
  const x = values.get('x');
  const aligned = values.get('align') === 'moment';
  return {
    logX: log.includes('x') && !aligned,
    logY: log.includes('y'),
    smooth: SMOOTHNESS.includes(smooth) ? smooth : 0,
    seeds: values.get('seeds') === '1',
    hidden: new Set(values.getAll('hide')),
    zoom: parseRange(values.get('zoom')),
    x: x === 'samples' || x === 'seconds' ? x : 'step',
    aligned,
    column: values.get('column') ?? undefined,
    point: values.get('point') ?? undefined,
  };
}

export const useChoices = (view: View): ViewChoices => {
  const text = view.values.toString();
  return useMemo(() => choicesOf(new URLSearchParams(text)), [text]);
};

export const setLog = (x: boolean, y: boolean): void => choose({ log: `${x ? 'x' : ''}${y ? 'y' : ''}` });
export const setZoom = (range: Range | undefined): void => choose({ zoom: rangeText(range) });
export const setX = (x: XKind): void => choose({ x: x === 'step' ? undefined : x, zoom: undefined });
export const setAligned = (aligned: boolean): void =>
  choose({ align: aligned ? 'moment' : undefined, zoom: undefined });
export const setSeeds = (seeds: boolean): void => choose({ seeds: seeds ? '1' : undefined });
export const setSmooth = (smooth: number): void => choose({ smooth: smooth === 0 ? undefined : String(smooth) });
export const toggleCurve = (hidden: ReadonlySet<string>, name: string, alone: boolean, all: readonly string[]): void =>
  choose({ hide: [...toggled(hidden, name, alone, all)] });
