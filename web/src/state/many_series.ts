// One column of many runs, a few requests at a time; what has grown since is read again.
import { useEffect, useRef, useState } from 'preact/hooks';
import { fetchSeries } from '../api/client';
import type { RunEntry } from '../api/types';
import { withoutHoles, type Growing } from './run_store';
import type { Clock } from '../model/x_axis';

export interface RunSeries extends Growing {
  samplesPerStep: number | null;
  clock: Clock | undefined;
}

export interface ManySeries {
  of: ReadonlyMap<string, RunSeries>;
  isComplete: boolean;
  problem: Error | undefined;
}

const AT_A_TIME = 4;
const POINTS = 300;
const PAUSE = 150; // ms between two repaints while they come in

const NOTHING: ManySeries = { of: new Map(), isComplete: true, problem: undefined };

// Requests that are not wanted any more stop with the signal.
async function readAll(
  runs: readonly RunEntry[], column: string, signal: AbortSignal, take: (run: RunEntry, series: RunSeries) => void,
): Promise<void> {
  const waiting = [...runs];
  const worker = async (): Promise<void> => {
    for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
      const series = await fetchSeries(run.id, [column], POINTS, signal);
      take(run, {
        ...withoutHoles(series.x, series.columns[column] ?? []),
        samplesPerStep: series.samples_per_step,
        clock: series.seconds ? { x: series.x, seconds: series.seconds } : undefined,
      });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

export function useManySeries(runs: readonly RunEntry[], column: string, isWanted: boolean): ManySeries {
  const kept = useRef({ column: '', series: new Map<string, RunSeries>(), stamps: new Map<string, string>() });
  const [state, setState] = useState(NOTHING);
  // Studies change all the time while they run: only what belongs to these runs counts.
  const key = isWanted ? `${column}\n${runs.map((run) => `${run.id} ${run.updated}`).join('\n')}` : '';
  useEffect(() => {
    if (key === '') return;
    if (kept.current.column !== column) kept.current = { column, series: new Map(), stamps: new Map() };
    const { series, stamps } = kept.current;
    const abort = new AbortController();
    let last = performance.now();
    const show = (isComplete: boolean, problem?: Error): void => {
      last = performance.now();
      const ids = new Set(runs.map((run) => run.id));
      setState({ of: new Map([...series].filter(([id]) => ids.has(id))), isComplete, problem });
    };
    const stale = runs.filter((run) => stamps.get(run.id) !== String(run.updated));
    readAll(stale, column, abort.signal, (run, found) => {
      series.set(run.id, found);
      stamps.set(run.id, String(run.updated));
      if (performance.now() - last > PAUSE) show(false);
    }).then(() => show(true), (problem: Error) => {
      if (!abort.signal.aborted) show(true, problem);
    });
    return () => abort.abort();
  }, [key]);
  return isWanted ? state : NOTHING;
}
