// What `eureka serve` answers (docs/serve.md). Numbers that are not finite come as null.
import type { Numbers } from '../model/figure';

export interface RunEntry {
  id: string;
  kind: 'run';
  study: string | null;
  arm: string | null;
  point: string | null;
  task: string | null;
  rule: string | null;
  seed: number | null;
  engine: string | null;
  status: string;
  step: number | null;
  steps: number | null;
  stopped_at_moment: boolean; // before its last step, as its config asked
  metric: string | null;
  best: number | null;
  last: number | null;
  moment: number | null;
  updated: number;
  damaged: boolean;
  options: Record<string, string>; // only those that differ among the runs served; never the seed
}

export interface StudyEntry {
  id: string;
  kind: 'study';
  study: string | null;
  question: string | null;
  status: string;
  trials_done: number;
  trials: number | null;
  trials_running: number;
  arms: string[];
  baseline: string | null;
  updated: number;
  damaged: boolean;
}

export type Entry = RunEntry | StudyEntry;

export interface Index {
  root: string;
  version: string;
  time: number;
  stamp: string;
  missing: string[];
  entries: Entry[];
}

export interface Column {
  name: string;
  diagnostic: boolean;
  direction?: 'higher' | 'lower';
  // Of a diagnostic: attention/entropy/layer1/head0.
  of?: string;
  number?: string;
  unit?: string;
  part?: string;
  layer?: number | null;
  head?: number | null;
}

export interface Moment {
  step: number;
  from: number | null;
  to: number | null;
  width: number | null;
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

export interface Series {
  id: string;
  x: number[]; // steps
  samples_per_step: number | null;
  seconds: Numbers | null; // after the first row
  offset: number; // where the stream goes on without a gap
  columns: Record<string, Numbers>;
}

export interface GroupRun {
  id: string;
  seed: number | null;
  moment: number | null;
}

export interface GroupArm {
  name: string;
  baseline: boolean;
  x: number[];
  median: Numbers;
  low: Numbers | null; // of three runs and more
  high: Numbers | null;
  runs: GroupRun[];
}

export interface Group {
  id: string;
  column: string;
  point: string;
  points: string[];
  arms: GroupArm[];
}

// study.json, as far as the page reads it (docs/study-json.md).
export interface StudyArm {
  name: string;
  point: string | null;
  n: number;
  moments: number;
  rate: number | null;
  rate_ci: [number | null, number | null] | null;
  median: number | null;
  median_ci: [number | null, number | null] | null;
  speedup: number | null;
  speedup_ci: [number | null, number | null] | null;
  logrank_p: number | null;
  final_accuracy: number | null;
  verdict_kind: string;
  verdict: string;
}

export interface Study {
  entry: StudyEntry;
  study: { question?: string; baseline?: string; arms?: StudyArm[] } | null;
  missing: string[];
  entries: RunEntry[];
}

export interface FigureName {
  name: string;
  title: string;
  caption?: string;
}
