// The view is in the address, after the #: a link restores it, and back goes back.
//
//   #/run?id=cures/softmax/seed-1&log=y&smooth=2&zoom=100,900
import { useEffect, useState } from 'preact/hooks';
import type { Range } from '../chart/scale';

export interface View {
  place: 'index' | 'run' | 'study' | 'compare';
  values: URLSearchParams;
}

const PLACES = new Set(['index', 'run', 'study', 'compare']);

export function parseView(hash: string): View {
  const text = hash.replace(/^#\/?/, '');
  const [place = '', query = ''] = text.split('?', 2);
  return { place: (PLACES.has(place) ? place : 'index') as View['place'], values: new URLSearchParams(query) };
}

export function viewLink(place: View['place'], values: Record<string, string | readonly string[]> = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values))
    for (const one of Array.isArray(value) ? value : [value]) query.append(key, one as string);
  const text = query.toString();
  return `#/${place}${text === '' ? '' : `?${text}`}`;
}

export function useView(): View {
  const [view, setView] = useState(() => parseView(location.hash));
  useEffect(() => {
    const changed = (): void => setView(parseView(location.hash));
    addEventListener('hashchange', changed);
    addEventListener('eureka-view', changed);
    return () => {
      removeEventListener('hashchange', changed);
      removeEventListener('eureka-view', changed);
    };
  }, []);
  return view;
}

// What is chosen within a view: no step of its own for going back.
export function choose(changes: Record<string, string | readonly string[] | undefined>): void {
  const { place, values } = parseView(location.hash);
  for (const [key, value] of Object.entries(changes)) {
    values.delete(key);
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) values.append(key, one as string);
  }
  const text = values.toString();
  history.replaceState(null, '', `#/${place}${text === '' ? '' : `?${text}`}`);
  dispatchEvent(new Event('eureka-view'));
}

export function parseRange(text: string | null): Range | undefined {
  const [low = NaN, high = NaN] = (text ?? '').split(',').map(Number);
  return Number.isFinite(low) && Number.isFinite(high) && high > low ? { low, high } : undefined;
}

export const rangeText = (range: Range | undefined): string | undefined =>
  range && `${Number(range.low.toPrecision(6))},${Number(range.high.toPrecision(6))}`;
