// What needs no browser: filters, medians, smoothing, ticks, the view in the address.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { layOut, PLAIN } from '../../src/chart/layout';
import { Extent, scaleOf, shareOf } from '../../src/chart/scale';
import { toggled } from '../../src/chart/legend';
import { legendOf } from '../../src/chart/legend_entries';
import { SvgPath, placesIn, traceCurve, valueAt } from '../../src/chart/trace';
import { parseFilter } from '../../src/model/filter';
import { emptyPanel } from '../../src/model/figure';
import { armOrder, groupRuns } from '../../src/model/grouping';
import { printable } from '../../src/model/labels';
import { medianOf } from '../../src/model/medians';
import { smoothed } from '../../src/model/smooth';
import { diagnosticFigure } from '../../src/model/run_figures';
import { seriesTone, Tones } from '../../src/model/tones';
import { xUnit } from '../../src/model/x_axis';
import { offered } from '../../src/report/embedded';
import { choicesOf } from '../../src/state/choices';
import { parseView, viewLink } from '../../src/state/location';

const run = (id, more = {}) => ({
  id, kind: 'run', study: null, arm: null, point: null, task: 'two-step', rule: 'softmax', seed: 1, engine: 'fused',
  status: 'finished', step: 100, steps: 100, metric: 'val_accuracy', best: 1, last: 1, moment: null, updated: 0,
  damaged: false, options: { 'train.lr': '0.001', 'attention.rule': 'softmax' }, ...more,
});

test('a filter takes words, options by the end of their name, and comparisons of numbers', () => {
  const runs = [run('a/one'), run('b/two', { rule: 'qk_norm', options: { 'train.lr': '0.01', 'attention.rule': 'qk_norm' } })];
  const found = (text) => runs.filter(parseFilter(text)).map((one) => one.id);
  assert.deepEqual(found(''), ['a/one', 'b/two']);
  assert.deepEqual(found('TWO qk'), ['b/two']);
  assert.deepEqual(found('lr=1e-3'), ['a/one']);
  assert.deepEqual(found('lr>0.001'), ['b/two']);
  assert.deepEqual(found('train.lr<=0.01'), ['a/one', 'b/two']);
  assert.deepEqual(found('rule!=softmax'), ['b/two']);
  assert.deepEqual(found('rule=soft'), []);
  assert.deepEqual(found('__proto__=1'), []);
});

test('runs that differ in the seed alone are one group; the baseline of a study comes first', () => {
  const study = { id: 's', arms: ['mine', 'softmax'], baseline: 'softmax' };
  const runs = [run('s/mine/1', { study: 's', arm: 'mine' }), run('s/mine/2', { study: 's', arm: 'mine', seed: 2 }),
    run('s/softmax/1', { study: 's', arm: 'softmax' }), run('x'), run('y', { seed: 2 }), run('z', { options: { 'train.lr': '1' } })];
  const groups = groupRuns(runs, 'all', armOrder([study]));
  assert.deepEqual(groups.map((group) => group.runs.map((one) => one.id)),
    [['s/softmax/1'], ['s/mine/1', 's/mine/2'], ['x', 'y'], ['z']]);
  assert.deepEqual(groups.map((group) => group.isBaseline), [true, false, false, false]);
  assert.equal(new Set(groups.map((group) => group.name)).size, 4);
});

test('a median counts a run that has ended with its last value', () => {
  const found = medianOf([{ x: [0, 10, 20], y: [0, 0.5, 1] }, { x: [0, 10], y: [0, 1] }, { x: [0, 10, 20], y: [0, null, 0] }]);
  assert.deepEqual(found.x, [0, 10, 20]);
  assert.deepEqual(found.y, [0, 0.5, 1]);
  assert.deepEqual(found.band.low, [0, 0.25, 0.5]);
  assert.equal(medianOf([{ x: [1], y: [2] }]).band, undefined);
});

test('smoothing keeps gaps, ends and constants', () => {
  assert.deepEqual(smoothed([1, 1, 1, 1], 2), [1, 1, 1, 1]);
  assert.deepEqual(smoothed([0, 3, 6], 1), [0, 3, 6]);
  assert.deepEqual(smoothed([0, 9, 0], 1), [0, 3, 0]);
  assert.deepEqual(smoothed([0, null, 6], 1), [0, null, 6]);
});

