// The figures of a report as its page holds them.
import type { Curve, Figure, Panel } from '../model/figure';
import { behind } from '../model/tones';

export interface EmbeddedFigure extends Figure {
  rows: boolean; // numbers below the axis, which only the standing figure has
}

interface Written {
  name: string;
  title: string;
  caption: string;
  data: { kind: string; columns: number; height: number; rows: boolean; panels: Panel[] };
}

export function readFigures(): EmbeddedFigure[] {
  const text = document.getElementById('eureka-data')?.textContent ?? '{"figures":[]}';
  const { figures } = JSON.parse(text) as { figures: Written[] };
  return figures.filter((one) => one.data.kind === 'chart').map(({ name, title, caption, data }) => ({ name, title, caption, ...data, panels: named(data.panels) }));
}

// In panels of their own arms have no name in the legend: the panel's title is theirs.
const named = (panels: Panel[]): Panel[] =>
  panels.map((panel) => ({ ...panel, curves: panel.curves.map((curve) => (curve.name === '' ? { ...curve, name: armOf(panel.title) } : curve)) }));

const armOf = (title: string): string => title.replace(/ \(\d+ runs?\)$/, '');

// The single runs behind the medians: those of the figure "seeds" beside "curves".
export function seedsFor(figure: EmbeddedFigure, all: readonly EmbeddedFigure[]): ReadonlyMap<string, Curve[]> {
  const place = /^(.*)\/curves(-\d+)?$/.exec(figure.name);
  const seeds = place && all.find((one) => one.name === `${place[1] ?? ''}/seeds${place[2] ?? ''}`);
  if (!seeds) return new Map();
  return new Map(seeds.panels.map((panel) => [armOf(panel.title), panel.curves]));
}

export function withSeeds(figure: EmbeddedFigure, seeds: ReadonlyMap<string, Curve[]>): Figure {
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
