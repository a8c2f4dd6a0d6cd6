// Estimates and intervals as a table with an axis: values as text, a stretch of the axis by dragging or keys.
import { useRef, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import type { Forest, ForestRow } from '../model/figure';
import { printable } from '../model/labels';
import { Extent, scaleOf, shareOf, type Range, type Scale } from './scale';

const WIDEST = 100; // an interval beyond anything would leave no room for the others
const MOST_TICKS = 7;

// As src/figure/forest.cpp has it.
function wholeAxis({ rows, even }: Forest): Range {
  const extent = new Extent();
  extent.add(even);
  for (const row of rows)
    for (const value of [row.estimate, row.low, row.high])
      if (value !== null && value > 0) extent.add(Math.min(WIDEST, Math.max(1 / WIDEST, value)));
  return { low: Math.min(extent.low * 0.9, 0.7), high: Math.max(extent.high * 1.1, 1.5) };
}

// A part of the axis: both ends as shares of it.
const partOf = ({ low, high }: Range, from: number, to: number): Range =>
  ({ low: low * (high / low) ** from, high: low * (high / low) ** to });

// An interval stays in one piece where the line is broken: "1.98", "[1.58, 2.67]".
const valuePieces = (text: string): string[] => text.split(text.includes('[') ? / (?=\[)/ : ' ');

const inside = (share: number): number => Math.min(1, Math.max(0, share));
const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;

export function ForestView(props: {
  forest: Forest; title: string; zoom: Range | undefined; onZoom(range: Range | undefined): void;
}): JSX.Element {
  const { forest, zoom, onZoom } = props;
  const shown = zoom ?? wholeAxis(forest);
  const scale = scaleOf(new Extent(), { label: '', log: true }, MOST_TICKS, true, shown);
  const [drag, setDrag] = useState<Range>(); // shares
  const start = useRef(0);
  const shareAt = (event: PointerEvent): number => {
    const track = (event.currentTarget as Element).querySelector('.track')?.getBoundingClientRect();
    return track ? inside((event.clientX - track.left) / track.width) : 0;
  };
  const stretch = (event: PointerEvent): Range => {
    const at = shareAt(event);
    return { low: Math.min(start.current, at), high: Math.max(start.current, at) };
  };
  const onKey = (event: KeyboardEvent): void => {
    const parts: Record<string, [number, number]> =
      { '+': [0.2, 0.8], '=': [0.2, 0.8], '-': [-1 / 3, 4 / 3], ArrowLeft: [-0.1, 0.9], ArrowRight: [0.1, 1.1] };
    const part = parts[event.key];
    if (part) onZoom(partOf(shown, ...part));
    else if (event.key === '0') onZoom(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="forest" tabIndex={0} role="group" aria-label={`${props.title} Plus and minus zoom, arrows move, 0 shows the whole axis.`}
      onKeyDown={onKey} onDblClick={() => onZoom(undefined)}
      onPointerDown={(event) => { start.current = shareAt(event); setDrag({ low: start.current, high: start.current }); }}
      onPointerMove={(event) => drag && setDrag(stretch(event))}
      onPointerLeave={() => setDrag(undefined)}
      onPointerUp={(event) => {
        const chosen = stretch(event);
        setDrag(undefined);
        if (drag && chosen.high - chosen.low > 0.02) onZoom(partOf(shown, chosen.low, chosen.high));
      }}>
      <table>
        <thead class="unseen"><tr><th scope="col">arm</th><th scope="col">interval</th><th scope="col">{forest.label}</th></tr></thead>
        <tbody>
          {forest.rows.map((row) => (
            <tr key={row.name}>
              <th scope="row">{printable(row.name)}</th>
              <td><Track row={row} scale={scale} even={forest.even} drag={drag} /></td>
              <td>{valuePieces(row.text).map((part) => <span key={part}>{part}&nbsp;</span>)}</td>
            </tr>
          ))}
          <tr class="axis" aria-hidden="true">
            <td />
            <td><div class="ticks">{scale.ticks.map((tick) => <span key={tick.at} style={{ left: percent(shareOf(scale)(tick.at)) }}>{tick.label}</span>)}</div></td>
            <td />
          </tr>
        </tbody>
      </table>
      <p class="unit">{forest.label}</p>
    </div>
  );
}

function Track(props: { row: ForestRow; scale: Scale; even: number; drag: Range | undefined }): JSX.Element {
  const { row, scale, drag } = props;
  const place = shareOf(scale);
  const low = row.low === null ? 0 : inside(place(row.low));
  const high = row.high === null ? 1 : inside(place(row.high));
  const at = row.estimate === null ? undefined : place(row.estimate);
  const color = `var(${row.tone.color})`;
  const isSeen = (share: number): boolean => share >= 0 && share <= 1;
  return (
    <div class="track" aria-hidden="true" title={`${printable(row.name)}: ${row.text}`}>
      {scale.ticks.map((tick) => <i key={tick.at} class="grid" style={{ left: percent(place(tick.at)) }} />)}
      {isSeen(place(props.even)) && <i class="even" style={{ left: percent(place(props.even)) }} />}
      {drag && <i class="stretch" style={{ left: percent(drag.low), width: percent(drag.high - drag.low) }} />}
      {at !== undefined && (row.low !== null || row.high !== null) && high > low &&
        <i class="interval" style={{ left: percent(low), width: percent(high - low), background: color }} />}
      {at !== undefined && isSeen(at) && <i class="estimate" style={{ left: percent(at), background: color }} />}
    </div>
  );
}
