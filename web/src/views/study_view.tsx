// A study: how far it is, what was found, its arms as curves, and the figures of its report.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { fetchFigureNames, fetchGroup, fetchStudy } from '../api/client';
import type { FigureName, Group, Index, RunEntry, Study, StudyArm, StudyEntry } from '../api/types';
import { LineSample } from '../chart/legend';
import { armOrder, BY_ALL, groupRuns } from '../model/grouping';
import { counted, number, printable, step } from '../model/labels';
import { tonesOf, type Tones } from '../model/tones';
import { useChoices } from '../state/choices';
import { runsOf } from '../state/index_data';
import { viewLink, type View } from '../state/location';
import { useManySeries } from '../state/many_series';
import { ChartControls } from './controls';
import { GroupChart } from './group_charts';
import { Missing, Problem, Progress, Status } from './parts';
import { SvgFigure } from './svg_figure';

// Read again whenever `version` says that something has changed.
function useFresh<T>(read: (signal: AbortSignal) => Promise<T>, key: string): { value: T | undefined; problem: Error | undefined } {
  const [state, setState] = useState<{ value: T | undefined; problem: Error | undefined }>({ value: undefined, problem: undefined });
  useEffect(() => {
    const abort = new AbortController();
    read(abort.signal).then((value) => setState({ value, problem: undefined }), (problem: Error) => {
      if (!abort.signal.aborted) setState((old) => ({ ...old, problem }));
    });
    return () => abort.abort();
  }, [key]);
  return state;
}

const LEFT_TO_CHARTS = new Set(['curves', 'aligned', 'seeds']);
const withoutPoint = (name: string): string => name.replace(/-\d+$/, '');

export function StudyView({ view, index }: { view: View; index: Index }): JSX.Element {
  const id = view.values.get('id') ?? '.';
  const choices = useChoices(view);
  const entry = index.entries.find((one): one is StudyEntry => one.kind === 'study' && one.id === id);
  const runs = useMemo(() => runsOf(index).filter((run) => run.study === id), [index, id]);
  const version = `${id} ${runs.map((run) => `${run.id} ${run.updated}`).join(' ')} ${entry?.updated ?? 0}`;
  const study = useFresh((signal) => fetchStudy(id, signal), version);
  const figures = useFresh((signal) => fetchFigureNames(id, signal), `${id} ${entry?.trials_done ?? 0}`);
  const group = useFresh((signal) => fetchGroup(id, {
    column: choices.column, by: choices.aligned ? 'moment' : 'step', point: choices.point,
  }, signal), `${version} ${choices.column ?? ''} ${choices.aligned} ${choices.point ?? ''}`);
  if (entry === undefined) return <main><h1>{id}</h1><p>There is no such study here (any more).</p></main>;
  return (
    <main>
      <p class="crumbs"><a href={viewLink('index')}>Runs</a></p>
      <h1>{id}</h1>
      {entry.question !== null && <p>{printable(entry.question)}</p>}
      <p class="summary">
        <Status status={entry.status} /> <Progress done={entry.trials_done} of={entry.trials} label="trials" />{' '}
        <span>{counted(entry.arms.length, 'arm')}</span>{' '}
        <a href={`/report?id=${encodeURIComponent(id)}`}>the report to send</a>{' '}
        <a href={viewLink('index', { f: `study=${id}` })}>its runs in the list</a>
      </p>
      <Problem problem={study.problem ?? group.problem} />
      <Missing sentences={study.value?.missing ?? []} />
      {group.value && <Curves group={group.value} entry={entry} runs={runs} choices={choices} />}
      {study.value && <Found study={study.value} entry={entry} />}
      <h2>What does the report show?</h2>
      {figures.value?.filter((figure) => !LEFT_TO_CHARTS.has(withoutPoint(figure.name))).map((figure: FigureName) => (
        <SvgFigure key={figure.name} id={id} figure={figure} version={entry.trials_done} />
      ))}
    </main>
  );
}

