// What `eureka serve` answers (docs/serve.md). Numbers that are not finite come as null.
import type { Dash, Numbers } from '../model/figure';

export interface RunEntry {
  id: string;
  kind: 'run';
  study: string | null;
  arm: string | null;
  point: string | null;
  task: string;
  rule: string;
  seed: number | null;
  engine: string;
  status: string;
  step: number | null;
  steps: number | null;
  metric: string;
  best: number | null;
  last: number | null;
  moment: number | null;
  updated: number;
  options: Record<string, string>; // only those that differ among the runs served; never the seed
}

export interface ArmEntry {
  name: string;
  baseline?: boolean;
  color?: string;
  dash?: Dash;
}

export interface StudyEntry {
  id: string;
  kind: 'study';
  question: string;
  status: string;
  trials_done: number;
  trials: number;
  arms: ArmEntry[];
  points?: string[];
  updated: number;
}

export type Entry = RunEntry | StudyEntry;

export interface Index {
  root: string;
  version: string;
  time: number;
  entries: Entry[];
}

export interface Column {
  name: string;
  label?: string;
  diagnostic: boolean;
  group?: string | null;
  number?: string | null;
  layer?: string | null;
  head?: string | null;
  part?: string | null;
}

export interface Moment {
  step: number;
  kind?: string;
}

export interface Run {
  entry: RunEntry;
  columns: Column[];
  config: Record<string, string>;
  events: Record<string, unknown>[];
  summary: Record<string, unknown> | null;
  plateau_level: number | null;
  plateaus: { begin: number; end: number; level: number }[];
  moments: Moment[];
  missing: string[];
  meta: Record<string, unknown> | null;
}

export interface OneSeries {
  column: string;
  x: number[];
  y: Numbers;
}

export interface Series {
  id: string;
  samples_per_step: number | null;
  seconds_per_step?: number | null;
  series: OneSeries[];
}

export interface GroupRun {
  id: string;
  seed: number | null;
  moment: number | null;
  x?: number[];
  y?: Numbers;
}

export interface GroupArm extends ArmEntry {
  x: number[];
  median: Numbers;
  low: Numbers;
  high: Numbers;
  runs: GroupRun[];
}

export interface Group {
  label?: string;
  arms: GroupArm[];
}

export interface Table {
  point: string;
  heads: { title: string; help: string }[];
  rows: { arm: string; verdict_kind: string; verdict: string; cells: string[] }[];
}

export interface Study {
  question: string;
  baseline: string;
  points: string[];
  table: Table[];
  missing: string[];
}

export interface FigureName {
  name: string;
  title: string;
  caption?: string;
}
