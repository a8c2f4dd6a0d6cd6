// What can be chosen about all charts of a view.
import type { JSX } from 'preact';
import {
  setAligned, setLog, setSeeds, setSmooth, setX, SMOOTHNESS, type ViewChoices, type XKind,
} from '../state/choices';
import { choose } from '../state/location';

export function Toggle(props: { on: boolean; set(on: boolean): void; label: string; hint?: string }): JSX.Element {
  return (
    <label class="toggle" title={props.hint}>
      <input type="checkbox" checked={props.on} onChange={(event) => props.set(event.currentTarget.checked)} />
      {props.label}
    </label>
  );
}

export function Select<T extends string>(props: {
  label: string; value: T; of: readonly (readonly [T, string])[]; set(value: T): void;
}): JSX.Element {
  return (
    <label class="select">
      <span aria-hidden="true">{props.label}</span>
      <select aria-label={props.label} value={props.value} onChange={(event) => props.set(event.currentTarget.value as T)}>
        {props.of.map(([value, words]) => <option key={value} value={value}>{words}</option>)}
      </select>
    </label>
  );
}

const SMOOTH_WORDS = ['off', '3 points', '7 points', '17 points', '41 points'];

export function ChartControls(props: {
  choices: ViewChoices;
  xKinds: readonly XKind[];
  columns?: readonly string[];
  column?: string;
  points?: readonly string[];
  withGroups?: boolean;
}): JSX.Element {
  const { choices } = props;
  const kinds: readonly (readonly [XKind, string])[] = [['step', 'steps'], ['samples', 'samples'], ['seconds', 'time']];
  return (
    <div class="controls" role="group" aria-label="charts">
      {props.columns && (
        <Select label="curve" value={props.column ?? ''} set={(column) => choose({ column, zoom: undefined })}
          of={props.columns.map((name) => [name, name.replace(/_/g, ' ')] as const)} />
      )}
      {props.points && props.points.length > 1 && (
        <Select label="at" value={choices.point ?? props.points[0] ?? ''} set={(point) => choose({ point })}
          of={props.points.map((name) => [name, name] as const)} />
      )}
      <Select label="x" value={choices.x} set={setX} of={kinds.filter(([kind]) => props.xKinds.includes(kind))} />
      <Select label="smooth" value={String(choices.smooth)} set={(value) => setSmooth(Number(value))}
        of={SMOOTHNESS.map((reach, i) => [String(reach), SMOOTH_WORDS[i] ?? ''] as const)} />
      <Toggle label="log y" on={choices.logY} set={(on) => setLog(choices.logX, on)} />
      {!choices.aligned && <Toggle label="log x" on={choices.logX} set={(on) => setLog(on, choices.logY)} />}
      {props.withGroups && (
        <>
          <Toggle label="single seeds" on={choices.seeds} set={setSeeds} />
          <Toggle label="on own moments" on={choices.aligned} set={setAligned}
            hint="each run is set on its own moment; those without one are left out" />
        </>
      )}
    </div>
  );
}
