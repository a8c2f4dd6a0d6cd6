// The live page of `eureka serve`.
import { render, type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import './style/app.css';
import { choicesOf, setAligned, setLog, setSeeds, setSmooth, setX, setZoom, SMOOTHNESS, type XKind } from './state/choices';
import { useIndex } from './state/index_data';
import { useKeys } from './state/keys';
import { parseView, useView, viewLink } from './state/location';
import { applyTheme, chosenTheme, nextTheme, type Theme } from './state/theme';
import { CompareView } from './views/compare_view';
import { Help } from './views/help';
import { IndexView } from './views/index_view';
import { Problem } from './views/parts';
import { RunView } from './views/run_view';
import { StudyView } from './views/study_view';

const THEME_WORDS: Record<Theme, string> = { system: 'as the system', light: 'light', dark: 'dark' };
const X_KINDS: readonly XKind[] = ['step', 'samples', 'seconds'];

const now = (): ReturnType<typeof choicesOf> => choicesOf(parseView(location.hash).values);

function smoother(by: number): void {
  const at = SMOOTHNESS.indexOf(now().smooth) + by;
  const smooth = SMOOTHNESS[Math.max(0, Math.min(SMOOTHNESS.length - 1, at))];
  if (smooth !== undefined) setSmooth(smooth);
}

function useChartKeys(): void {
  useKeys([
    { key: 'y', run: () => setLog(now().logX, !now().logY) },
    { key: 'l', run: () => setLog(!now().logX, now().logY) },
    { key: 's', run: () => setSeeds(!now().seeds) },
    { key: 'm', run: () => setAligned(!now().aligned) },
    { key: 'u', run: () => setX(X_KINDS[(X_KINDS.indexOf(now().x) + 1) % X_KINDS.length] ?? 'step') },
    { key: 'w', run: () => setZoom(undefined) },
    { key: '[', run: () => smoother(-1) },
    { key: ']', run: () => smoother(1) },
  ]);
}

function App(): JSX.Element {
  const view = useView();
  const { index, problem, isConnected } = useIndex();
  const [theme, setTheme] = useState(chosenTheme);
  const [isHelping, setHelping] = useState(false);
  const turn = (): void => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  useChartKeys();
  useKeys([
    { key: '?', run: () => setHelping(true) },
    { key: 'h', run: () => { location.hash = viewLink('index'); } },
    { key: 't', run: turn },
  ]);
  const id = view.values.get('id') ?? '';
  useEffect(() => {
    document.title = [view.place === 'index' ? '' : view.place === 'compare' ? 'compare' : id, index?.root, 'Eureka'].filter(Boolean).join(' \u00b7 ');
  }, [view.place, id, index?.root]);
  return (
    <>
      <header>
        <a class="brand" href={viewLink('index')}>Eureka</a>
        <span class={`connection ${isConnected ? 'on' : 'off'}`} role="status">{isConnected ? 'live' : 'not connected'}</span>
        <button type="button" onClick={turn} aria-label={`colors: ${THEME_WORDS[theme]}`} title={`colors: ${THEME_WORDS[theme]} (t)`}>◐</button>
        <button type="button" onClick={() => setHelping(true)} aria-label="help on keys" title="keys (?)">?</button>
      </header>
      {index === undefined ? <main><h1 class="unseen">Eureka</h1>{problem ? <Problem problem={problem} /> : <p class="muted">Reading the runs…</p>}</main>
        : view.place === 'run' ? <RunView key={id} view={view} />
        : view.place === 'study' ? <StudyView key={id} view={view} index={index} />
        : view.place === 'compare' ? <CompareView view={view} index={index} />
        : <IndexView view={view} index={index} />}
      {isHelping && <Help close={() => setHelping(false)} />}
    </>
  );
}

applyTheme(chosenTheme());
render(<App />, document.getElementById('app') as HTMLElement);
