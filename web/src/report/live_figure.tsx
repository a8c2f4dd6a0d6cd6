// A figure of a report that can be zoomed. It takes the place of the standing one on the screen, not on paper.
import { useMemo, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { FigureView } from '../chart/figure_view';
import { PLAIN, type Choices } from '../chart/layout';
import { toggled } from '../chart/legend';
import { legendOf } from '../chart/legend_entries';
import type { Curve } from '../model/figure';
import { SMOOTHNESS } from '../state/choices';
import { Toggle } from '../views/controls';
import { withSeeds, type EmbeddedFigure } from './embedded';

export function LiveFigure(props: {
  figure: EmbeddedFigure; seeds: ReadonlyMap<string, Curve[]>; standing: HTMLElement;
}): JSX.Element {
  const [isLive, setLive] = useState(!props.figure.rows);
  const [choices, setChoices] = useState<Choices>(PLAIN);
  const change = (some: Partial<Choices>): void => setChoices((old) => ({ ...old, ...some }));
  const figure = useMemo(() => ({ ...withSeeds(props.figure, props.seeds), caption: '' }), [props.figure, props.seeds]);
  props.standing.classList.toggle('enlivened', isLive);
  if (!isLive) return <button type="button" class="enliven" onClick={() => setLive(true)}>Zoom, hide and show</button>;
  const names = legendOf(figure).filter((one) => one.isCurve).map((one) => one.name);
  return (
    <FigureView figure={figure} choices={choices} group={props.figure.name} heading={false} onZoom={(zoom) => change({ zoom })}
      onToggle={(name, alone) => change({ hidden: toggled(choices.hidden, name, alone, names) })}
      tools={
        <>
          {props.seeds.size > 0 && <Toggle label="single seeds" on={choices.seeds} set={(seeds) => change({ seeds })} />}
          <Toggle label="log y" on={choices.logY} set={(logY) => change({ logY })} />
          <Toggle label="log x" on={choices.logX} set={(logX) => change({ logX })} />
          <Toggle label="smooth" on={choices.smooth > 0} set={(on) => change({ smooth: on ? SMOOTHNESS[2] ?? 3 : 0 })} />
          <button type="button" onClick={() => setLive(false)}>As printed</button>
        </>
      } />
  );
}
