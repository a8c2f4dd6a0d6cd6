// The list: studies, then runs, filtered and grouped.
import { useMemo, useRef, useState } from 'preact/hooks';
import type { JSX, RefObject } from 'preact';
import type { Index, RunEntry, StudyEntry } from '../api/types';
import { parseFilter } from '../model/filter';
import { BY_ALL, BY_NONE, groupRuns, type RunGroup } from '../model/grouping';
import { age, counted, number, printable, step } from '../model/labels';
import { quantile } from '../model/medians';
import { ordersOf, runsOf, studiesOf } from '../state/index_data';
import { useKeys } from '../state/keys';
import { choose, viewLink, type View } from '../state/location';
import { groupingChoices } from './compare_view';
import { Select } from './controls';
import { Missing, Progress, Status } from './parts';

const MOST_ROWS = 400; // of runs at once

export function IndexView({ view, index }: { view: View; index: Index }): JSX.Element {
  const filterText = view.values.get('f') ?? '';
  const by = view.values.get('by') ?? BY_ALL;
  const filterField = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const runs = useMemo(() => runsOf(index), [index]);
  const shown = useMemo(() => runs.filter(parseFilter(filterText)), [runs, filterText]);
  const groups = useMemo(() => groupRuns(shown, by, ordersOf(index)), [shown, by]);
  const chooseRuns = (ids: readonly string[], on: boolean): void => {
    const next = new Set(chosen);
    for (const id of ids) if (on) next.add(id); else next.delete(id);
    setChosen(next);
  };
  const compare = (): void => {
    if (chosen.size > 0) location.hash = viewLink('compare', { id: [...chosen], ...(by === BY_ALL ? {} : { by }) });
    else if (filterText !== '') location.hash = viewLink('compare', { f: filterText, ...(by === BY_ALL ? {} : { by }) });
  };
  useKeys([
    { key: '/', run: () => filterField.current?.focus() },
    { key: 'c', run: compare },
    { key: 'j', run: () => moveFocus(1) },
    { key: 'k', run: () => moveFocus(-1) },
    { key: 'x', run: clickChoice },
  ]);
  const studies = studiesOf(index).filter((study) => filterText === '' || shown.some((run) => run.study === study.id));
  return (
    <main>
      <h1>{printable(index.root)}</h1>
      <Missing sentences={index.missing} />
      {index.entries.length === 0 && <p>There is no run and no study below this directory yet. <code>eureka train</code> and <code>eureka study</code> make some, and they appear here.</p>}
      {studies.length > 0 && <Studies studies={studies} now={index.time} />}
      {runs.length > 0 && (
        <section>
          <h2>Runs</h2>
          <Controls field={filterField} text={filterText} by={by} runs={runs} shown={shown.length} chosen={chosen.size} compare={compare} clear={() => setChosen(new Set())} />
          <Groups groups={groups} single={by === BY_NONE} chosen={chosen} choose={chooseRuns} now={index.time} />
        </section>
      )}
    </main>
  );
}

// Along the links of the list, from row to row.
function moveFocus(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter((row) => row.offsetParent !== null);
  const at = rows.findIndex((row) => row === document.activeElement || row.closest('tr')?.contains(document.activeElement));
  rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus();
}

function clickChoice(): void {
  document.activeElement?.closest('tr')?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
}

function Controls(props: {
  field: RefObject<HTMLInputElement>; text: string; by: string; runs: readonly RunEntry[]; shown: number; chosen: number;
  compare(): void; clear(): void;
}): JSX.Element {
  return (
    <div class="controls" role="group" aria-label="list of runs">
      <label class="filter">
        <span>filter</span>
        <input ref={props.field} type="search" value={props.text} placeholder="words, rule=softmax, lr>0.001"
          spellcheck={false} onInput={(event) => choose({ f: event.currentTarget.value })}
          onKeyDown={(event) => { if (event.key === 'Escape') event.currentTarget.blur(); }} />
      </label>
      <Select label="group by" value={props.by} set={(value) => choose({ by: value === BY_ALL ? undefined : value })} of={groupingChoices(props.runs)} />
      <span class="muted" role="status">{props.shown} of {counted(props.runs.length, 'run')}</span>
      <button type="button" disabled={props.chosen === 0 && props.text === ''} onClick={props.compare}>
        {props.chosen > 0 ? `Compare ${counted(props.chosen, 'run')}` : 'Compare what is listed'}
      </button>
      {props.chosen > 0 && <button type="button" onClick={props.clear}>Clear</button>}
    </div>
  );
}

