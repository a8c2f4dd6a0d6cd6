// Chosen runs in the same charts, grouped as in the list.
import { useMemo } from 'preact/hooks';
import type { JSX } from 'preact';
import type { Index, RunEntry, StudyEntry } from '../api/types';
import { parseFilter } from '../model/filter';
import { BY_ALL, BY_NONE, groupings, groupRuns, type RunGroup } from '../model/grouping';
import { counted, printable, step } from '../model/labels';
import { LineSample } from '../chart/legend';
import { Tones, tonesOf } from '../model/tones';
import { useChoices, type ViewChoices } from '../state/choices';
import { ordersOf, runsOf } from '../state/index_data';
import { choose, viewLink, type View } from '../state/location';
import { useManySeries } from '../state/many_series';
import { ChartControls, Select } from './controls';
import { GroupChart } from './group_charts';

export const groupingChoices = (runs: readonly RunEntry[]): [string, string][] => [
  [BY_ALL, 'everything but the seed'], [BY_NONE, 'nothing: single runs'],
  ...groupings(runs).map((key): [string, string] => [key, key]),
];

// Those that were chosen one by one, and those that a filter means.
function chosenRuns(index: Index, view: View): RunEntry[] {
  const ids = new Set(view.values.getAll('id'));
  const filter = view.values.get('f');
  const holds = filter === null ? () => false : parseFilter(filter);
  return runsOf(index).filter((run) => ids.has(run.id) || holds(run));
}

function onlyStudy(runs: readonly RunEntry[], index: Index): StudyEntry | undefined {
  const [id, ...others] = new Set(runs.map((run) => run.study));
  return others.length > 0 ? undefined : index.entries.find((one): one is StudyEntry => one.kind === 'study' && one.id === id);
}

export function CompareView({ view, index }: { view: View; index: Index }): JSX.Element {
  const choices = useChoices(view);
  const runs = useMemo(() => chosenRuns(index, view), [index, view.values.toString()]);
  const by = view.values.get('by') ?? BY_ALL;
  const groups = useMemo(() => groupRuns(runs, by, ordersOf(index)), [runs, by]);
  const tones = useMemo(() => {
    const study = by === BY_ALL || by === 'arm' ? onlyStudy(runs, index) : undefined;
    const made = study ? tonesOf(study) : new Tones(groups.find((group) => group.isBaseline)?.name);
    groups.forEach((group) => made.of(group.name));
    return made;
  }, [groups.map((group) => group.name).join('\n')]);
  if (runs.length === 0)
    return <main><h1>Nothing chosen</h1><p>Choose runs in <a href={viewLink('index')}>the list</a>.</p></main>;
  const metrics = [...new Set(runs.map((run) => run.metric ?? 'val_accuracy'))];
  const columns = [...new Set([...metrics, 'val_loss', 'train_loss'])];
  const shown = choices.column === undefined ? [metrics[0] ?? 'val_accuracy', 'val_loss'] : [choices.column];
  return (
    <main>
      <p class="crumbs"><a href={viewLink('index', { f: view.values.get('f') ?? '' })}>Runs</a></p>
      <h1>{counted(runs.length, 'run')} side by side</h1>
      <h2>How do they learn?</h2>
      <div class="controls" role="group" aria-label="groups">
        <Select label="group by" value={by} set={(value) => choose({ by: value === BY_ALL ? undefined : value, hide: undefined })} of={groupingChoices(runs)} />
      </div>
      <ChartControls choices={choices} xKinds={['step', 'samples', 'seconds']} columns={columns} column={shown[0] ?? ''} withGroups />
      {shown.map((column) => <OneColumn key={column} column={column} runs={runs} groups={groups} tones={tones} choices={choices} />)}
      <Differences groups={groups} tones={tones} />
    </main>
  );
}

function OneColumn(props: {
  column: string; runs: readonly RunEntry[]; groups: readonly RunGroup[]; tones: Tones; choices: ViewChoices;
}): JSX.Element {
  const series = useManySeries(props.runs, props.column, true);
  return <GroupChart choices={props.choices} column={props.column} tones={props.tones} series={series} groups={props.groups} />;
}

// In what the groups differ, setting by setting.
function Differences({ groups, tones }: { groups: readonly RunGroup[]; tones: Tones }): JSX.Element {
  const firsts = groups.map((group) => group.runs[0]).filter((run) => run !== undefined);
  const keys = groupings(firsts).filter((key) => key.includes('.'));
  return (
    <section>
      <h2>In what do they differ?</h2>
      <div class="scroll" tabIndex={0} role="group" aria-label="settings">
        <table class="left">
          <thead><tr><th scope="col">group</th><th scope="col">runs</th><th scope="col">moments</th>{keys.map((key) => <th key={key} scope="col">{key}</th>)}</tr></thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.key} class={group.isBaseline ? 'baseline' : ''}>
                <td><LineSample tone={tones.of(group.name)} />{printable(group.name)}</td>
                <td>{group.runs.map((run, i) => <span key={run.id}>{i > 0 && ', '}<a href={viewLink('run', { id: run.id })}>{run.seed ?? run.id}</a></span>)}</td>
                <td>{group.runs.map((run) => step(run.moment)).join(', ')}</td>
                {keys.map((key) => <td key={key}>{printable(group.runs[0]?.options[key] ?? '\u2013')}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
