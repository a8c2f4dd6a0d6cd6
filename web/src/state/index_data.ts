// The list of runs and studies, fresh whenever the server says that something has changed.
import { useEffect, useState } from 'preact/hooks';
import { fetchIndex } from '../api/client';
import { followIndex } from '../api/stream';
import { armOrder, type ArmOrder } from '../model/grouping';
import type { Index, RunEntry, StudyEntry } from '../api/types';

export interface IndexState {
  index: Index | undefined;
  problem: Error | undefined;
  isConnected: boolean;
}

const PAUSE = 700; // ms between two readings

export function useIndex(): IndexState {
  const [state, setState] = useState<IndexState>({ index: undefined, problem: undefined, isConnected: true });
  useEffect(() => {
    let isOver = false;
    let isReading = false;
    let isStale = false;
    const read = async (): Promise<void> => {
      if (isReading) {
        isStale = true;
        return;
      }
      isReading = true;
      try {
        const index = await fetchIndex();
        if (!isOver) setState((old) => ({ ...old, index, problem: undefined }));
      } catch (problem) {
        if (!isOver) setState((old) => ({ ...old, problem: problem as Error }));
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      isReading = false;
      if (isStale && !isOver) {
        isStale = false;
        void read();
      }
    };
    void read();
    const stop = followIndex(() => void read(), (isConnected) => {
      setState((old) => ({ ...old, isConnected }));
      if (isConnected) void read();
    });
    return () => {
      isOver = true;
      stop();
    };
  }, []);
  return state;
}

export const runsOf = (index: Index): RunEntry[] => index.entries.filter((entry) => entry.kind === 'run');
export const studiesOf = (index: Index): StudyEntry[] => index.entries.filter((entry) => entry.kind === 'study');

export const ordersOf = (index: Index): ArmOrder => armOrder(studiesOf(index));