function Studies({ studies, now }: { studies: readonly StudyEntry[]; now: number }): JSX.Element {
  return (
    <section>
      <h2>Studies</h2>
      <div class="scroll" tabIndex={0} role="group" aria-label="studies">
        <table class="left list">
          <thead><tr><th scope="col">study</th><th scope="col">question</th><th scope="col">status</th><th scope="col">trials</th><th scope="col">changed</th></tr></thead>
          <tbody>
            {studies.map((study) => (
              <tr key={study.id}>
                <td><a data-row href={viewLink('study', { id: study.id })}>{study.id}</a></td>
                <td class="wide">{printable(study.question ?? '')}</td>
                <td><Status status={study.status} /></td>
                <td><Progress done={study.trials_done} of={study.trials} label={`trials of ${study.id}`} /></td>
                <td>{age(now - study.updated)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Groups(props: {
  groups: readonly RunGroup[]; single: boolean; chosen: ReadonlySet<string>; now: number;
  choose(ids: readonly string[], on: boolean): void;
}): JSX.Element {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string): void => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  let rows = 0;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="runs">
      <table class="left list">
        <thead>
          <tr>
            <th scope="col"><span class="unseen">choose</span></th><th scope="col">{props.single ? 'run' : 'group'}</th>
            <th scope="col">status</th><th scope="col">steps</th><th scope="col">moment (step)</th><th scope="col">last</th><th scope="col">best</th><th scope="col">changed</th>
          </tr>
        </thead>
        <tbody>
          {props.groups.map((group) => {
            const isSingle = group.runs.length === 1;
            const isOpen = open.has(group.key) && !isSingle;
            rows += 1 + (isOpen ? group.runs.length : 0);
            if (rows > MOST_ROWS) return null;
            return [
              isSingle ? null : <GroupRow key={group.key} group={group} isOpen={isOpen} toggle={() => toggle(group.key)} chosen={props.chosen} choose={props.choose} now={props.now} />,
              ...(isSingle || isOpen ? group.runs : []).map((run) => (
                <RunRow key={run.id} run={run} name={isSingle && !props.single && group.name !== run.id ? `${group.name} (${run.id})` : run.id} isInside={!isSingle}
                  isChosen={props.chosen.has(run.id)} choose={props.choose} now={props.now} />
              )),
            ];
          })}
        </tbody>
      </table>
      {rows > MOST_ROWS && <p class="muted">Only the first {MOST_ROWS} rows are listed: a filter shows the others.</p>}
    </div>
  );
}

const sorted = (values: readonly (number | null)[]): number[] =>
  values.filter((value) => value !== null).sort((a, b) => a - b);
const middle = (values: readonly number[]): number | null => (values.length === 0 ? null : quantile(values, 0.5));

function GroupRow(props: {
  group: RunGroup; isOpen: boolean; toggle(): void; chosen: ReadonlySet<string>; choose(ids: readonly string[], on: boolean): void; now: number;
}): JSX.Element {
  const { runs, name, isBaseline } = props.group;
  const moments = sorted(runs.map((run) => run.moment));
  const statuses = new Map<string, number>();
  for (const run of runs) statuses.set(run.status, (statuses.get(run.status) ?? 0) + 1);
  const ids = runs.map((run) => run.id);
  // Of a run that stopped at its moment no step is still to come.
  const planned = (run: RunEntry): number | null => (run.stopped_at_moment ? run.step : run.steps);
  const total = runs.every((run) => planned(run) !== null) ? runs.reduce((sum, run) => sum + (planned(run) ?? 0), 0) : null;
  const stopped = runs.filter((run) => run.stopped_at_moment).length;
  return (
    <tr class={isBaseline ? 'group baseline' : 'group'}>
      <td><input type="checkbox" aria-label={`choose ${name}`} checked={ids.every((id) => props.chosen.has(id))}
        onChange={(event) => props.choose(ids, event.currentTarget.checked)} /></td>
      <td><button type="button" class="fold" data-row aria-expanded={props.isOpen} onClick={props.toggle}>{printable(name)}</button> <span class="muted">{counted(runs.length, 'run')}</span></td>
      <td>{[...statuses].map(([status, count]) => <span key={status} class="counted">{statuses.size > 1 && `${count} `}<Status status={status} /></span>)}</td>
      <td><Progress done={runs.reduce((sum, run) => sum + (run.step ?? 0), 0)} of={total} label={`steps of ${name}`}
        {...(stopped > 0 && runs.every((run) => run.status === 'finished') ? { note: stopped === runs.length ? 'at their moments' : `${stopped} at their moment${stopped === 1 ? '' : 's'}` } : {})} /></td>
      <td>{moments.length === 0 ? `none in ${runs.length}` : `${step(middle(moments))} (${moments.length} of ${runs.length})`}</td>
      <td>{number(middle(sorted(runs.map((run) => run.last))), 3)}</td>
      <td>{number(middle(sorted(runs.map((run) => run.best))), 3)}</td>
      <td>{age(props.now - Math.max(...runs.map((run) => run.updated)))}</td>
    </tr>
  );
}

function RunRow(props: {
  run: RunEntry; name: string; isInside: boolean; isChosen: boolean; now: number; choose(ids: readonly string[], on: boolean): void;
}): JSX.Element {
  const { run } = props;
  return (
    <tr class={props.isInside ? 'inside' : ''}>
      <td><input type="checkbox" aria-label={`choose ${run.id}`} checked={props.isChosen}
        onChange={(event) => props.choose([run.id], event.currentTarget.checked)} /></td>
      <td><a data-row href={viewLink('run', { id: run.id })}>{printable(props.name)}</a></td>
      <td><Status status={run.status} />{run.damaged && <span class="muted"> damaged</span>}</td>
      <td><Progress done={run.step} of={run.steps} label={`steps of ${run.id}`} {...(run.stopped_at_moment ? { note: 'at its moment' } : {})} /></td>
      <td>{run.moment === null ? 'none' : step(run.moment)}</td>
      <td>{number(run.last, 3)}</td>
      <td>{number(run.best, 3)}</td>
      <td>{age(props.now - run.updated)}</td>
    </tr>
  );
}
