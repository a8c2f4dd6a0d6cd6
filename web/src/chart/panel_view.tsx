// One panel: made when it comes into view, moved by keys, with the values at its reading line.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { printable } from '../model/labels';
import { useTheme } from './figure_view';
import type { Laid } from './layout';
import { LineSample } from './legend';
import { Plot, PLOT_MARGINS } from './plot';
import { shortest, type Range } from './scale';
import { valueAt } from './trace';

export interface PanelViewProps {
  laid: Laid;
  width: number;
  height: number;
  group: string;
  title: string;
  hasOwnUnit: boolean;
  onZoom(range: Range | undefined): void;
}

interface Reading {
  x: number;
  pixel: number;
  y: number;
}

const MOST_READ = 8;

export function PanelView(props: PanelViewProps): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [isNear, setNear] = useState(false);
  const [reading, setReading] = useState<Reading>();
  const [isHere, setHere] = useState(false);
  const theme = useTheme();

  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setNear(true);
    }, { rootMargin: '400px' });
    if (host.current) observer.observe(host.current);
    return () => observer.disconnect();
  }, []);

  const kind = `${props.laid.x.log}${props.laid.y.log}${props.height}${props.group}${props.laid.panel.x.label}`;
  useEffect(() => {
    if (!isNear || host.current === null) return;
    const made = new Plot(host.current, latest.current.laid, latest.current.height, latest.current.group, {
      zoom: (range) => latest.current.onZoom(range),
      read: setReading,
    });
    plot.current = made;
    return () => {
      made.destroy();
      plot.current = null;
    };
  }, [isNear, kind]);
  useEffect(() => plot.current?.show(props.laid), [props.laid]);
  useEffect(() => plot.current?.resize(props.width, props.height), [props.width]);
  useEffect(() => plot.current?.repaint(), [theme]);

  const { x } = props.laid;
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = afterKey(event, x, reading?.x);
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (next.zoom !== undefined) props.onZoom(next.zoom ?? undefined);
    if (next.at !== undefined) plot.current?.moveTo(next.at);
    if (next.leave) plot.current?.leave();
  };
  return (
    <div class="panel">
      {props.laid.panel.title !== '' && <h4>{printable(props.laid.panel.title)}</h4>}
      {props.hasOwnUnit && props.laid.panel.y.label !== '' && <p class="unit">{props.laid.panel.y.label}</p>}
      <div class="plot" ref={host} tabIndex={0} role="application" aria-roledescription="chart"
        aria-label={`${props.title}. Arrow keys move the reading line, plus and minus zoom, 0 shows the whole axis.`}
        style={{ height: `${props.height + PLOT_MARGINS.top + PLOT_MARGINS.bottom}px` }}
        onKeyDown={onKeyDown} onMouseEnter={() => setHere(true)} onMouseLeave={() => setHere(false)}
        onFocus={() => setHere(true)} onBlur={() => { setHere(false); plot.current?.leave(); }}>
      </div>
      {isHere && reading && <Readout laid={props.laid} reading={reading} width={props.width} />}
    </div>
  );
}

function Readout(props: { laid: Laid; reading: Reading; width: number }): JSX.Element | null {
  const { laid, reading } = props;
  const reach = (laid.x.high - laid.x.low) / 20;
  const found = laid.curves
    .filter((curve) => curve.tone.opacity >= 0.5 && (!curve.single || laid.curves.length < 40))
    .map((curve) => ({ curve, value: valueAt(curve, reading.x, laid.x.log ? Infinity : reach) }))
    .filter((one) => one.value !== undefined)
    .sort((a, b) => Math.abs((a.value?.y ?? 0) - reading.y) - Math.abs((b.value?.y ?? 0) - reading.y))
    .slice(0, MOST_READ)
    .sort((a, b) => (b.value?.y ?? 0) - (a.value?.y ?? 0));
  const isLeft = reading.pixel > (props.width - PLOT_MARGINS.left) / 2;
  const place = isLeft ? { right: `${props.width - PLOT_MARGINS.left - reading.pixel + 12}px` } : { left: `${PLOT_MARGINS.left + reading.pixel + 12}px` };
  return (
    <div class="readout" role="status" style={place}>
      <div class="at">{laid.panel.x.label}: {shortest(reading.x, 4)}</div>
      {found.map(({ curve, value }) => (
        <div key={curve.name}><LineSample tone={curve.tone} />{printable(curve.name === '' ? laid.panel.title : curve.name)}{' '}
          <b>{laid.panel.y.percent ? `${shortest(100 * (value?.y ?? NaN), 3)}%` : shortest(value?.y ?? NaN, 4)}</b></div>
      ))}
    </div>
  );
}

interface AfterKey {
  zoom?: Range | null; // null: the whole
  at?: number;
  leave?: boolean;
}

// In shares of the axis, so that it is the same on logarithmic ones.
function afterKey(event: KeyboardEvent, x: Laid['x'], at: number | undefined): AfterKey | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const value = (share: number): number =>
    x.log ? x.low * (x.high / x.low) ** share : x.low + share * (x.high - x.low);
  const share = at === undefined ? 0.5 : x.log ? Math.log(at / x.low) / Math.log(x.high / x.low) : (at - x.low) / (x.high - x.low);
  const stretch = (from: number, to: number): AfterKey => ({ zoom: { low: value(from), high: value(to) } });
  const inside = (s: number): number => value(Math.max(0, Math.min(1, s)));
  switch (event.key) {
    case 'ArrowLeft':
      return event.shiftKey ? stretch(-0.2, 0.8) : { at: inside(share - 0.02) };
    case 'ArrowRight':
      return event.shiftKey ? stretch(0.2, 1.2) : { at: inside(share + 0.02) };
    case 'Home':
      return { at: x.low };
    case 'End':
      return { at: x.high };
    case '+':
    case '=':
      return stretch(share - share / 2, share + (1 - share) / 2);
    case '-':
      return stretch(share - 2 * share, share + 2 * (1 - share));
    case '0':
      return { zoom: null };
    case 'Escape':
      return at === undefined ? undefined : { leave: true };
    default:
      return undefined;
  }
}
