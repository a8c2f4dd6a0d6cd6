// What all painters of a panel agree on: which curves are seen, and the scales.
import type { Curve, Figure, Panel } from '../model/figure';
import { smoothed } from '../model/smooth';
import { Extent, scaleOf, type Range, type Scale } from './scale';

// What somebody has chosen to see of a figure.
export interface Choices {
  logX: boolean;
  logY: boolean;
  smooth: number; // points to either side
  seeds: boolean;
  hidden: ReadonlySet<string>; // names of curves
  zoom: Range | undefined;
}

export const PLAIN: Choices = { logX: false, logY: false, smooth: 0, seeds: false, hidden: new Set(), zoom: undefined };

export interface Laid {
  panel: Panel;
  curves: Curve[]; // that are seen, later ones cover earlier ones
  x: Scale;
  y: Scale;
}

function seenCurves(panel: Panel, choices: Choices): Curve[] {
  const curves: Curve[] = [];
  for (const curve of panel.curves) {
    if (curve.single ? !choices.seeds : choices.hidden.has(curve.name)) continue;
    if (curve.single && choices.hidden.has(curve.name)) continue;
    if (choices.smooth === 0 || curve.stairs) curves.push(curve);
    else {
      if (!curve.single) curves.push({ ...curve, tone: { ...curve.tone, opacity: 0.25 * curve.tone.opacity, width: 0.8 } });
      curves.push({ ...curve, y: smoothed(curve.y, choices.smooth) });
    }
  }
  return curves;
}

export interface Extents {
  x: Extent;
  y: Extent;
}

function addPanel(extents: Extents, panel: Panel, curves: readonly Curve[], within: Range | undefined): void {
  const low = within?.low ?? panel.x.low ?? -Infinity;
  const high = within?.high ?? panel.x.high ?? Infinity;
  const add = (x: number, ...ys: (number | null | undefined)[]): void => {
    extents.x.add(x);
    if (x >= low && x <= high) for (const y of ys) extents.y.add(y);
  };
  for (const curve of curves) {
    curve.x.forEach((x, i) => add(x, curve.y[i]));
    curve.band?.x.forEach((x, i) => add(x, curve.band?.low[i], curve.band?.high[i]));
  }
  for (const dots of panel.dots) dots.x.forEach((x, i) => add(x, dots.y[i]));
  for (const rest of panel.rests) if (!panel.y.log) extents.y.add(rest.level);
  for (const line of panel.lines) if (!line.vertical) extents.y.add(line.at);
}

const newExtents = (): Extents => ({ x: new Extent(), y: new Extent() });

// All panels at once: with several, they share x, and y where they show the same quantity.
export function layOut(figure: Figure, choices: Choices, plotWidth: number, height: number): Laid[] {
  const seen = figure.panels.map((panel) => seenCurves(panel, choices));
  const shared = newExtents();
  const own = figure.panels.map((panel, i) => {
    const extents = newExtents();
    addPanel(extents, panel, seen[i] ?? [], choices.zoom);
    addPanel(shared, panel, seen[i] ?? [], choices.zoom);
    return extents;
  });
  const sharesY = figure.panels.every((panel) => panel.y.label !== '' && panel.y.label === figure.panels[0]?.y.label);
  const mostX = Math.max(3, Math.floor(plotWidth / (plotWidth < 500 ? 40 : 80)));
  const mostY = Math.max(3, Math.floor(height / 38));
  return figure.panels.map((panel, i) => ({
    panel,
    curves: seen[i] ?? [],
    x: scaleOf(shared.x, { ...panel.x, log: panel.x.log || choices.logX }, mostX, true, choices.zoom),
    y: scaleOf(sharesY ? shared.y : (own[i] as Extents).y, withLog(panel, choices), mostY, false),
  }));
}

// A natural end at zero is none on a logarithmic axis.
function withLog(panel: Panel, choices: Choices): Panel['y'] {
  if (!choices.logY || panel.y.log) return panel.y;
  const { low: _, ...rest } = panel.y;
  return (panel.y.low ?? 0) <= 0 ? { ...rest, log: true } : { ...panel.y, log: true };
}
