// A figure that can be read and zoomed. It takes the place of the standing one on the screen, not on paper.
import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { FigureView } from '../chart/figure_view';
import { ForestView } from '../chart/forest_view';
import { HeatView } from '../chart/heat_view';
import { PLAIN, type Choices } from '../chart/layout';
import { toggled } from '../chart/legend';
import { legendOf } from '../chart/legend_entries';
import type { Curve, Forest } from '../model/figure';
import { SMOOTHNESS } from '../state/choices';
import { useLinkedZoom } from '../state/linked_zoom';
import { Toggle } from '../views/controls';
import { offered, withSeeds, type EmbeddedChart, type EmbeddedFigure } from './embedded';

export function LiveFigure(props: {
  figure: EmbeddedFigure; seeds: ReadonlyMap<string, Curve[]>; standing: HTMLElement;
}): JSX.Element {
  const { figure, standing } = props;
  const needsAsking = figure.kind === 'chart' && figure.rows;
  const [isLive, setLive] = useState(!needsAsking);
  // Files of forests and heatmaps are those of the standing figure.
  standing.classList.toggle('enlivened', isLive);
  standing.classList.toggle('has-own-files', isLive && figure.kind === 'chart');
  if (!isLive) return <button type="button" class="enliven" onClick={() => setLive(true)}>Zoom, hide and show</button>;
  const asPrinted = <button type="button" onClick={() => setLive(false)}>As printed</button>;
  switch (figure.kind) {
    case 'chart':
      return <LiveChart figure={figure} seeds={props.seeds} tools={asPrinted} />;
    case 'forest':
      return <LiveForest forest={figure.forest} title={figure.title} tools={asPrinted} />;
    case 'heatmap':
      return <><HeatView map={figure.map} title={figure.title} /><div class="tools">{asPrinted}</div></>;
  }
}

function LiveForest(props: { forest: Forest; title: string; tools: JSX.Element }): JSX.Element {
  const [zoom, setZoom] = useLinkedZoom(props.forest.label);
  return (
    <>
      <ForestView forest={props.forest} title={props.title} zoom={zoom} onZoom={setZoom} />
      <div class="tools">
        {props.tools}
        {zoom && <button type="button" onClick={() => setZoom(undefined)}>Whole axis</button>}
      </div>
    </>
  );
}

function LiveChart(props: { figure: EmbeddedChart; seeds: ReadonlyMap<string, Curve[]>; tools: JSX.Element }): JSX.Element {
  const label = props.figure.panels[0]?.x.label ?? '';
  const [zoom, setZoom] = useLinkedZoom(label);
  const [own, setOwn] = useState<Choices>(PLAIN);
  const change = (some: Partial<Choices>): void => setOwn((old) => ({ ...old, ...some }));
  const choices = useMemo(() => ({ ...own, zoom }), [own, zoom]);
  const figure = useMemo(() => ({ ...withSeeds(props.figure, props.seeds), caption: '' }), [props.figure, props.seeds]);
  const can = useMemo(() => offered(props.figure), [props.figure]);
  const names = legendOf(figure).filter((one) => one.isCurve).map((one) => one.name);
  return (
    <FigureView figure={figure} choices={choices} group={label} heading={false} onZoom={setZoom}
      onToggle={(name, alone) => change({ hidden: toggled(choices.hidden, name, alone, names) })}
      tools={
        <>
          {props.seeds.size > 0 && <Toggle label="single seeds" on={choices.seeds} set={(seeds) => change({ seeds })} />}
          {can.logY && <Toggle label="log y" on={choices.logY} set={(logY) => change({ logY })} />}
          {can.logX && <Toggle label="log x" on={choices.logX} set={(logX) => change({ logX })} />}
          {can.smooth && <Toggle label="smooth" on={choices.smooth > 0} set={(on) => change({ smooth: on ? SMOOTHNESS[2] ?? 3 : 0 })} />}
          {props.tools}
        </>
      } />
  );
}