test('ticks are round and within the axis', () => {
  const extent = new Extent();
  [0, 2500, null, NaN, Infinity].forEach((value) => extent.add(value));
  const scale = scaleOf(extent, { label: 'step' }, 6, true);
  assert.deepEqual(scale.ticks.map((tick) => tick.label), ['0', '500', '1000', '1500', '2000', '2500']);
  assert.equal(scale.high, 2500);
  const log = scaleOf(extent, { label: '', log: true, low: 0.1, high: 10 }, 6, false);
  assert.deepEqual(log.ticks.map((tick) => tick.at), [0.1, 0.2, 0.5, 1, 2, 5, 10]);
  assert.ok(Math.abs(shareOf(log)(1) - 0.5) < 1e-12);
  const tiny = scaleOf(extent, { label: '', log: true, low: 1e-6, high: 1 }, 7, false);
  assert.deepEqual(tiny.ticks.map((tick) => tick.label), ['1e-6', '1e-5', '1e-4', '0.001', '0.01', '0.1', '1']);
  assert.ok(Number.isNaN(shareOf(log)(0)));
});

test('an axis has two numbers at least, whatever its ends are', () => {
  const moments = new Extent();
  [-384, 384].forEach((value) => moments.add(value));
  assert.ok(scaleOf(moments, { label: '', low: -384, high: 384 }, 4, true).ticks.length >= 2);
  const part = new Extent();
  [0.31, 0.44].forEach((value) => part.add(value));
  const log = scaleOf(part, { label: '', log: true }, 5, true);
  assert.ok(log.log && log.ticks.length >= 2);
  for (const { at } of log.ticks) assert.ok(at >= log.low && at <= log.high, String(at));
});

test('what marks curves comes last in the legend', () => {
  const panels = ['a', 'b'].map((name) => ({
    ...emptyPanel({ label: 'x' }, { label: 'y' }), curves: [{ name, tone: seriesTone(0), x: [0], y: [0] }],
    lines: [{ at: 0, vertical: true, tone: seriesTone(1), name: 'moment' }],
  }));
  assert.deepEqual(legendOf({ name: '', title: '', caption: '', columns: 1, height: 9, panels }).map((one) => one.name), ['a', 'b', 'moment']);
});

test('only what changes a figure is offered', () => {
  const figure = (x, y, dots = []) => ({ name: '', title: '', caption: '', columns: 1, height: 9, panels: [{ ...emptyPanel(x, y), dots }] });
  assert.deepEqual(offered(figure({ label: '' }, { label: '', log: true })), { logX: true, logY: false, smooth: true });
  assert.deepEqual(offered(figure({ label: '', low: -5 }, { label: '' })), { logX: false, logY: true, smooth: true });
  assert.deepEqual(offered(figure({ label: '', log: true }, { label: '', log: true }, [{}])), { logX: false, logY: false, smooth: false });
});

test('parts that are told head by head have a panel each', () => {
  const column = (part, head) => ({ name: `gradients/norm/${part}/layer0${head === undefined ? '' : `/head${head}`}`, diagnostic: true,
    of: 'gradients', number: 'norm', layer: 0, part, ...(head === undefined ? {} : { head }) });
  const all = ['k', 'q', 'v'].flatMap((part) => [column(part), column(part, 0), column(part, 1)]);
  const whole = { entry: run('a'), columns: [...all, column('mlp')], moments: [], plateaus: [] };
  const unit = { kind: 'step', label: 'training step', of: (x) => x };
  const { panels } = diagnosticFigure(whole, { get: () => ({ x: [0, 1], y: [0, 1] }) }, unit, 'gradients');
  assert.deepEqual(panels.map((panel) => panel.title), ['norm, k, layer0', 'norm, q, layer0', 'norm, v, layer0', 'norm, layer0']);
  assert.deepEqual(panels[0].curves.map((curve) => curve.name), ['mean over heads, or whole', 'head0', 'head1']);
});

test('nothing, one value and enormous values have scales too', () => {
  for (const values of [[], [5], [0], [-1e299, 1e299]]) {
    const extent = new Extent();
    values.forEach((value) => extent.add(value));
    const scale = scaleOf(extent, { label: '' }, 5, false);
    assert.ok(scale.high > scale.low, String(values));
    assert.ok(scale.ticks.length < 40);
  }
});

