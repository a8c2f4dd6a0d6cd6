// The figures of a report as its page holds them.
import type { Curve, Figure, Forest, Heatmap, Panel } from '../model/figure';
import { behind } from '../model/tones';

// Its numbers at risk stand below the axis only in the standing figure.
export type EmbeddedChart = Figure & { kind: 'chart'; rows: boolean };
interface Named {
  name: string;
  title: string;
  caption: string;
}
export type EmbeddedFigure = EmbeddedChart | (Named & { kind: 'forest'; forest: Forest }) | (Named & { kind: 'heatmap'; map: Heatmap });

type Data = { kind: 'chart'; columns: number; height: number; rows: boolean; panels: Panel[] } | ({ kind: 'forest' } & Forest) | ({ kind: 'heatmap' } & Heatmap);
export type WrittenFigure = Named & { data: Data | null };

export function embedded({ name, title, caption, data }: WrittenFigure): EmbeddedFigure | undefined {
  const named = { name, title, caption };
  switch (data?.kind) {
    case 'chart':
      return { ...named, ...data, panels: withNames(data.panels) };
    case 'forest':
      return { ...named, kind: 'forest', forest: data };
    case 'heatmap':
      return { ...named, kind: 'heatmap', map: data };
    default:
      return undefined;
  }
}

export function readFigures(): EmbeddedFigure[] {
  const text = document.getElementById('eureka-data')?.textContent ?? '{"figures":[]}';
  const { figures } = JSON.parse(text) as { figures: WrittenFigure[] };
  return figures.map(embedded).filter((one) => one !== undefined);
}

// In panels of their own arms have no name in the legend: the panel's title is theirs.
const withNames = (panels: Panel[]): Panel[] =>
  panels.map((panel) => ({ ...panel, curves: panel.curves.map((curve) => (curve.name === '' ? { ...curve, name: armOf(panel.title) } : curve)) }));

const armOf = (title: string): string => title.replace(/ \(\d+ runs?\)$/, '');

// The single runs behind the medians: those of the figure "seeds" beside "curves".
export function seedsFor(figure: EmbeddedFigure, all: readonly EmbeddedFigure[]): ReadonlyMap<string, Curve[]> {
  const place = /^(.*)\/curves(-\d+)?$/.exec(figure.name);
  const seeds = place && all.find((one) => one.name === `${place[1] ?? ''}/seeds${place[2] ?? ''}`);
  if (seeds?.kind !== 'chart') return new Map();
  return new Map(seeds.panels.map((panel) => [armOf(panel.title), panel.curves]));
}

export function withSeeds(figure: EmbeddedChart, seeds: ReadonlyMap<string, Curve[]>): Figure {
  return {
    ...figure,
    panels: figure.panels.map((panel) => ({
      ...panel,
      curves: panel.curves.flatMap((curve) => [
        ...(seeds.get(curve.name) ?? []).map((seed): Curve => ({ ...seed, name: curve.name, tone: behind(curve.tone), single: true })),
        curve,
      ]),
    })),
  };
}

// What can be asked of a figure: axes that are logarithmic already stay so, and those with steps before the moment have no
// logarithm; dots are not smoothed.
export function offered({ panels }: Figure): { logX: boolean; logY: boolean; smooth: boolean } {
  return {
    logX: panels.some(({ x }) => !x.log && (x.low ?? 0) >= 0),
    logY: panels.some(({ y }) => !y.log),
    smooth: panels.every(({ dots }) => dots.length === 0),
  };
}
