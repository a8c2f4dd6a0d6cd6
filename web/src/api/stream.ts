// What the server tells by itself. The browser reconnects and says where it stopped.
import { address } from './client';

export interface Row {
  step: number;
  values: Record<string, number | null>;
}

export interface RunListener {
  row(row: Row): void;
  event(): void; // something was found or kept, or the status has changed
  reset(): void; // files were cut back: what is shown is to be read anew
  connected(isConnected: boolean): void;
}

// `from`: the offset of the series that is shown.
export function followRun(id: string, from: number, listener: RunListener): () => void {
  const source = new EventSource(address('stream', { id, from }));
  source.addEventListener('row', (message) => listener.row(JSON.parse((message as MessageEvent<string>).data) as Row));
  source.addEventListener('event', () => listener.event());
  source.addEventListener('status', () => listener.event());
  source.addEventListener('reset', () => listener.reset());
  source.onopen = () => listener.connected(true);
  source.onerror = () => listener.connected(false);
  return () => source.close();
}

export function followIndex(changed: () => void, connected: (isConnected: boolean) => void): () => void {
  const source = new EventSource(address('stream'));
  source.addEventListener('index', changed);
  source.onopen = () => connected(true);
  source.onerror = () => connected(false);
  return () => source.close();
}
