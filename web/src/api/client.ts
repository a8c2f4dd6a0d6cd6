// Requests to the server this page came from.
import type { WrittenFigure } from '../report/embedded';
import type { FigureName, Group, Index, Run, Series, Study } from './types';

export class ApiError extends Error {
  constructor(message: string, readonly hint: string) {
    super(message);
  }
}

type Parameters = Record<string, string | number | undefined | readonly string[]>;

export function address(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(key, String(one));
  }
  const text = query.toString();
  return `/api/${path}${text === '' ? '' : `?${text}`}`;
}

async function failure(response: Response): Promise<ApiError> {
  try {
    const said = (await response.json()) as { error?: string; hint?: string };
    return new ApiError(said.error ?? response.statusText, said.hint ?? '');
  } catch {
    return new ApiError(`${response.status} ${response.statusText}`, '');
  }
}

async function get(path: string, parameters: Parameters, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address(path, parameters), signal ? { signal } : {});
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError('the server does not answer', 'is eureka serve still running?');
  }
  if (!response.ok) throw await failure(response);
  return response;
}

const json = async <T>(path: string, parameters: Parameters, signal?: AbortSignal): Promise<T> =>
  (await (await get(path, parameters, signal)).json()) as T;

export const fetchIndex = (signal?: AbortSignal): Promise<Index> => json('index', {}, signal);
export const fetchRun = (id: string, signal?: AbortSignal): Promise<Run> => json('run', { id }, signal);
export const fetchStudy = (id: string, signal?: AbortSignal): Promise<Study> => json('study', { id }, signal);

export const fetchGroup = (
  id: string, query: { column: string | undefined; by: 'step' | 'moment'; point: string | undefined }, signal?: AbortSignal,
): Promise<Group> => json('group', { id, ...query }, signal);

export const fetchSeries = (
  id: string, columns: readonly string[], points: number, signal?: AbortSignal,
): Promise<Series> => json('series', { id, column: columns, points }, signal);

export const fetchFigureNames = async (id: string, signal?: AbortSignal): Promise<FigureName[]> =>
  (await json<{ figures: FigureName[] }>('figure', { id, name: 'list' }, signal)).figures;

// What the page draws itself, where it can.
export const fetchFigureData = (id: string, name: string, signal?: AbortSignal): Promise<WrittenFigure> =>
  json('figure', { id, name, for: 'script' }, signal);

export const fetchFigure = async (id: string, name: string, signal?: AbortSignal): Promise<string> =>
  (await get('figure', { id, name, for: 'page' }, signal)).text();
