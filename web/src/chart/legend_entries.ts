import type { Figure, Tone } from '../model/figure';

export interface LegendEntry {
  name: string;
  tone: Tone;
  isCurve: boolean; // can be hidden
}

// Each name once: the curves in the order of the panels, then what marks them.
export function legendOf(figure: Figure): LegendEntry[] {
  const entries = new Map<string, LegendEntry>();
  const add = (name: string, tone: Tone, isCurve: boolean): void => {
    if (name !== '' && !entries.has(name)) entries.set(name, { name, tone, isCurve });
  };
  for (const panel of figure.panels) {
    for (const curve of panel.curves) if (!curve.single) add(curve.name, curve.tone, true);
    for (const dots of panel.dots) add(dots.name, { color: dots.color, dash: 'solid', width: 5, opacity: 1 }, false);
  }
  for (const panel of figure.panels) for (const line of panel.lines) add(line.name, line.tone, false);
  return [...entries.values()];
}
