// Curves of groups of runs as a figure: medians with bands, single seeds behind them, at steps or at own moments.
import { arrangement, emptyPanel, type Axis, type Curve, type Figure, type Panel } from './figure';
import { metricLabel, valueAxis } from './labels';
import { medianOf, type Line2 } from './medians';
import { behind, MOMENT, type Tones } from './tones';

// More groups than these are told apart in panels of their own, with the baseline in each.
export const MOST_IN_ONE_PANEL = 6;

export interface ShownRun extends Line2 {
  name: string;
  moment: number | null; // in the unit of x
}

export interface ShownGroup {
  name: string;
  isBaseline: boolean;
  runs: ShownRun[];
  median?: { x: number[]; y: readonly (number | null)[]; low: readonly (number | null)[] | null; high: readonly (number | null)[] | null };
}

export interface GroupFigureWishes {
  column: string;
  xLabel: string;
  aligned: boolean;
  seeds: boolean;
  reach?: number; // around the moment
}

const shifted = (run: ShownRun): ShownRun =>
  ({ ...run, x: run.x.map((x) => x - (run.moment ?? 0)), moment: run.moment === null ? null : 0 });

function curvesOf(group: ShownGroup, wishes: GroupFigureWishes, tones: Tones): Curve[] {
  const tone = tones.of(group.name);
  const runs = wishes.aligned ? group.runs.filter((run) => run.moment !== null).map(shifted) : group.runs;
  const curves: Curve[] = runs.length > 1 || group.median
    ? runs.filter((run) => run.x.length > 0).map((run) => ({ name: group.name, tone: behind(tone), x: run.x, y: run.y, single: true }))
    : [];
  if (group.median && group.median.x.length > 0) {
    const { x, y, low, high } = group.median;
    curves.push({ name: group.name, tone, x, y, ...(low && high ? { band: { x, low, high } } : {}) });
  } else if (!group.median && runs.length > 0) {
    const median = medianOf(runs);
    curves.push({ name: group.name, tone, ...median });
  }
  return curves;
}

export function groupFigure(groups: readonly ShownGroup[], wishes: GroupFigureWishes, tones: Tones): Figure {
  const { reach } = wishes;
  const x: Axis = reach === undefined ? { label: wishes.xLabel } : { label: wishes.xLabel, low: -reach, high: reach };
  const shown = groups.map((group) => ({ group, curves: curvesOf(group, wishes, tones) }))
    .filter((one) => one.curves.length > 0);
  const panelWith = (title: string): Panel => {
    const panel = emptyPanel(x, valueAxis(wishes.column), title);
    if (wishes.aligned) panel.lines.push({ at: 0, vertical: true, tone: MOMENT, name: 'moment' });
    return panel;
  };
  const panels: Panel[] = [];
  if (shown.length <= MOST_IN_ONE_PANEL) {
    const panel = panelWith('');
    panel.curves = shown.flatMap((one) => one.curves);
    panels.push(panel);
  } else {
    const baseline = shown.find((one) => one.group.isBaseline);
    for (const one of shown) {
      if (one === baseline) continue;
      const panel = panelWith(one.group.name);
      panel.curves = [...(baseline?.curves ?? []), ...one.curves];
      panels.push(panel);
    }
  }
  const ofOneEach = shown.every((one) => one.group.runs.length <= 1);
  const what = metricLabel(wishes.column).replace(/ \(.*\)$/, '');
  return {
    name: wishes.aligned ? 'aligned' : 'curves',
    title: wishes.aligned ? 'Is the rise itself the same, once each run is set on its own moment?'
      : ofOneEach ? `How does ${what} go in each run?` : `How does ${what} go, group by group?`,
    caption: (ofOneEach ? 'One line for each run.' : 'Lines: median over the runs; bands: the middle half of them. A run that has ended counts with its last value from then on.') +
      (wishes.aligned ? ' Runs without a moment are left out.' : '') +
      (wishes.seeds ? ' Thin lines: single runs.' : ''),
    ...arrangement(panels.length),
    panels,
  };
}
