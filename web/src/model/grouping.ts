// Runs that belong together: by default those that differ in nothing but the seed.
import type { RunEntry, StudyEntry } from '../api/types';
import { fieldOf } from './filter';

export interface RunGroup {
  key: string;
  name: string;
  runs: RunEntry[];
  isBaseline: boolean;
}

export const BY_ALL = 'all';
export const BY_NONE = 'none';
const FIELDS = ['study', 'arm', 'task', 'rule', 'status', 'engine'];

// What can be grouped by, for these runs.
export function groupings(runs: readonly RunEntry[]): string[] {
  const keys = new Set<string>();
  for (const run of runs) for (const key of Object.keys(run.options)) keys.add(key);
  return [...FIELDS, ...[...keys].filter((key) => new Set(runs.map((run) => run.options[key])).size > 1).sort()];
}

const settingsOf = (run: RunEntry): string => JSON.stringify(Object.entries(run.options).sort());

function keyOf(run: RunEntry, by: string): string {
  if (by === BY_NONE) return run.id;
  if (by !== BY_ALL) return fieldOf(run, by) ?? '';
  return run.study === null ? `\n${settingsOf(run)}` : `${run.study}\n${run.arm ?? ''}\n${run.point ?? ''}`;
}

// Settings that tell groups of the same task and rule apart.
function telling(groups: readonly RunGroup[]): Map<string, string[]> {
  const blocks = new Map<string, RunEntry[]>();
  for (const { runs: [run] } of groups)
    if (run && run.study === null) {
      const block = `${run.task} ${run.rule}`;
      blocks.set(block, [...(blocks.get(block) ?? []), run]);
    }
  const found = new Map<string, string[]>();
  for (const [block, runs] of blocks) found.set(block, groupings(runs).filter((key) => key.includes('.')));
  return found;
}

function nameOf(run: RunEntry, by: string, isOneStudy: boolean, keys: ReadonlyMap<string, string[]>): string {
  if (by === BY_NONE) return run.id;
  if (by !== BY_ALL) return fieldOf(run, by) ?? `no ${by}`;
  if (run.study !== null) {
    const arm = [run.arm ?? '?', run.point].filter(Boolean).join(' at ');
    return isOneStudy ? arm : `${run.study} / ${arm}`;
  }
  const block = `${run.task} ${run.rule}`;
  const settings = (keys.get(block) ?? []).map((key) => `${key.split('.').slice(-2).join('.')}=${run.options[key] ?? ''}`);
  return [`${run.task ?? '?'} \u00b7 ${run.rule ?? '?'}`, ...settings].join(', ');
}

// The arms of each study, the baseline first.
export type ArmOrder = ReadonlyMap<string, readonly string[]>;

export const armOrder = (studies: readonly StudyEntry[]): ArmOrder =>
  new Map(studies.map((study) => {
    const others = study.arms.filter((arm) => arm !== study.baseline);
    return [study.id, study.baseline === null ? others : [study.baseline, ...others]];
  }));

function rank(run: RunEntry | undefined, order: ArmOrder): number {
  const arms = run?.study === null || run === undefined ? undefined : order.get(run.study);
  const at = arms?.indexOf(run?.arm ?? '') ?? -1;
  return at < 0 ? Infinity : at;
}

// Those of a study stand together, in its order.
function inOrder(groups: RunGroup[], order: ArmOrder): RunGroup[] {
  const studyOf = (group: RunGroup): string => group.runs[0]?.study ?? '';
  const studies = [...new Set(groups.map(studyOf))];
  return groups.map((group, i) => ({ group, i })).sort((a, b) =>
    studies.indexOf(studyOf(a.group)) - studies.indexOf(studyOf(b.group)) ||
    compared(rank(a.group.runs[0], order), rank(b.group.runs[0], order)) || a.i - b.i).map(({ group }) => group);
}

const compared = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

export function groupRuns(runs: readonly RunEntry[], by: string, order: ArmOrder): RunGroup[] {
  const groups = new Map<string, RunGroup>();
  for (const run of runs) {
    const key = keyOf(run, by);
    const group = groups.get(key) ?? { key, name: '', runs: [], isBaseline: false };
    group.runs.push(run);
    groups.set(key, group);
  }
  const isOneStudy = new Set(runs.map((run) => run.study)).size === 1;
  const keys = by === BY_ALL ? telling([...groups.values()]) : new Map<string, string[]>();
  for (const group of groups.values()) {
    const [first] = group.runs;
    if (first === undefined) continue;
    group.name = nameOf(first, by, isOneStudy, keys);
    group.isBaseline = group.runs.every((run) => run.study !== null && run.arm !== null && order.get(run.study)?.[0] === run.arm) &&
      (by === BY_ALL || by === 'arm');
    group.runs.sort((a, b) => (a.seed ?? 0) - (b.seed ?? 0) || a.id.localeCompare(b.id));
  }
  return by === BY_ALL || by === 'arm' ? inOrder([...groups.values()], order) : [...groups.values()];
}
