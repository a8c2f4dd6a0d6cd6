// One panel on the screen: uPlot gives axes, reading line and dragging, the curves are painted between them.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { pageColors } from './colors';
import type { Laid } from './layout';
import { paintPanel } from './paint';
import type { Range } from './scale';

export interface PlotEvents {
  zoom(range: Range | undefined): void;
  // Where the reading line is, in values of x and in pixels from the left of the plot; none when it is gone.
  read(at: { x: number; pixel: number; y: number } | undefined): void;
}

const FONT = '12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif';
const AXIS_HEIGHT = 42;
export const PLOT_MARGINS = { left: 58, right: 20, top: 8, bottom: AXIS_HEIGHT };

export class Plot {
  private laid: Laid;
  private readonly u: uPlot;
  private color = pageColors();
  private drag = false;

  constructor(
    private readonly host: HTMLElement, laid: Laid, plotHeight: number, group: string, private readonly events: PlotEvents,
  ) {
    this.laid = laid;
    this.u = new uPlot(this.options(plotHeight, group), this.ends(), host);
    this.u.root.querySelectorAll('canvas').forEach((canvas) => canvas.setAttribute('aria-hidden', 'true'));
  }

  show(laid: Laid): void {
    // uPlot fixes the kind of its axes when it is made.
    if (this.laid.x.log !== laid.x.log || this.laid.y.log !== laid.y.log) return;
    this.laid = laid;
    this.redraw();
  }

  repaint(): void {
    this.color = pageColors();
    this.redraw();
  }

  resize(width: number, plotHeight: number): void {
    this.u.setSize({ width, height: plotHeight + PLOT_MARGINS.top + PLOT_MARGINS.bottom });
  }

  // The reading line by keyboard: share of the width.
  moveTo(value: number): void {
    this.u.setCursor({ left: this.u.valToPos(value, 'x'), top: this.u.over.clientHeight / 2 });
  }

  leave(): void {
    this.u.setCursor({ left: -10, top: -10 });
  }

  destroy(): void {
    this.u.destroy();
  }

  private redraw(): void {
    this.u.setData(this.ends());
  }

  // uPlot wants data; ours stays with us.
  private ends(): uPlot.AlignedData {
    return [[this.laid.x.low, this.laid.x.high], [null, null]];
  }

  private options(plotHeight: number, group: string): uPlot.Options {
    const { panel } = this.laid;
    return {
      width: Math.max(120, this.host.clientWidth),
      height: plotHeight + PLOT_MARGINS.top + PLOT_MARGINS.bottom,
      padding: [PLOT_MARGINS.top, PLOT_MARGINS.right, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, distr: this.laid.x.log ? 3 : 1, range: () => [this.laid.x.low, this.laid.x.high] },
        y: { distr: this.laid.y.log ? 3 : 1, range: () => [this.laid.y.low, this.laid.y.high] },
      },
      series: [{}, { show: false }],
      axes: [this.axis('x', panel.x.label), this.axis('y', '')],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        sync: { key: group, scales: ['x', null], setSeries: false },
        bind: { dblclick: () => () => (this.events.zoom(undefined), null) },
      },
      hooks: {
        draw: [(u) => this.paint(u)],
        setSelect: [(u) => this.chooseStretch(u)],
        setCursor: [(u) => this.tellReading(u)],
      },
    };
  }

  private axis(which: 'x' | 'y', label: string): uPlot.Axis {
    const scale = (): Laid['x'] => this.laid[which];
    return {
      stroke: () => this.color('--muted'),
      font: FONT,
      labelFont: FONT,
      ...(label === '' ? {} : { label, labelSize: 20, labelGap: 0 }),
      size: which === 'x' ? 24 : PLOT_MARGINS.left,
      gap: which === 'x' ? 4 : 6,
      grid: which === 'x' ? { show: false } : { stroke: () => this.color('--grid'), width: 1 },
      ticks: which === 'x' ? { stroke: () => this.color('--muted'), width: 1, size: 4 } : { show: false },
      border: { show: which === 'x', stroke: () => this.color('--muted'), width: 1 },
      splits: () => scale().ticks.map((tick) => tick.at),
      filter: (_u, splits) => splits,
      values: () => scale().ticks.map((tick) => tick.label),
    };
  }

  private paint(u: uPlot): void {
    paintPanel(u.ctx, this.laid, u.bbox, this.color, uPlot.pxRatio);
  }

  private chooseStretch(u: uPlot): void {
    if (u.select.width < 4) return;
    const low = u.posToVal(u.select.left, 'x');
    const high = u.posToVal(u.select.left + u.select.width, 'x');
    this.drag = true;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (high > low) this.events.zoom({ low, high });
    this.drag = false;
  }

  private tellReading(u: uPlot): void {
    if (this.drag) return;
    const { left, top } = u.cursor;
    if (left === undefined || left < 0) this.events.read(undefined);
    else this.events.read({ x: u.posToVal(left, 'x'), pixel: left, y: u.posToVal(Math.max(0, top ?? 0), 'y') });
  }
}
