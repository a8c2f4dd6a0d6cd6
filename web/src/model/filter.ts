// Which runs are meant: words that stand somewhere in a run, and conditions on options.
//
//   cures qk                       both words
//   attention.rule=softmax         the option has this value; a part of its name is enough: rule=softmax
//   status!=finished  lr>0.001     other comparisons; numbers are compared as numbers
import type { RunEntry } from '../api/types';

interface Condition {
  key: string;
  how: '=' | '!=' | '<' | '>' | '<=' | '>=';
  value: string;
}

export type Filter = (run: RunEntry) => boolean;

// A field of its own first, then the option of this name, or the one that ends in it.
export function fieldOf(run: RunEntry, key: string): string | undefined {
  const own: Record<string, string | number | null> = {
    id: run.id, study: run.study, arm: run.arm, point: run.point, task: run.task, rule: run.rule, seed: run.seed,
    status: run.status, engine: run.engine, best: run.best, last: run.last, moment: run.moment, step: run.step,
  };
  if (Object.hasOwn(own, key)) return own[key] === null ? undefined : String(own[key]);
  if (Object.hasOwn(run.options, key)) return run.options[key];
  const found = Object.keys(run.options).find((name) => name.endsWith(`.${key}`));
  return found === undefined ? undefined : run.options[found];
}

function holds(condition: Condition, run: RunEntry): boolean {
  const value = fieldOf(run, condition.key);
  if (condition.how === '!=') return value !== condition.value && Number(value) !== Number(condition.value);
  if (value === undefined) return condition.value === '' && condition.how === '=';
  const [a, b] = [Number(value), Number(condition.value)];
  const areNumbers = condition.value !== '' && value !== '' && !Number.isNaN(a) && !Number.isNaN(b);
  switch (condition.how) {
    case '=':
      return value === condition.value || (areNumbers && a === b);
    case '<':
      return areNumbers && a < b;
    case '>':
      return areNumbers && a > b;
    case '<=':
      return areNumbers && a <= b;
    default:
      return areNumbers && a >= b;
  }
}

const textOf = (run: RunEntry): string =>
  [run.id, run.task, run.rule, run.status, run.arm, run.point, ...Object.values(run.options)].join('\n').toLowerCase();

export function parseFilter(text: string): Filter {
  const words: string[] = [];
  const conditions: Condition[] = [];
  for (const part of text.split(/\s+/).filter((one) => one !== '')) {
    const found = /^([A-Za-z0-9_.]+)(!=|<=|>=|=|<|>)(.*)$/.exec(part);
    if (found) conditions.push({ key: found[1] ?? '', how: (found[2] ?? '=') as Condition['how'], value: found[3] ?? '' });
    else words.push(part.toLowerCase());
  }
  return (run) => {
    if (!conditions.every((condition) => holds(condition, run))) return false;
    if (words.length === 0) return true;
    const all = textOf(run);
    return words.every((word) => all.includes(word));
  };
}
