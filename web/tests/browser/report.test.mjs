// A report opened from disk.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import {
  download, drag, eureka, makeStudy, openPage, pictureOf, rowsOf, serve, setting, sidewaysBy, until, violations,
} from './support.mjs';

let report;
const shared = setting(async ({ folder }) => {
  report = join(folder, 'report.html');
  eureka('report', join(folder, 'small'), join(folder, 'alone'), '-o', report);
});

async function open(file, options) {
  const opened = await openPage(shared.browser, options);
  await opened.page.goto(pathToFileURL(file).href);
  return opened;
}

const curves = (page) => page.locator('h3[id="small/curves"] + figure');

test('from disk: figures zoom, hide and show, seeds appear, files are made', async () => {
  const { page, wrong, close } = await open(report);
  const figure = curves(page);
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('canvas').first().waitFor();
  assert.equal(await figure.locator('> .plot').isVisible(), false);
  const before = await rowsOf(page, figure);
  assert.deepEqual([...new Set(before.map((row) => row[1]))].sort(), ['qk', 'softmax']);
  const picture = await pictureOf(figure.locator('canvas').first());
  await figure.getByLabel('single seeds').check();
  await until('thin lines', async () => !(await pictureOf(figure.locator('canvas').first())).equals(picture));
  await figure.getByRole('button', { name: 'qk', exact: true }).click();
  assert.equal(await figure.getByRole('button', { name: 'qk', exact: true }).getAttribute('aria-pressed'), 'false');
  await drag(page, figure.locator('.u-over').first(), 0.25, 0.5);
  await figure.getByRole('button', { name: 'Whole axis' }).click();
  await figure.getByLabel('log y').check();
  const svg = await download(page, figure.getByRole('button', { name: 'SVG', exact: true }));
  assert.match(svg.bytes.toString(), /^<\?xml/);
  const png = await download(page, figure.getByRole('button', { name: 'PNG', exact: true }));
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  const forest = page.locator('h3[id="small/speedup"] + figure');
  const still = await download(page, forest.getByRole('button', { name: 'PNG' }));
  assert.equal(still.bytes.subarray(1, 4).toString(), 'PNG');
  assert.deepEqual(wrong, []);
  await close();
});

test('numbers at risk stand below the survival curves until one asks to zoom', async () => {
  const { page, wrong, close } = await open(report);
  const figure = page.locator('h3[id="small/survival"] + figure');
  await figure.scrollIntoViewIfNeeded();
  await figure.getByText('runs still waiting').first().waitFor();
  await figure.getByRole('button', { name: 'Zoom, hide and show' }).click();
  await figure.locator('canvas').first().waitFor();
  await figure.getByRole('button', { name: 'As printed' }).click();
  assert.equal(await figure.locator('> .plot').isVisible(), true);
  assert.deepEqual(wrong, []);
  await close();
});

test('without JavaScript every figure and table is there', async () => {
  const { page, wrong, close } = await open(report, { javaScriptEnabled: false });
  assert.equal(await page.locator('canvas').count(), 0);
  assert.equal(await page.locator('.live').count(), 0);
  const figures = page.locator('figure > .plot > svg');
  assert.ok((await figures.count()) > 8);
  assert.equal(await figures.first().isVisible(), true);
  assert.equal(await page.locator('table').first().isVisible(), true);
  assert.deepEqual(wrong, []);
  await close();
});

test('printed it is the standing figures', async () => {
  const { page, close } = await open(report);
  const figure = curves(page);
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('canvas').first().waitFor();
  await page.emulateMedia({ media: 'print' });
  assert.equal(await figure.locator('> .plot').isVisible(), true);
  assert.equal(await figure.locator('canvas').first().isVisible(), false);
  await close();
});

