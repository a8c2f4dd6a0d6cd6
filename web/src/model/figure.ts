// What a figure shows, before anybody draws it: the same shape as figure::Chart in C++ (src/figure/chart.h), which
// reports embed as JSON.

export type Dash = 'solid' | 'dashed' | 'dotted' | 'dash_dotted';

export interface Tone {
  color: string; // the name of a CSS variable: "--series-3"
  dash: Dash;
  width: number;
  opacity: number;
}

export type Numbers = readonly (number | null)[];

export interface Band {
  x: readonly number[];
  low: Numbers;
  high: Numbers;
}

export interface Curve {
  name: string; // in legend and readout
  tone: Tone;
  x: readonly number[]; // ascending
  y: Numbers; // null leaves a gap
  band?: Band;
  stairs?: boolean; // level between its points
  single?: boolean; // one run behind the median of its group
}

export interface Dots {
  name: string;
  color: string;
  shape: 'circle' | 'square' | 'triangle' | 'diamond';
  x: readonly number[];
  y: Numbers;
}

// Across the panel, to read by.
export interface Line {
  at: number;
  vertical: boolean;
  tone: Tone;
  name: string;
}

// Where a curve rests: shaded, with its level.
export interface Rest {
  from: number;
  to: number;
  level: number;
}

export interface Axis {
  label: string;
  log?: boolean;
  percent?: boolean;
  low?: number;
  high?: number;
}

export interface Panel {
  title: string;
  x: Axis;
  y: Axis;
  curves: Curve[];
  dots: Dots[];
  lines: Line[];
  rests: Rest[];
}

export interface Figure {
  name: string;
  title: string; // the question it answers
  caption: string;
  columns: number;
  height: number; // of a panel's plot
  panels: Panel[];
}

// Estimates with their intervals around a line of no difference; an end that is null lies beyond what was observed.
export interface ForestRow {
  name: string;
  tone: Tone;
  estimate: number | null;
  low: number | null;
  high: number | null;
  text: string;
}

export interface Forest {
  label: string;
  even: number;
  rows: ForestRow[];
}

export interface HeatCell {
  text: string;
  fill: string; // #rrggbb
  ink: string;
}

export interface Heatmap {
  row_label: string;
  column_label: string;
  value_label: string;
  rows: string[];
  columns: string[];
  cells: HeatCell[][];
  key: { low: number | null; high: number | null; colors: string[] };
}

export const emptyPanel = (x: Axis, y: Axis, title = ''): Panel => ({
  title,
  x,
  y,
  curves: [],
  dots: [],
  lines: [],
  rests: [],
});

// Columns and height for so many panels, as arrange() does in C++.
export const arrangement = (panels: number): { columns: number; height: number } =>
  panels === 1 ? { columns: 1, height: 300 } : panels <= 4 ? { columns: 2, height: 190 } : { columns: 3, height: 140 };
