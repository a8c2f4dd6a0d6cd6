// A report opened from disk.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, before, test } from 'node:test';
import {
  discard, download, eureka, makeStudy, openBrowser, openPage, pictureOf, rowsOf, scratch, serve, until, violations,
} from './support.mjs';

let folder, browser, report;

before(async () => {
  folder = scratch();
  makeStudy(folder);
  eureka('train', 'two-step', '--seed', '1', '--set', 'train.steps=1500', '--out', join(folder, 'alone'));
  report = join(folder, 'report.html');
  eureka('report', join(folder, 'small'), join(folder, 'alone'), '-o', report);
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  discard(folder);
});

async function open(file, options) {
  const opened = await openPage(browser, options);
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
  const plot = await figure.locator('.u-over').first().boundingBox();
  await page.mouse.move(plot.x + 0.25 * plot.width, plot.y + 30);
  await page.mouse.down();
  await page.mouse.move(plot.x + 0.5 * plot.width, plot.y + 40, { steps: 5 });
  await page.mouse.up();
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

test('attention maps have a slider over the steps', async () => {
  const looks = join(folder, 'looks');
  eureka('look', `${join(folder, 'alone')}@0,1000`, '--diagnostic', 'maps', '--out', looks);
  eureka('report', looks, '-o', join(folder, 'looks.html'));
  const { page, wrong, close } = await open(join(folder, 'looks.html'));
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

test('nothing an accessibility checker would object to, light and dark', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const { page, wrong, close } = await open(report, { colorScheme });
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
  const study = makeStudy(folder, 'nasty');
  spoil(study);
  const file = join(folder, 'nasty.html');
  eureka('report', study, '-o', file);
  const server = await serve(folder);
  try {
    const places = [pathToFileURL(file).href, `${server.address}#/study?id=nasty`, `${server.address}#/index?by=none`,
      `${server.address}#/run?id=nasty/softmax/seed-1`, `${server.address}#/compare?f=nasty&by=arm`,
      `${server.address}#/index?f=${encodeURIComponent(NASTY)}&by=${encodeURIComponent(NASTY)}`];
    for (const place of places) {
      const { page, wrong, close } = await openPage(browser);
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
