// Words for columns and numbers, as reports have them.
import { shortest } from '../chart/scale';
import type { Axis } from './figure';

const QUANTITIES: Readonly<Record<string, string>> = {
  lr: 'learning rate (per update)',
  scale_multiple: 'scale of the logits (multiple of its plain value)',
  gradient_norm: 'gradient (norm over all parameters)',
};

export function metricLabel(column: string): string {
  const quantity = QUANTITIES[column];
  if (quantity !== undefined) return quantity;
  let words = column.replace(/_/g, ' ');
  if (words.startsWith('val ')) words = `validation ${words.slice(4)}`;
  if (words.startsWith('train ')) words = `training ${words.slice(6)}`;
  if (words.endsWith(' loss')) words += ' (mean over answers)';
  if (words.endsWith('accuracy')) words += ' (share of answers)';
  if (words.endsWith('explained variance')) words += ' (share)';
  return words;
}

export const valueAxis = (column: string): Axis =>
  column.endsWith('accuracy') ? { label: metricLabel(column), low: 0, high: 1 } : { label: metricLabel(column) };

export const number = (value: number | null | undefined, digits = 4): string =>
  value === null || value === undefined ? '\u2013' : shortest(value, digits);

export const step = (value: number | null | undefined): string =>
  value === null || value === undefined ? '\u2013' : Math.abs(value) >= 100 ? String(Math.round(value)) : shortest(value, 4);

export function age(seconds: number): string {
  if (seconds < 5) return 'just now';
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

// What somebody else's names may hold and a page should not obey, as the program shows it: \u001b.
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export const printable = (text: string): string =>
  text.replace(UNFIT, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