test('on paper a figure taller than a sheet is parted between its rows', async () => {
  const file = join(shared.folder, 'alone.html');
  eureka('report', join(shared.folder, 'alone'), '-o', file);
  const { page, wrong, close } = await open(file);
  const figure = page.locator('h3[id="alone/diagnostic-progress"] + figure');
  assert.equal(await figure.locator('.sheets').isVisible(), false);
  await page.emulateMedia({ media: 'print' });
  const sheets = figure.locator('.sheets > svg');
  assert.ok((await sheets.count()) > 1);
  assert.equal(await figure.locator('> .plot').isVisible(), false);
  for (const sheet of await sheets.all()) {
    const { width, height } = await sheet.boundingBox();
    assert.ok(height > 0 && height < 1.3 * width, `${width} x ${height}`);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test('attention maps have a slider over the steps', async () => {
  const looks = join(shared.folder, 'looks');
  eureka('look', `${join(shared.folder, 'alone')}@0,1000`, '--diagnostic', 'maps', '--out', looks);
  eureka('report', looks, '-o', join(shared.folder, 'looks.html'));
  const { page, wrong, close } = await open(join(shared.folder, 'looks.html'));
  const slider = page.getByRole('slider').first();
  const picture = page.locator('.maps img').first();
  const late = await picture.getAttribute('src');
  await slider.focus();
  await page.keyboard.press('Home');
  await page.getByAltText(/at step 0$/).first().waitFor();
  assert.notEqual(await picture.getAttribute('src'), late);
  assert.deepEqual(wrong, []);
  await close();
});

test('a forest plot zooms by dragging, and back; its standing figure is a button away', async () => {
  const { page, wrong, close } = await open(report);
  const figure = page.locator('h3[id="small/speedup"] + figure');
  await figure.scrollIntoViewIfNeeded();
  const ticks = () => figure.locator('.ticks').innerHTML();
  await figure.locator('.track').first().waitFor();
  assert.match(await figure.locator('tbody tr').first().innerText(), /^qk/);
  const whole = await ticks();
  await drag(page, figure.locator('.track').first(), 0.6, 0.8);
  await until('other ticks', async () => (await ticks()) !== whole);
  await figure.getByRole('button', { name: 'Whole axis' }).click();
  await until('the same ticks', async () => (await ticks()) === whole);
  await figure.getByRole('button', { name: 'As printed' }).click();
  assert.equal(await figure.locator('> .plot').isVisible(), true);
  assert.deepEqual(wrong, []);
  await close();
});

test('a stretch that is zoomed to is zoomed in the other figures by steps too', async () => {
  const { page, wrong, close } = await open(report);
  const [first, second] = ['alone/curve', 'alone/loss'].map((name) => page.locator(`h3[id="${name}"] + figure`));
  for (const figure of [first, second]) {
    await figure.scrollIntoViewIfNeeded();
    await figure.locator('canvas').first().waitFor();
  }
  await drag(page, first.locator('.u-over'), 0.25, 0.5);
  await second.getByRole('button', { name: 'Whole axis' }).click();
  await until('the whole axis', async () => (await first.getByRole('button', { name: 'Whole axis' }).count()) === 0);
  assert.deepEqual(wrong, []);
  await close();
});

test('a report of a damaged run, an empty study and a run of a newer eureka opens and says what is missing', async () => {
  const damaged = join(shared.folder, 'damaged');
  cpSync(join(shared.folder, 'alone'), damaged, { recursive: true });
  rmSync(join(damaged, 'summary.json'));
  const metrics = readFileSync(join(damaged, 'metrics.jsonl'), 'utf8').replace(/"val_accuracy":[0-9.e-]+/, '"val_accuracy":null');
  writeFileSync(join(damaged, 'metrics.jsonl'), `${metrics}not json\n{"step":9999,"val_acc`);
  const newer = join(shared.folder, 'newer');
  cpSync(join(shared.folder, 'alone'), newer, { recursive: true });
  const summary = JSON.parse(readFileSync(join(newer, 'summary.json'), 'utf8'));
  writeFileSync(join(newer, 'summary.json'), JSON.stringify({ ...summary, format: 999 }));
  const empty = join(shared.folder, 'empty');
  mkdirSync(empty);
  writeFileSync(join(empty, 'study.toml'), readFileSync(join(shared.folder, 'small.toml')));
  const file = join(shared.folder, 'damaged.html');
  eureka('report', damaged, newer, empty, '-o', file);
  for (const javaScriptEnabled of [true, false]) {
    const { page, wrong, close } = await open(file, { javaScriptEnabled });
    await page.getByText('What is missing here').first().waitFor();
    assert.ok((await page.getByText('What is missing here').count()) >= 2);
    assert.deepEqual(wrong, []);
    await close();
  }
});

test('nothing an accessibility checker would object to, light and dark, wide and narrow', async () => {
  for (const [colorScheme, width] of [['light', 1280], ['dark', 390]]) {
    const { page, wrong, close } = await open(report, { colorScheme, viewport: { width, height: 900 } });
    assert.ok((await sidewaysBy(page)) <= 0, `wider than ${width}`);
    await curves(page).scrollIntoViewIfNeeded();
    await curves(page).locator('canvas').first().waitFor();
    assert.deepEqual(await violations(page), [], colorScheme);
    assert.deepEqual(wrong, []);
    await close();
  }
});

// Names that would be something else if a page believed them.
const NASTY = '<img src=x onerror=alert(1)>"\'&</script><script>alert(2)</script>\u001b[31m\u202e`${7*7}`';

function spoil(study) {
  const file = join(study, 'study.json');
  const record = JSON.parse(readFileSync(file, 'utf8'));
  record.question = NASTY;
  for (const arm of record.arms) arm.verdict += ` ${NASTY}`;
  record.arms[1].name = NASTY;
  for (const trial of record.trials) if (trial.arm === 'qk') trial.arm = NASTY;
  writeFileSync(file, JSON.stringify(record));
  const config = join(study, 'softmax', 'seed-1', 'config.toml');
  writeFileSync(config, readFileSync(config, 'utf8') + `\n[odd]\nname = ${JSON.stringify(NASTY).replace('\u202e', '\\u202e')}\n`);
}

test('names with HTML, quotes and control characters are text, in the report and in the live page', async () => {
  const study = makeStudy(shared.folder, 'nasty');
  spoil(study);
  const file = join(shared.folder, 'nasty.html');
  eureka('report', study, '-o', file);
  const server = await serve(shared.folder);
  try {
    const places = [pathToFileURL(file).href, `${server.address}#/study?id=nasty`, `${server.address}#/index?by=none`,
      `${server.address}#/run?id=nasty/softmax/seed-1`, `${server.address}#/compare?f=nasty&by=arm`,
      `${server.address}#/index?f=${encodeURIComponent(NASTY)}&by=${encodeURIComponent(NASTY)}`];
    for (const place of places) {
      const { page, wrong, close } = await openPage(shared.browser);
      await page.goto(place);
      await page.locator('h1').first().waitFor();
      if (place.startsWith('file:')) await page.locator('h3[id="nasty/curves"]').scrollIntoViewIfNeeded();
      if (!place.includes('index')) await page.locator('canvas').first().waitFor();
      const text = await page.evaluate(() => document.body.innerText);
      assert.ok(!text.includes('\u001b') && !text.includes('\u202e'), place);
      if (place.includes('study?')) assert.ok(text.includes('<img src=x onerror=alert(1)>'));
      assert.equal(await page.locator('img[src="x"]').count(), 0);
      assert.deepEqual(wrong, [], place);
      await close();
    }
  } finally {
    server.stop();
  }
});
