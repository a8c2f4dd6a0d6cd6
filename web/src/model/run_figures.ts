// The figures of one run: its metric with plateau and moment, its losses, and what each diagnostic sees.
import type { Column, Run } from '../api/types';
import { arrangement, emptyPanel, type Curve, type Figure, type Panel } from './figure';
import { metricLabel, valueAxis } from './labels';
import { MOMENT, seriesTone, TRAINING, VALIDATION, WHOLE } from './tones';
import type { XUnit } from './x_axis';

export interface Columns {
  get(name: string): { x: readonly number[]; y: readonly (number | null)[] } | undefined;
}

const curveOf = (columns: Columns, name: string, unit: XUnit): { x: number[]; y: readonly (number | null)[] } | undefined => {
  const found = columns.get(name);
  return found && found.x.length > 0 ? { x: found.x.map(unit.of), y: found.y } : undefined;
};

function addMarks(panel: Panel, run: Run, unit: XUnit, withLevels: boolean): void {
  for (const moment of run.moments)
    panel.lines.push({ at: unit.of(moment.step), vertical: true, tone: MOMENT, name: 'moment' });
  if (withLevels)
    for (const rest of run.plateaus)
      panel.rests.push({ from: unit.of(rest.begin), to: unit.of(rest.end), level: rest.level });
}

// As far as the run will go, so that a curve that grows moves nothing.
const xAxis = (run: Run, unit: XUnit): Panel['x'] => {
  const { step, steps, status } = run.entry;
  const end = status === 'running' ? steps : null;
  const high = end === null ? NaN : unit.of(Math.max(end, step ?? 0));
  return { label: unit.label, ...(Number.isFinite(high) && high > 0 ? { low: unit.of(0) || 0, high } : {}) };
};

function pairFigure(
  run: Run, columns: Columns, unit: XUnit, names: { training: string; validation: string }, panel: Panel,
): Panel | undefined {
  const training = curveOf(columns, names.training, unit);
  const validation = curveOf(columns, names.validation, unit);
  if (training) panel.curves.push({ name: 'training', tone: TRAINING, ...training });
  if (validation) panel.curves.push({ name: 'validation', tone: VALIDATION, ...validation });
  addMarks(panel, run, unit, !names.validation.endsWith('loss'));
  return panel.curves.length > 0 ? panel : undefined;
}

export function metricFigure(run: Run, columns: Columns, unit: XUnit): Figure | undefined {
  const metric = run.entry.metric ?? 'val_accuracy';
  const training = `train_${metric.replace(/^val_/, '')}`;
  const panel = pairFigure(run, columns, unit, { training, validation: metric }, emptyPanel(xAxis(run, unit), valueAxis(metric)));
  if (panel === undefined) return undefined;
  const caption = (run.moments.length === 0 ? `No moment${run.entry.status === 'running' ? ' so far' : ' was found'}.` : 'Dotted line: the moment, in the middle of the rise.') +
    (run.plateaus.length > 0 ? ' Shaded: the plateau, with its level.' : '');
  return {
    name: 'curve', title: 'When does it learn: where is the plateau, and where the moment?', caption,
    columns: 1, height: 300, panels: [panel],
  };
}

export function lossFigure(run: Run, columns: Columns, unit: XUnit): Figure | undefined {
  const axis = { label: 'loss (mean over answers)', log: true };
  const panel = pairFigure(run, columns, unit, { training: 'train_loss', validation: 'val_loss' }, emptyPanel(xAxis(run, unit), axis));
  return panel && {
    name: 'loss', title: 'What do the losses do meanwhile?', caption: 'On a logarithmic axis.', columns: 1, height: 220, panels: [panel],
  };
}

