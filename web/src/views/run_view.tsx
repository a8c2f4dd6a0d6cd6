// One run: its curves as they grow, what was found, its settings.
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { Run } from '../api/types';
import { FigureView } from '../chart/figure_view';
import { legendOf } from '../chart/legend_entries';
import type { Figure } from '../model/figure';
import { number, printable, step } from '../model/labels';
import {
  columnsOf, diagnosticFigure, diagnosticNames, lossFigure, metricFigure, otherFigure,
} from '../model/run_figures';
import { xUnit, type XUnit } from '../model/x_axis';
import { setZoom, toggleCurve, useChoices, type ViewChoices, type XKind } from '../state/choices';
import { viewLink, type View } from '../state/location';
import { RunStore } from '../state/run_store';
import { ChartControls } from './controls';
import { Facts, Missing, Problem, Progress, Status } from './parts';

function useStore(id: string): RunStore | undefined {
  const store = useRef<RunStore>();
  const [, changed] = useReducer((n: number) => n + 1, 0);
  useEffect(() => {
    const made = new RunStore(id, () => changed(undefined));
    store.current = made;
    return () => {
      made.close();
      store.current = undefined;
    };
  }, [id]);
  return store.current?.id === id ? store.current : undefined;
}

export function RunView({ view }: { view: View }): JSX.Element {
  const id = view.values.get('id') ?? '.';
  const store = useStore(id);
  const choices = useChoices(view);
  const run = store?.run;
  if (store === undefined || run === undefined)
    return <main><h1>{id}</h1><Problem problem={store?.problem} />{store?.problem === undefined && <p class="muted">Reading the run…</p>}</main>;
  const kinds = (['step', 'samples', 'seconds'] as XKind[]).filter((kind) => xUnit(kind, store.samplesPerStep, store.clock));
  const unit = xUnit(choices.x, store.samplesPerStep, store.clock) ?? (xUnit('step', null, undefined) as XUnit);
  return (
    <main>
      <p class="crumbs"><a href={viewLink('index')}>Runs</a>{run.entry.study !== null && <> › <a href={viewLink('study', { id: run.entry.study })}>{run.entry.study}</a></>}</p>
      <h1>{id}</h1>
      <Summary run={run} />
      <Problem problem={store.problem} />
      <Missing sentences={run.missing} />
      <h2>How does it learn?</h2>
      <ChartControls choices={choices} xKinds={kinds} />
      <RunFigures run={run} store={store} unit={unit} choices={choices} />
      <Diagnostics run={run} store={store} unit={unit} choices={choices} open={view.values.getAll('see')} />
      <Events run={run} />
      <details>
        <summary>Every setting of the run</summary>
        <Facts facts={Object.entries(run.config)} />
      </details>
    </main>
  );
}

function Summary({ run }: { run: Run }): JSX.Element {
  const { entry } = run;
  return (
    <p class="summary">
      <Status status={entry.status} /> <Progress done={entry.step} of={entry.steps} label="steps" {...(entry.stopped_at_moment ? { note: 'stopped at its moment' } : {})} />{' '}
      <span>{entry.task ?? '?'} · {entry.rule ?? '?'} · seed {entry.seed ?? '?'}</span>{' '}
      <span>best {number(entry.best, 3)}, last {number(entry.last, 3)}</span>{' '}
      <span>{entry.moment === null ? `no moment${entry.status === 'running' ? ' so far' : ''}` : <strong>moment at step {step(entry.moment)}</strong>}</span>
    </p>
  );
}

interface Shown {
  run: Run;
  store: RunStore;
  unit: XUnit;
  choices: ViewChoices;
}

function Figures(props: { figures: readonly (Figure | undefined)[]; choices: ViewChoices }): JSX.Element {
  const { choices } = props;
  return (
    <>
      {props.figures.map((figure) => figure && (
        <FigureView key={figure.name} figure={figure} choices={choices} group="run" onZoom={setZoom}
          onToggle={(name, alone) => toggleCurve(choices.hidden, name, alone, legendOf(figure).filter((one) => one.isCurve).map((one) => one.name))} />
      ))}
    </>
  );
}

function RunFigures({ run, store, unit, choices }: Shown): JSX.Element {
  const figures = [metricFigure(run, store.columns, unit), lossFigure(run, store.columns, unit), otherFigure(run, store.columns, unit)];
  if (figures.every((figure) => figure === undefined)) return <p class="muted">No curve yet: it appears with the first evaluation.</p>;
  return <Figures figures={figures} choices={choices} />;
}

function Diagnostics(props: Shown & { open: readonly string[] }): JSX.Element | null {
  const names = diagnosticNames(props.run);
  if (names.length === 0) return null;
  return (
    <section>
      <h2>What do the diagnostics see?</h2>
      {names.map((name) => <Diagnostic key={name} name={name} {...props} isOpen={props.open.includes(name)} />)}
    </section>
  );
}

function Diagnostic(props: Shown & { name: string; isOpen: boolean }): JSX.Element {
  const { run, store, unit, choices, name } = props;
  const [isOpen, setOpen] = useState(props.isOpen);
  const columns = useMemo(() => columnsOf(run, name).map((column) => column.name), [run.columns.length, name]);
  useEffect(() => {
    if (isOpen) void store.want(columns);
  }, [isOpen, columns]);
  const figure = isOpen ? diagnosticFigure(run, store.columns, unit, name) : undefined;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{printable(name)} <span class="muted">({columns.length} numbers)</span></summary>
      {isOpen && (figure ? <Figures figures={[figure]} choices={choices} /> : <p class="muted">Reading…</p>)}
    </details>
  );
}

const DETAILS = ['at', 'from', 'to', 'start', 'end', 'level', 'score', 'of', 'stage'];

function Events({ run }: { run: Run }): JSX.Element | null {
  if (run.events.length === 0) return null;
  return (
    <details>
      <summary>What happened when ({run.events.length})</summary>
      <div class="scroll" tabIndex={0} role="group" aria-label="events">
        <table class="left">
          <thead><tr><th scope="col">seen at step</th><th scope="col">event</th><th scope="col">details</th></tr></thead>
          <tbody>
            {run.events.map((event, i) => (
              <tr key={i}>
                <td>{String(event['step'] ?? '')}</td>
                <td>{printable(String(event['event'] ?? ''))}</td>
                <td>{DETAILS.filter((key) => key in event).map((key) => `${key} ${text(event[key])}`).join(', ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

const text = (value: unknown): string => (typeof value === 'number' ? number(value) : printable(String(value)));
