// Small pieces that several views share.
import type { JSX } from 'preact';
import { ApiError } from '../api/client';
import { printable } from '../model/labels';

const WORDS: Record<string, string> = {
  running: '\u25b6', finished: '\u2713', diverged: '\u2717', interrupted: '\u23f8', failed: '\u2717', incomplete: '\u2026',
};

export function Status({ status }: { status: string }): JSX.Element {
  return <span class={`status ${status in WORDS ? status : 'unknown'}`}><span aria-hidden="true">{WORDS[status] ?? '?'}</span> {status}</span>;
}

// What it took, where it took less than planned, with the reason.
export function Progress(props: { done: number | null; of: number | null; label: string; note?: string }): JSX.Element {
  const { done, note } = props;
  const of = note === undefined ? props.of : done;
  return (
    <span class="progress">
      <progress max={of ?? 1} value={Math.min(done ?? 0, of ?? 1)} aria-label={props.label} />
      <span>{done === null ? '\u2013' : Math.round(done)}{note !== undefined ? `, ${note}` : of === null ? '' : ` of ${of}`}</span>
    </span>
  );
}

export function Problem({ problem }: { problem: Error | undefined }): JSX.Element | null {
  if (problem === undefined) return null;
  const hint = problem instanceof ApiError && problem.hint !== '' ? ` (${problem.hint})` : '';
  return <p class="problems" role="alert">{printable(problem.message + hint)}</p>;
}

export function Missing({ sentences }: { sentences: readonly string[] }): JSX.Element | null {
  if (sentences.length === 0) return null;
  return (
    <div class="problems">
      <strong>What is missing here</strong>
      <ul>{sentences.map((sentence) => <li key={sentence}>{printable(sentence)}</li>)}</ul>
    </div>
  );
}

// A table of names and values.
export function Facts({ facts }: { facts: readonly (readonly [string, string])[] }): JSX.Element {
  return (
    <dl>
      {facts.map(([name, value]) => [<dt key={`${name}-name`}>{printable(name)}</dt>, <dd key={name}>{printable(value)}</dd>])}
    </dl>
  );
}