test('a curve is traced around its gaps', () => {
  const places = placesIn({ left: 0, top: 0, width: 100, height: 100 }, { low: 0, high: 10, log: false, ticks: [] }, { low: 0, high: 1, log: false, ticks: [] });
  const path = new SvgPath();
  const curve = { name: '', tone: seriesTone(0), x: [0, 5, 10], y: [0, null, 1] };
  traceCurve(path, curve, places, { low: 0, high: 10, log: false, ticks: [] });
  assert.equal(path.toString(), 'M0 100M100 0');
  assert.deepEqual(valueAt(curve, 9, 2), { x: 10, y: 1 });
  assert.equal(valueAt(curve, 5, 2), undefined);
});

test('a hidden curve no longer stretches the axis; seeds do once they are shown', () => {
  const panel = emptyPanel({ label: 'x' }, { label: 'y' });
  panel.curves = [{ name: 'low', tone: seriesTone(0), x: [0, 1], y: [0, 1] }, { name: 'high', tone: seriesTone(1), x: [0, 1], y: [0, 100] },
    { name: 'low', tone: seriesTone(0), x: [0, 1], y: [0, 10], single: true }];
  const figure = { name: '', title: '', caption: '', columns: 1, height: 200, panels: [panel] };
  const high = (choices) => layOut(figure, { ...PLAIN, ...choices }, 400, 200)[0].y.high;
  assert.equal(high({}), 100);
  assert.equal(high({ hidden: new Set(['high']) }), 1);
  assert.equal(high({ hidden: new Set(['high']), seeds: true }), 10);
});

test('the first curve after the seventh has the first color again and other dashes', () => {
  const tones = new Tones('softmax');
  const arms = Array.from({ length: 40 }, (_, i) => tones.of(`arm ${i}`));
  assert.equal(arms[7].color, '--series-0');
  assert.notEqual(arms[7].dash, arms[0].dash);
  assert.equal(new Set(arms.slice(0, 28).map((tone) => tone.color + tone.dash)).size, 28);
  assert.equal(tones.of('softmax').color, '--ink');
});

test('the view goes into the address and comes back', () => {
  const link = viewLink('run', { id: 'a=b/c,d+e@f', log: 'xy', zoom: '100,200', hide: ['a', 'b'], smooth: '3' });
  const view = parseView(link);
  assert.equal(view.values.get('id'), 'a=b/c,d+e@f');
  const choices = choicesOf(view.values);
  assert.deepEqual([choices.logX, choices.logY, choices.smooth, choices.zoom], [true, true, 3, { low: 100, high: 200 }]);
  assert.deepEqual([...choices.hidden], ['a', 'b']);
  assert.equal(parseView('#/elsewhere?id=1').place, 'index');
  assert.equal(choicesOf(new URLSearchParams('zoom=9,1&smooth=4000&x=up')).zoom, undefined);
});

test('with shift a curve is left alone, and comes back with the others', () => {
  const all = ['a', 'b', 'c'];
  const alone = toggled(new Set(), 'b', true, all);
  assert.deepEqual([...alone], ['a', 'c']);
  assert.deepEqual([...toggled(alone, 'b', true, all)], []);
  assert.deepEqual([...toggled(new Set(['a']), 'a', false, all)], []);
});

test('x in samples and seconds', () => {
  assert.equal(xUnit('samples', 64, undefined).of(10), 640);
  assert.equal(xUnit('samples', null, undefined), undefined);
  const clock = { x: [0, 100], seconds: [0, 2] };
  assert.equal(xUnit('seconds', null, clock).of(50), 1);
  assert.equal(xUnit('seconds', null, clock).of(200), 4);
});

test('control characters and marks that turn text around are shown as what they are', () => {
  assert.equal(printable('a\u001b[2Jb\u202e'), 'a\\u001b[2Jb\\u202e');
  assert.equal(printable('\u00dcbung \u28ff <b>'), '\u00dcbung \u28ff <b>');
});

test('the lock file names versions and checksums, and no place to fetch them from', () => {
  const text = readFileSync('package-lock.json', 'utf8');
  assert.ok(!text.includes('://'));
  const packages = Object.entries(JSON.parse(text).packages).filter(([name]) => name !== '');
  assert.ok(packages.length > 10);
  for (const [name, entry] of packages) assert.match(entry.integrity, /^sha512-/, name);
});
