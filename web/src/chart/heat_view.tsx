// Values in colored cells: one cell at a time is read out, under the pointer or by arrow keys.
import { useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { Heatmap } from '../model/figure';
import { printable } from '../model/labels';
import { shortest } from './scale';

interface Place {
  row: number;
  column: number;
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
};
const within = (at: number, count: number): number => Math.min(count - 1, Math.max(0, at));

export function HeatView({ map, title }: { map: Heatmap; title: string }): JSX.Element {
  const [at, setAt] = useState<Place>();
  const cell = at && map.cells[at.row]?.[at.column];
  const onKey = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setAt(at === undefined ? { row: 0, column: 0 }
      : { row: within(at.row + step[0], map.rows.length), column: within(at.column + step[1], map.columns.length) });
  };
  return (
    <div class="heat">
      <Key map={map} />
      <div class="scroll" tabIndex={0} role="group" aria-label={`${title} Arrow keys read the cells.`} onKeyDown={onKey} onPointerLeave={() => setAt(undefined)}>
        <table>
          <thead>
            <tr><td /><th scope="col" colSpan={map.columns.length}>{printable(map.column_label)}</th></tr>
            <tr>
              <th scope="col">{map.row_label}</th>
              {map.columns.map((name, column) => <th key={name} scope="col" class={at?.column === column ? 'read' : ''}>{printable(name).split(',').map((line) => <div key={line}>{line}</div>)}</th>)}
            </tr>
          </thead>
          <tbody>
            {map.cells.map((cells, row) => (
              <tr key={map.rows[row]}>
                <th scope="row" class={at?.row === row ? 'read' : ''}>{printable(map.rows[row] ?? '')}</th>
                {cells.map((one, column) => (
                  <td key={column} class={at?.row === row && at.column === column ? 'read' : ''} style={{ background: one.fill, color: one.ink }}
                    onPointerEnter={() => setAt({ row, column })}>{one.text}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="unit" role="status">
        {cell === undefined ? '\u00a0' : `${printable(map.rows[at?.row ?? 0] ?? '')} at ${printable(map.columns[at?.column ?? 0] ?? '')}: ${cell.text} ${map.value_label}`}
      </p>
    </div>
  );
}

function Key({ map }: { map: Heatmap }): JSX.Element | null {
  const { low, high, colors } = map.key;
  if (low === null || high === null) return null;
  return (
    <p class="unit">
      {shortest(low, 3)} <span class="key" aria-hidden="true" style={{ background: `linear-gradient(to right, ${colors.join(', ')})` }} /> {shortest(high, 3)} {map.value_label}
    </p>
  );
}