// Columns that are neither: learning rate, gradient norm, scale.
export function otherFigure(run: Run, columns: Columns, unit: XUnit): Figure | undefined {
  const metric = (run.entry.metric ?? 'val_accuracy').replace(/^val_/, '');
  const isShown = (column: Column): boolean =>
    !column.diagnostic && ![`val_${metric}`, `train_${metric}`, 'val_loss', 'train_loss'].includes(column.name);
  const panels: Panel[] = [];
  for (const column of run.columns.filter(isShown)) {
    const curve = curveOf(columns, column.name, unit);
    if (curve === undefined) continue;
    const panel = emptyPanel(xAxis(run, unit), { label: '' }, metricLabel(column.name));
    panel.curves.push({ name: '', tone: VALIDATION, ...curve });
    addMarks(panel, run, unit, false);
    panels.push(panel);
  }
  if (panels.length === 0) return undefined;
  return { name: 'other', title: 'What else was recorded?', caption: '', ...arrangement(Math.max(2, panels.length)), panels };
}

export function diagnosticNames(run: Run): string[] {
  return [...new Set(run.columns.filter((column) => column.diagnostic).map((column) => column.of ?? ''))];
}

export const columnsOf = (run: Run, diagnostic: string): Column[] =>
  run.columns.filter((column) => column.diagnostic && column.of === diagnostic);

const lineName = (column: Column, part: string): string =>
  [column.part === part ? '' : column.part ?? '', typeof column.head === 'number' ? `head${column.head}` : ''].filter((part) => part !== '').join(' ');

const MOST_LINES = 8; // as many as there are colors: more cannot be told apart

// The parts that get panels of their own, as in C++: those told head by head, where one panel would hold too many lines.
function partsApart(columns: readonly Column[]): ReadonlySet<string> {
  const withHeads = new Set(columns.filter((column) => typeof column.head === 'number').map((column) => column.part ?? ''));
  return columns.length <= MOST_LINES || withHeads.size < 2 ? new Set() : withHeads;
}

// A panel for each number and layer, a line for each head or part.
export function diagnosticFigure(run: Run, columns: Columns, unit: XUnit, diagnostic: string): Figure | undefined {
  const panels = new Map<string, Panel>();
  const tones = new Map<string, number>();
  const numbers = new Map<string, Column[]>();
  for (const column of columnsOf(run, diagnostic)) {
    const key = `${column.number ?? ''} ${column.layer ?? ''}`;
    numbers.set(key, [...(numbers.get(key) ?? []), column]);
  }
  const apart = new Map([...numbers].map(([key, all]) => [key, partsApart(all)]));
  for (const column of [...numbers.values()].flat()) {
    const curve = curveOf(columns, column.name, unit);
    if (curve === undefined) continue;
    const isApart = apart.get(`${column.number ?? ''} ${column.layer ?? ''}`)?.has(column.part ?? '') === true;
    const part = isApart ? column.part ?? '' : '';
    const title = (column.number ?? '') + (part === '' ? '' : `, ${part}`) + (typeof column.layer === 'number' ? `, layer${column.layer}` : '') +
      (column.unit === undefined ? '' : ` (${column.unit})`);
    const panel = panels.get(title) ?? emptyPanel(xAxis(run, unit), { label: '' }, title);
    panels.set(title, panel);
    panel.curves.push(named(curve, lineName(column, part), tones));
  }
  for (const panel of panels.values()) {
    addMarks(panel, run, unit, false);
    if (panel.curves.length === 1) panel.curves[0] = { ...(panel.curves[0] as Curve), name: '' };
  }
  if (panels.size === 0) return undefined;
  return {
    name: `diagnostic-${diagnostic}`,
    title: `What does '${diagnostic}' see in each layer and head?`,
    caption: `One panel for each number in each layer. What each number is: eureka list diagnostics ${diagnostic}.`,
    ...arrangement(Math.max(2, panels.size)),
    panels: [...panels.values()],
  };
}

function named(curve: { x: number[]; y: readonly (number | null)[] }, name: string, tones: Map<string, number>): Curve {
  if (name === '') return { name: 'mean over heads, or whole', tone: WHOLE, ...curve };
  if (!tones.has(name)) tones.set(name, tones.size);
  return { name, tone: { ...seriesTone(tones.get(name) ?? 0), width: 1.2 }, ...curve };
}
