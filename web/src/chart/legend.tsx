import type { JSX } from 'preact';
import { printable } from '../model/labels';
import { dashPattern } from '../model/tones';
import type { Figure, Tone } from '../model/figure';
import { legendOf } from './legend_entries';

export function LineSample({ tone }: { tone: Tone }): JSX.Element {
  return (
    <svg class="sample" width="24" height="8" viewBox="0 0 24 8" aria-hidden="true">
      <line x1="0" y1="4" x2="24" y2="4" stroke={`var(${tone.color})`} stroke-width={Math.max(1.6, tone.width)}
        stroke-dasharray={dashPattern(tone).join(' ')} />
    </svg>
  );
}

const MANY = 14; // so many are folded where each but the baseline has a panel of its own, with its name

// A click hides or shows a curve; with shift, or twice, it alone is left.
export function Legend(props: {
  figure: Figure; hidden: ReadonlySet<string>; onToggle(name: string, alone: boolean): void;
}): JSX.Element | null {
  const entries = legendOf(props.figure);
  if (entries.length === 0) return null;
  const canHide = entries.filter((entry) => entry.isCurve).length > 1;
  const list = (
    <ul class="legend" aria-label="curves">
      {entries.map((entry) => (
        <li key={entry.name}>
          {entry.isCurve && canHide ? (
            <button type="button" aria-pressed={!props.hidden.has(entry.name)}
              title="hide or show; with shift: this one alone"
              onClick={(event) => props.onToggle(entry.name, event.shiftKey)}>
              <LineSample tone={entry.tone} />{printable(entry.name)}
            </button>
          ) : (
            <span><LineSample tone={entry.tone} />{printable(entry.name)}</span>
          )}
        </li>
      ))}
    </ul>
  );
  const titles = new Set(props.figure.panels.map((panel) => panel.title));
  const isInTitles = entries.filter((entry) => entry.isCurve && !titles.has(entry.name)).length <= 1;
  return entries.length <= MANY || !isInTitles ? list : <details class="legend"><summary>{entries.length} curves, to hide and show</summary>{list}</details>;
}

// What is hidden after a click on `name`.
export function toggled(hidden: ReadonlySet<string>, name: string, alone: boolean, all: readonly string[]): Set<string> {
  if (alone) {
    const others = all.filter((one) => one !== name);
    const isAlone = others.every((one) => hidden.has(one)) && !hidden.has(name);
    return new Set(isAlone ? [] : others);
  }
  const next = new Set(hidden);
  if (!next.delete(name)) next.add(name);
  return next;
}
