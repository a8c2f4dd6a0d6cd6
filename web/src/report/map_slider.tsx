// Attention maps step by step, large: the pictures are those of the standing figure.
import { useState } from 'preact/hooks';
import type { JSX } from 'preact';

export interface Maps {
  steps: string[];
  rows: { name: string; pictures: Map<string, string> }[];
}

// Pictures in groups that are named "step 400 / layer0, head1".
export function mapsOf(figure: HTMLElement): Maps | undefined {
  const steps: string[] = [];
  const rows = new Map<string, Map<string, string>>();
  for (const group of figure.querySelectorAll<SVGGElement>('.plot svg g[data-name]')) {
    const picture = group.querySelector('image')?.getAttribute('href');
    const found = /^step (\S+) \/ (.*)$/.exec(group.dataset['name'] ?? '');
    if (!picture || !found) continue;
    const [, step = '', row = ''] = found;
    if (!steps.includes(step)) steps.push(step);
    rows.set(row, (rows.get(row) ?? new Map<string, string>()).set(step, picture));
  }
  return steps.length < 2 ? undefined : { steps, rows: [...rows].map(([name, pictures]) => ({ name, pictures })) };
}

export function MapSlider({ maps }: { maps: Maps }): JSX.Element {
  const [at, setAt] = useState(maps.steps.length - 1);
  const step = maps.steps[at] ?? '';
  return (
    <div>
      <label class="steps">
        <span>step {step}</span>
        <input type="range" min={0} max={maps.steps.length - 1} value={at} aria-valuetext={`step ${step}`}
          onInput={(event) => setAt(Number(event.currentTarget.value))} />
      </label>
      <div class="maps">
        {maps.rows.map((row) => (
          <div key={row.name}>
            <img src={row.pictures.get(step) ?? ''} alt={`attention of ${row.name} at step ${step}`} width="160" height="160" />
            <span>{row.name}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