function Curves(props: {
  group: Group; entry: StudyEntry; runs: readonly RunEntry[]; choices: ReturnType<typeof useChoices>;
}): JSX.Element {
  const { group, entry, choices } = props;
  const tones = useMemo(() => tonesOf(entry), [entry.arms.join('\n'), entry.baseline]);
  const runs = useMemo(() => props.runs.filter((run) => (run.point ?? '') === group.point), [props.runs, group.point]);
  const bySteps = choices.x === 'step';
  const series = useManySeries(runs, group.column, choices.seeds || !bySteps);
  const groups = useMemo(() => groupRuns(runs, BY_ALL, armOrder([entry]))
    .map((one) => ({ ...one, name: one.runs[0]?.arm ?? one.name })), [runs, entry.baseline]);
  const columns = [...new Set([group.column, runs[0]?.metric ?? 'val_accuracy', 'val_loss', 'train_loss'])];
  return (
    <>
      <h2>How do the arms learn?</h2>
      <ChartControls choices={choices} xKinds={['step', 'samples', 'seconds']} columns={columns} column={group.column}
        points={group.points} withGroups />
      <GroupChart choices={choices} column={group.column} tones={tones} series={series} groups={groups}
        group={bySteps ? group : undefined} />
    </>
  );
}

const HEADS: readonly (readonly [string, string])[] = [
  ['arm', ''], ['verdict', 'by the log-rank test against the baseline, corrected over the arms'],
  ['moments', 'runs that had their moment, of all'], ['share [95%]', 'share of runs with a moment'],
  ['median step [95%]', 'half of the runs had their moment by this step (Kaplan-Meier); \u2013: more than half never had one'],
  ['speed-up [95%]', 'ratio of the mean steps to the moment, a run without one counting as the whole budget'],
  ['log-rank p', 'corrected over the arms'], ['final', 'final value of the metric'],
];

// As in the report: as many decimals in each row, and a word for an end beyond what was observed.
const interval = (value: number | null, ends: [number | null, number | null] | null, words: (value: number) => string): string => {
  if (value === null) return '\u2013';
  const [low, high] = ends ?? [null, null];
  return low === null && high === null ? words(value)
    : `${words(value)} [${low === null ? 'sooner' : words(low)}, ${high === null ? 'later' : words(high)}]`;
};
const ratio = (value: number): string => value.toFixed(2);

function Found({ study, entry }: { study: Study; entry: StudyEntry }): JSX.Element | null {
  const arms = study.study?.arms ?? [];
  if (arms.length === 0) return null;
  const tones = tonesOf(entry);
  const points = [...new Set(arms.map((arm) => arm.point ?? ''))];
  return (
    <section>
      <h2>What was found{entry.status === 'finished' ? '' : ' so far'}?</h2>
      {points.map((point) => {
        const here = arms.filter((arm) => (arm.point ?? '') === point);
        return (
          <div key={point}>
            {point !== '' && <h3>At {printable(point)}</h3>}
            <FoundTable arms={here} tones={tones} baseline={entry.baseline} />
            <details open={arms.length <= 15}>
              <summary>In words</summary>
              <ul class="verdicts">{here.map((arm) => <li key={arm.name}>{printable(arm.verdict)}</li>)}</ul>
            </details>
          </div>
        );
      })}
    </section>
  );
}

function FoundTable(props: { arms: readonly StudyArm[]; tones: Tones; baseline: string | null }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="statistics of the arms">
      <table>
        <thead><tr>{HEADS.map(([head, help]) => <th key={head} scope="col" title={help}>{head}</th>)}</tr></thead>
        <tbody>
          {props.arms.map((arm) => (
            <tr key={arm.name} class={arm.name === props.baseline ? 'baseline' : ''}>
              <td><LineSample tone={props.tones.of(arm.name)} />{printable(arm.name)}</td>
              <td>{printable(arm.verdict_kind.replace(/_/g, ' '))}</td>
              <td>{arm.moments}/{arm.n}</td>
              <td>{interval(arm.rate, arm.rate_ci, ratio)}</td>
              <td>{interval(arm.median, arm.median_ci, step)}</td>
              <td>{interval(arm.speedup, arm.speedup_ci, ratio)}</td>
              <td>{number(arm.logrank_p, 2)}</td>
              <td>{arm.final_accuracy === null ? '\u2013' : arm.final_accuracy.toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
