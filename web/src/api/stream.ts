// What the server tells by itself. The browser reconnects and says where it stopped.
import { address } from './client';

export interface Row {
  step: number;
  values: Record<string, number | null>;
}

export interface RunListener {
  row(row: Row): void;
  event(): void; // something was found or kept, or the status has changed
  connected(isConnected: boolean): void;
}

export function followRun(id: string, listener: RunListener): () => void {
  const source = new EventSource(address('stream', { id }));
  source.addEventListener('row', (message) => {
    const row = JSON.parse((message as MessageEvent<string>).data) as Row;
    listener.row(row);
  });
  source.addEventListener('event', () => listener.event());
  source.addEventListener('status', () => listener.event());
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
