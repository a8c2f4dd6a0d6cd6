// A figure: its question, its panels, a legend that hides and shows, the values under the reading line, and files of it.
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';
import type { Figure } from '../model/figure';
import { download, pngOf, svgBlob } from './download';
import { figureSvg } from './export';
import { layOut, type Choices } from './layout';
import { Legend } from './legend';
import { PanelView } from './panel_view';
import type { Range } from './scale';
import { PLOT_MARGINS } from './plot';

export interface FigureViewProps {
  figure: Figure;
  choices: Choices;
  onZoom(range: Range | undefined): void;
  onToggle(name: string, alone: boolean): void;
  group: string; // figures of a group share the reading line
  tools?: ComponentChildren;
  heading?: boolean; // the title stands elsewhere when false
  csv?: () => string;
}

export function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const observer = useRef<ResizeObserver | null>(null);
  const attach = useRef((element: HTMLElement | null) => {
    observer.current?.disconnect();
    if (element === null) return;
    observer.current = new ResizeObserver((entries) => setWidth(Math.floor(entries[0]?.contentRect.width ?? 0)));
    observer.current.observe(element);
    setWidth(element.clientWidth);
  });
  return [attach.current, width];
}

const columnsFor = (figure: Figure, width: number): number =>
  Math.max(1, Math.min(figure.columns, figure.panels.length, Math.floor(width / 280)));

// A panel of its own goes with its curve.
function withoutHidden(figure: Figure, hidden: ReadonlySet<string>): Figure {
  const panels = figure.panels.filter((panel) => !hidden.has(panel.title));
  return panels.length === figure.panels.length || panels.length === 0 ? figure : { ...figure, panels };
}

// Said once where all panels show the same quantity.
function sharedUnit(figure: Figure): string | undefined {
  const unit = figure.panels[0]?.y.label ?? '';
  return unit !== '' && figure.panels.every((panel) => panel.y.label === unit) ? unit : undefined;
}

export function FigureView(props: FigureViewProps): JSX.Element {
  const { choices } = props;
  const figure = useMemo(() => withoutHidden(props.figure, choices.hidden), [props.figure, choices.hidden]);
  // Figures of a report are rendered one by one, each counting from the start.
  const title = `${useId()}-${props.group.replace(/\s/g, '_')}`;
  const [attach, width] = useWidth();
  const columns = columnsFor(figure, width);
  const panelWidth = Math.floor(width / columns) - (columns > 1 ? 10 : 0);
  const height = figure.panels.length === 1 && width < 600 ? Math.min(240, figure.height) : figure.height;
  const laid = useMemo(
    () => (width === 0 ? [] : layOut(figure, choices, panelWidth - PLOT_MARGINS.left - PLOT_MARGINS.right, height)),
    [figure, choices, panelWidth, height, width === 0],
  );
  const unit = sharedUnit(figure);
  return (
    <figure class="chart" aria-labelledby={title}>
      {props.heading === false ? <span id={title} class="unseen">{figure.title}</span> : <h3 id={title}>{figure.title}</h3>}
      <Legend figure={props.figure} hidden={choices.hidden} onToggle={props.onToggle} />
      {unit !== undefined && <p class="unit">{unit}</p>}
      <div class="panels" ref={attach} style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
        {laid.map((one, i) => (
          <PanelView key={i} hasOwnUnit={unit === undefined} laid={one} width={panelWidth} height={height} group={props.group}
            title={one.panel.title === '' ? figure.title : one.panel.title} onZoom={props.onZoom} />
        ))}
      </div>
      {figure.caption !== '' && <figcaption>{figure.caption}</figcaption>}
      <div class="tools">
        {props.tools}
        {choices.zoom && <button type="button" onClick={() => props.onZoom(undefined)}>Whole axis</button>}
        <ExportButtons figure={figure} choices={choices} {...(props.csv ? { csv: props.csv } : {})} />
      </div>
    </figure>
  );
}

function ExportButtons(props: { figure: Figure; choices: Choices; csv?: () => string }): JSX.Element {
  const [problem, setProblem] = useState('');
  const file = props.figure.name.replace(/[^A-Za-z0-9._-]+/g, '-');
  const png = async (): Promise<void> => {
    try {
      download(`${file}.png`, await pngOf(figureSvg(props.figure, props.choices)));
      setProblem('');
    } catch (error) {
      setProblem(`No picture: ${(error as Error).message}`);
    }
  };
  return (
    <>
      <button type="button" onClick={() => download(`${file}.svg`, svgBlob(figureSvg(props.figure, props.choices)))}>SVG</button>
      <button type="button" onClick={() => void png()}>PNG</button>
      <button type="button" onClick={() => download(`${file}.csv`, new Blob([(props.csv ?? (() => figureCsv(props.figure)))()], { type: 'text/csv' }))}>CSV</button>
      {problem !== '' && <span role="alert">{problem}</span>}
    </>
  );
}

const cell = (text: string): string => (/[,"\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

export function figureCsv(figure: Figure): string {
  const lines = ['panel,curve,x,y,low,high'];
  for (const panel of figure.panels)
    for (const curve of panel.curves)
      curve.x.forEach((x, i) => {
        const band = curve.band?.x[i] === x ? curve.band : undefined;
        lines.push([cell(panel.title), cell(curve.name), x, curve.y[i] ?? '', band?.low[i] ?? '', band?.high[i] ?? ''].join(','));
      });
  return lines.join('\n') + '\n';
}

// Repaints when the page turns light or dark.
export function useTheme(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const changed = (): void => setTurn((n) => n + 1);
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', changed);
    document.addEventListener('eureka-theme', changed);
    return () => {
      media.removeEventListener('change', changed);
      document.removeEventListener('eureka-theme', changed);
    };
  }, []);
  return turn;
}
