// A figure as it is seen now, as an SVG file or a PNG, on white paper.
import type { Figure, Tone } from '../model/figure';
import { dashPattern } from '../model/tones';
import { paperColors, type Resolve } from './colors';
import { layOut, type Choices, type Laid } from './layout';
import { legendOf } from './legend_entries';
import { CORNERS, DOT_SIZE } from './paint';
import { placesIn, SvgPath, traceBand, traceCurve, type Frame } from './trace';

const FONT = 'Helvetica, Arial, &quot;Liberation Sans&quot;, sans-serif';
const LEFT = 68;

export const escaped = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g, '\ufffd')
    .replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

const LETTER = 6.3; // the mean width of one, at the size of labels
const LINE = 14;

// Lines of words, each as long as there is room for.
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1];
    if (last === undefined || LETTER * (last.length + 1 + word.length) > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

class Sheet {
  private parts: string[] = [];
  constructor(private readonly color: Resolve) {}

  text(x: number, y: number, text: string, how: { size?: number; color?: string; anchor?: string; turn?: boolean } = {}): void {
    const turn = how.turn ? ` transform="rotate(-90 ${x} ${y})"` : '';
    this.parts.push(`<text x="${x}" y="${y}" font-size="${how.size ?? 12}" text-anchor="${how.anchor ?? 'start'}"` +
      `${turn} fill="${this.color(how.color ?? '--muted')}">${escaped(text)}</text>`);
  }
  path(d: string, tone: Tone): void {
    const dash = dashPattern(tone);
    this.parts.push(`<path d="${d}" fill="none" stroke="${this.color(tone.color)}" stroke-width="${tone.width}"` +
      ` stroke-linejoin="round"${dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : ''}` +
      `${tone.opacity < 1 ? ` stroke-opacity="${tone.opacity}"` : ''}/>`);
  }
  area(d: string, color: string, opacity: number): void {
    this.parts.push(`<path d="${d}" fill="${this.color(color)}" fill-opacity="${opacity}"/>`);
  }
  raw(markup: string): void {
    this.parts.push(markup);
  }
  toString(): string {
    return this.parts.join('\n');
  }
}

const plain = (color: string, width = 1): Tone => ({ color, dash: 'solid', width, opacity: 1 });

function paintAxes(sheet: Sheet, laid: Laid, frame: Frame): void {
  const places = placesIn(frame, laid.x, laid.y);
  const bottom = frame.top + frame.height;
  const right = frame.left + frame.width;
  for (const tick of laid.y.ticks) {
    sheet.path(`M${frame.left} ${places.y(tick.at)}H${right}`, plain('--grid'));
    sheet.text(frame.left - 7, places.y(tick.at) + 4, tick.label, { size: 11, anchor: 'end' });
  }
  sheet.path(`M${frame.left} ${bottom}H${right}`, plain('--muted'));
  for (const tick of laid.x.ticks) {
    sheet.path(`M${places.x(tick.at)} ${bottom}v4`, plain('--muted'));
    sheet.text(places.x(tick.at), bottom + 16, tick.label, { size: 11, anchor: 'middle' });
  }
  sheet.text(frame.left + frame.width / 2, bottom + 33, laid.panel.x.label, { anchor: 'middle' });
  wrapped(laid.panel.y.label, frame.height + 20).forEach((line, i) =>
    sheet.text(frame.left - LEFT + 14 + LINE * i, frame.top + frame.height / 2, line, { anchor: 'middle', turn: true }));
  const title = wrapped(laid.panel.title, frame.width);
  title.forEach((line, i) => sheet.text(frame.left, frame.top - 6 - LINE * (title.length - 1 - i), line, { color: '--ink' }));
}

function paintContent(sheet: Sheet, laid: Laid, frame: Frame, clip: string): void {
  const places = placesIn(frame, laid.x, laid.y);
  sheet.raw(`<clipPath id="${clip}"><rect x="${frame.left}" y="${frame.top - 2}" width="${frame.width}" height="${frame.height + 4}"/></clipPath>`);
  sheet.raw(`<g clip-path="url(#${clip})">`);
  for (const rest of laid.panel.rests) {
    const [from, to] = [places.x(rest.from), places.x(rest.to)];
    sheet.area(`M${from} ${frame.top}H${to}V${frame.top + frame.height}H${from}Z`, '--plateau', 0.13);
    sheet.path(`M${from} ${places.y(rest.level)}H${to}`, { color: '--plateau', dash: 'dashed', width: 1.5, opacity: 1 });
  }
  for (const curve of laid.curves) {
    if (!curve.band) continue;
    const path = new SvgPath();
    traceBand(path, curve.band, curve.stairs ?? false, places, laid.x, frame);
    sheet.area(path.toString(), curve.tone.color, 0.16);
  }
  for (const line of laid.panel.lines)
    sheet.path(line.vertical ? `M${places.x(line.at)} ${frame.top}v${frame.height}` : `M${frame.left} ${places.y(line.at)}h${frame.width}`, line.tone);
  for (const curve of laid.curves) {
    const path = new SvgPath();
    traceCurve(path, curve, places, laid.x);
    if (path.toString() !== '') sheet.path(path.toString(), curve.tone);
  }
  sheet.raw('</g>');
  for (const dots of laid.panel.dots)
    dots.x.forEach((x, i) => {
      const y = dots.y[i];
      if (typeof y !== 'number' || x < laid.x.low || x > laid.x.high) return;
      const [px, py] = [places.x(x), places.y(Math.max(y, laid.y.low))];
      const corners = CORNERS[dots.shape].map(([dx, dy]) => `${px + dx * DOT_SIZE} ${py + dy * DOT_SIZE}`);
      sheet.area(corners.length > 0 ? `M${corners.join('L')}Z` : `M${px - 3.5} ${py}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z`, dots.color, 1);
    });
}

function paintLegend(sheet: Sheet, figure: Figure, choices: Choices, width: number, top: number): number {
  let x = LEFT;
  let y = top;
  for (const entry of legendOf(figure)) {
    if (choices.hidden.has(entry.name)) continue;
    const room = 34 + 6.6 * entry.name.length + 16;
    if (x + room > width && x > LEFT) {
      x = LEFT;
      y += 18;
    }
    sheet.path(`M${x} ${y - 4}h24`, entry.tone);
    sheet.text(x + 30, y, entry.name, { color: '--ink' });
    x += room;
  }
  return legendOf(figure).length > 0 ? y + 14 : top;
}

export function figureSvg(figure: Figure, choices: Choices): string {
  const color = paperColors();
  const sheet = new Sheet(color);
  const columns = Math.max(1, Math.min(figure.columns, figure.panels.length));
  const width = columns === 1 ? 760 : 980;
  sheet.text(LEFT - 46, 24, figure.title, { size: 15, color: '--ink' });
  const hasTitles = figure.panels.some((panel) => panel.title !== '');
  const plotWidth = (width - 12) / columns - LEFT - 14;
  const titleLines = Math.max(...figure.panels.map((panel) => wrapped(panel.title, plotWidth).length));
  const titles = hasTitles ? LINE * titleLines : 0;
  const top = paintLegend(sheet, figure, choices, width, 48) + titles;
  const each = { width: (width - 12) / columns, height: figure.height + 52 + titles };
  layOut(figure, choices, plotWidth, figure.height).forEach((laid, i) => {
    const frame = {
      left: (i % columns) * each.width + LEFT,
      top: top + Math.floor(i / columns) * each.height,
      width: plotWidth,
      height: figure.height,
    };
    paintAxes(sheet, laid, frame);
    paintContent(sheet, laid, frame, `plot-${i}`);
  });
  const height = Math.ceil(top + Math.ceil(figure.panels.length / columns) * each.height);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" font-family="${FONT}">\n<title>${escaped(figure.title)}</title>\n` +
    `<rect width="${width}" height="${height}" fill="${color('--paper')}"/>\n${sheet}\n</svg>\n`;
}
