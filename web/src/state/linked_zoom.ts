// Figures with the same axis show the same stretch of it: one zoom for each label.
import { useEffect, useState } from 'preact/hooks';
import type { Range } from '../chart/scale';

const zooms = new Map<string, Range | undefined>();
const CHANGED = 'eureka-zoom';

export function useLinkedZoom(label: string): [Range | undefined, (range: Range | undefined) => void] {
  const [zoom, setZoom] = useState(zooms.get(label));
  useEffect(() => {
    const changed = (): void => setZoom(zooms.get(label));
    changed();
    document.addEventListener(CHANGED, changed);
    return () => document.removeEventListener(CHANGED, changed);
  }, [label]);
  return [zoom, (range) => {
    zooms.set(label, range);
    document.dispatchEvent(new Event(CHANGED));
  }];
}
