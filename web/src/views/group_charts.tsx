// Curves of groups of runs: of the arms of a study, or of what was chosen in the list.
import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';
import type { Group, RunEntry } from '../api/types';
import { FigureView } from '../chart/figure_view';
import { legendOf } from '../chart/legend_entries';
import { groupFigure, type ShownGroup, type ShownRun } from '../model/group_figure';
import type { RunGroup } from '../model/grouping';
import { quantile } from '../model/medians';
import type { Tones } from '../model/tones';
import { xUnit, type XUnit } from '../model/x_axis';
import { setZoom, toggleCurve, type ViewChoices } from '../state/choices';
import type { ManySeries } from '../state/many_series';
import { Problem } from './parts';

const STEPS = xUnit('step', null, undefined) as XUnit;

// From single series: any grouping, any unit.
function shownFromSeries(groups: readonly RunGroup[], series: ManySeries, choices: ViewChoices): { groups: ShownGroup[]; unit: XUnit } {
  let shownUnit = STEPS;
  const shownRun = (run: RunEntry): ShownRun | undefined => {
    const found = series.of.get(run.id);
    const unit = found && xUnit(choices.x, found.samplesPerStep, found.clock);
    if (found === undefined || unit === undefined) return undefined;
    shownUnit = unit;
    return { name: run.id, x: found.x.map(unit.of), y: found.y, moment: run.moment === null ? null : unit.of(run.moment) };
  };
  const shown = groups.map((group) => ({
    name: group.name,
    isBaseline: group.isBaseline,
    runs: group.runs.map(shownRun).filter((run) => run !== undefined),
  }));
  return { groups: shown, unit: shownUnit };
}

// Medians as the server has worked them out.
function shownFromGroup(group: Group, series: ManySeries): ShownGroup[] {
  return group.arms.map((arm) => ({
    name: arm.name,
    isBaseline: arm.baseline,
    median: { x: arm.x, y: arm.median, low: arm.low, high: arm.high },
    runs: arm.runs.map((run) => {
      const found = series.of.get(run.id);
      return { name: run.id, x: found?.x ?? [], y: found?.y ?? [], moment: run.moment };
    }),
  }));
}

// As far to either side of the moment as half of what it took to get there.
function reachOf(groups: readonly ShownGroup[]): number | undefined {
  const moments = groups.flatMap((group) => group.runs.map((run) => run.moment).filter((moment) => moment !== null));
  moments.sort((a, b) => a - b);
  return moments.length === 0 ? undefined : Math.max(1, quantile(moments, 0.5) / 2);
}

export function GroupChart(props: {
  choices: ViewChoices;
  column: string;
  tones: Tones;
  series: ManySeries;
  groups: readonly RunGroup[];
  group?: Group | undefined;
}): JSX.Element {
  const { choices, column, tones, series, group, groups } = props;
  const figure = useMemo(() => {
    const found = group ? { groups: shownFromGroup(group, series), unit: STEPS } : shownFromSeries(groups, series, choices);
    const reach = choices.aligned ? reachOf(found.groups) : undefined;
    return groupFigure(found.groups, {
      column,
      xLabel: choices.aligned ? `${found.unit.after} after the run's own moment` : found.unit.label,
      aligned: choices.aligned,
      seeds: choices.seeds,
      ...(reach === undefined ? {} : { reach }),
    }, tones);
  }, [choices.aligned, choices.seeds, choices.x, column, series, group, groups, tones]);
  const isEmpty = figure.panels.every((panel) => panel.curves.length === 0);
  if (isEmpty)
    return (
      <>
        <Problem problem={series.problem} />
        {series.isComplete && <p class="muted">{choices.aligned ? 'None of these runs has had a moment: there is nothing to set them on.' : 'No curves here yet.'}</p>}
        {!series.isComplete && <p class="muted">Reading the curves…</p>}
      </>
    );
  return (
    <>
      <Problem problem={series.problem} />
      <FigureView figure={figure} choices={choices} group="groups" onZoom={setZoom}
        onToggle={(name, alone) => toggleCurve(choices.hidden, name, alone, legendOf(figure).filter((one) => one.isCurve).map((one) => one.name))} />
    </>
  );
}
