// A figure that the program has drawn, in the colors of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JSX } from 'preact';
import { address, fetchFigure, fetchFigureData } from '../api/client';
import type { FigureName } from '../api/types';
import { pngButton } from '../chart/download';
import type { Curve } from '../model/figure';
import { embedded, type EmbeddedFigure } from '../report/embedded';
import { LiveFigure } from '../report/live_figure';
import { Problem } from './parts';

// Without style attributes, which the page's policy forbids in markup and allows here.
export function svgElement(text: string): SVGElement {
  const markup = text.replace(/^<\?xml[^>]*\?>\s*/, '');
  const withSpace = /<svg[^>]*\sxmlns=/.test(markup) ? markup : markup.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"');
  const parsed = new DOMParser().parseFromString(withSpace.replace(/(<[^>]*?)\sstyle="/g, '$1 data-style="'), 'image/svg+xml');
  const root = parsed.documentElement;
  if (root.nodeName !== 'svg') throw new Error('this figure cannot be shown');
  root.querySelectorAll('script, foreignObject').forEach((element) => element.remove());
  const svg = document.importNode(root, true) as unknown as SVGElement;
  for (const element of [svg, ...svg.querySelectorAll<SVGElement>('[data-style]')]) {
    element.style.cssText = element.dataset['style'] ?? '';
    delete element.dataset['style'];
  }
  return svg;
}

const NO_SEEDS: ReadonlyMap<string, Curve[]> = new Map();

export function SvgFigure(props: { id: string; figure: FigureName; version: number }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<Error>();
  useEffect(() => {
    const abort = new AbortController();
    fetchFigure(props.id, props.figure.name, abort.signal).then((text) => {
      host.current?.replaceChildren(svgElement(text));
      setProblem(undefined);
    }, (error: Error) => {
      if (!abort.signal.aborted) setProblem(error);
    });
    return () => abort.abort();
  }, [props.id, props.figure.name, props.version]);
  const [live, setLive] = useState<EmbeddedFigure>();
  const [standing, setStanding] = useState<HTMLElement | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    // Without its data the figure stands still.
    fetchFigureData(props.id, props.figure.name, abort.signal).then((written) => setLive(embedded(written)), () => undefined);
    return () => abort.abort();
  }, [props.id, props.figure.name, props.version]);
  const tools = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const button = pngButton(props.figure.name, async () => (await fetch(file)).text());
    tools.current?.append(button);
    return () => button.remove();
  }, [props.id, props.figure.name]);
  const file = address('figure', { id: props.id, name: props.figure.name });
  return (
    <figure class="drawn" ref={setStanding}>
      <h3>{props.figure.title}</h3>
      {live && standing && <div class="live"><LiveFigure figure={live} seeds={NO_SEEDS} standing={standing} /></div>}
      <div class="plot scroll" ref={host} tabIndex={0} role="group" aria-label={props.figure.title} />
      <Problem problem={problem} />
      {props.figure.caption && <figcaption>{props.figure.caption}</figcaption>}
      <p class="tools links" ref={tools}><a class="button" download={`${props.figure.name}.svg`} href={file}>SVG</a></p>
    </figure>
  );
}
