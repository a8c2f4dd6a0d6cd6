// What lies within the axes of a panel, on a canvas.
import type { Dots } from '../model/figure';
import { dashPattern } from '../model/tones';
import type { Resolve } from './colors';
import type { Laid } from './layout';
import { placesIn, traceBand, traceCurve, type Frame, type Places } from './trace';

export function paintPanel(ctx: CanvasRenderingContext2D, laid: Laid, frame: Frame, color: Resolve, ratio: number): void {
  const places = placesIn(frame, laid.x, laid.y);
  ctx.save();
  ctx.beginPath();
  ctx.rect(frame.left, frame.top - 2 * ratio, frame.width, frame.height + 4 * ratio);
  ctx.clip();
  ctx.lineJoin = 'round';
  paintRests(ctx, laid, frame, places, color, ratio);
  for (const curve of laid.curves) {
    if (!curve.band) continue;
    const path = new Path2D();
    traceBand(path, curve.band, curve.stairs ?? false, places, laid.x, frame);
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = color(curve.tone.color);
    ctx.fill(path);
  }
  for (const line of laid.panel.lines) {
    ctx.globalAlpha = line.tone.opacity;
    ctx.strokeStyle = color(line.tone.color);
    ctx.lineWidth = line.tone.width * ratio;
    ctx.setLineDash(dashPattern(line.tone).map((length) => length * ratio));
    const at = line.vertical ? places.x(line.at) : places.y(line.at);
    ctx.beginPath();
    ctx.moveTo(line.vertical ? at : frame.left, line.vertical ? frame.top : at);
    ctx.lineTo(line.vertical ? at : frame.left + frame.width, line.vertical ? frame.top + frame.height : at);
    ctx.stroke();
  }
  for (const curve of laid.curves) {
    const path = new Path2D();
    traceCurve(path, curve, places, laid.x);
    ctx.globalAlpha = curve.tone.opacity;
    ctx.strokeStyle = color(curve.tone.color);
    ctx.lineWidth = curve.tone.width * ratio;
    ctx.setLineDash(dashPattern(curve.tone).map((length) => length * ratio));
    ctx.stroke(path);
    paintLonePoint(ctx, laid, curve.x, curve.y, places, color(curve.tone.color), ratio);
  }
  ctx.globalAlpha = 1;
  ctx.restore();
  for (const dots of laid.panel.dots) paintDots(ctx, dots, laid, places, color, ratio);
}

function paintRests(
  ctx: CanvasRenderingContext2D, laid: Laid, frame: Frame, places: Places, color: Resolve, ratio: number,
): void {
  ctx.fillStyle = ctx.strokeStyle = color('--plateau');
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([6 * ratio, 4 * ratio]);
  for (const rest of laid.panel.rests) {
    const from = Math.max(frame.left, places.x(rest.from));
    const to = Math.min(frame.left + frame.width, places.x(rest.to));
    if (to <= from) continue;
    ctx.globalAlpha = 0.13;
    ctx.fillRect(from, frame.top, to - from, frame.height);
    ctx.globalAlpha = 1;
    const y = places.y(rest.level);
    ctx.beginPath();
    ctx.moveTo(from, y);
    ctx.lineTo(to, y);
    ctx.stroke();
  }
  ctx.setLineDash([]);
}

// A line of one point would not be seen.
function paintLonePoint(
  ctx: CanvasRenderingContext2D, laid: Laid, x: readonly number[], y: readonly (number | null)[], places: Places,
  color: string, ratio: number,
): void {
  const value = y[0];
  if (x.length !== 1 || typeof value !== 'number' || laid.x.low > (x[0] as number)) return;
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.arc(places.x(x[0] as number), places.y(value), 2.5 * ratio, 0, 2 * Math.PI);
  ctx.fill();
}

// Corners of a marker around 0, of size 1 across; none for a circle.
export const CORNERS: Record<Dots['shape'], [number, number][]> = {
  circle: [],
  square: [[-0.45, -0.45], [0.45, -0.45], [0.45, 0.45], [-0.45, 0.45]],
  triangle: [[0, -0.55], [0.52, 0.4], [-0.52, 0.4]],
  diamond: [[0, -0.6], [0.6, 0], [0, 0.6], [-0.6, 0]],
};
export const DOT_SIZE = 7;

function paintDots(
  ctx: CanvasRenderingContext2D, dots: Dots, laid: Laid, places: Places, color: Resolve, ratio: number,
): void {
  ctx.fillStyle = color(dots.color);
  dots.x.forEach((x, i) => {
    const y = dots.y[i];
    if (typeof y !== 'number' || x < laid.x.low || x > laid.x.high) return;
    const [px, py] = [places.x(x), places.y(Math.max(y, laid.y.low))];
    ctx.beginPath();
    if (dots.shape === 'circle') ctx.arc(px, py, (DOT_SIZE / 2) * ratio, 0, 2 * Math.PI);
    else for (const [dx, dy] of CORNERS[dots.shape]) ctx.lineTo(px + dx * DOT_SIZE * ratio, py + dy * DOT_SIZE * ratio);
    ctx.fill();
  });
}
