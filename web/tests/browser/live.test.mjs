// The page of `eureka serve` in a browser, beside runs that train.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  discard, download, eureka, makeStudy, openBrowser, openPage, pictureOf, rowsOf, scratch, serve, startTraining, until, violations,
} from './support.mjs';

let folder, server, browser;

before(async () => {
  folder = scratch();
  makeStudy(folder);
  eureka('train', 'two-step', '--seed', '1', '--set', 'train.steps=1500', '--out', join(folder, 'alone'));
  server = await serve(folder);
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  server?.stop();
  discard(folder);
});

async function at(view, options) {
  const opened = await openPage(browser, options);
  await opened.page.goto(`${server.address}#/${view}`);
  await opened.page.getByRole('heading', { level: 1 }).waitFor();
  return opened;
}

const firstChart = (page) => page.locator('figure.chart').first();

test('a run that trains appears in the list, and its curve grows while one looks', async () => {
  const { page, wrong, close } = await at('index');
  const training = startTraining('two-step', '--seed', '5', '--set', 'train.steps=200000', '--set', 'train.eval_every=20',
    '--out', join(folder, 'growing'));
  try {
    await page.getByRole('link', { name: /growing/ }).click();
    const chart = firstChart(page);
    await chart.locator('canvas').waitFor();
    const before = await rowsOf(page, chart);
    const picture = await pictureOf(chart.locator('canvas'));
    let now = before;
    await until('more rows', async () => (now = await rowsOf(page, chart)).length > before.length + 5);
    assert.deepEqual(now.slice(0, 2), before.slice(0, 2));
    const steps = now.filter((row) => row[1] === 'validation').map((row) => Number(row[2]));
    assert.deepEqual(steps, [...new Set(steps)].sort((a, b) => a - b));
    assert.notDeepEqual(await pictureOf(chart.locator('canvas')), picture);
    await page.getByText('running').first().waitFor();
  } finally {
    training.kill('SIGTERM');
  }
  await page.getByText('interrupted').first().waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('arms are grouped with the baseline first; groups open, can be chosen and compared', async () => {
  const { page, wrong, close } = await at('index?f=study%3Dsmall');
  const groups = page.locator('tr.group button.fold');
  assert.deepEqual(await groups.allTextContents(), ['softmax', 'qk']);
  await groups.first().click();
  assert.equal(await page.locator('tr.inside').count(), 3);
  await page.getByLabel('group by').selectOption('none');
  assert.equal(await page.locator('a[data-row][href*="run?id"]').count(), 6);
  await page.getByLabel('group by').selectOption('attention.rule');
  assert.equal(await page.locator('tr.group').count(), 2);
  await page.getByRole('button', { name: /Compare what is listed/ }).click();
  await page.locator('figure.chart canvas').first().waitFor();
  assert.match(page.url(), /compare\?f=study%3Dsmall&by=attention.rule/);
  assert.equal(await firstChart(page).locator('.legend button').count(), 2);
  assert.deepEqual(wrong, []);
  await close();
});

test('a study: arms are hidden and shown, seeds appear, a stretch is zoomed in all charts, and the link restores it', async () => {
  const { page, wrong, close } = await at('study?id=small');
  const chart = firstChart(page);
  await chart.locator('canvas').waitFor();
  const curves = async () => new Set((await rowsOf(page, chart)).map((row) => row[1]));
  assert.deepEqual([...(await curves())].sort(), ['qk', 'softmax']);
  const arm = chart.getByRole('button', { name: 'qk', exact: true });
  await arm.click();
  assert.equal(await arm.getAttribute('aria-pressed'), 'false');
  assert.match(page.url(), /hide=qk/);
  await arm.click();
  const before = (await rowsOf(page, chart)).length;
  await page.getByLabel('single seeds').check();
  await until('rows of single seeds', async () => (await rowsOf(page, chart)).length > 2 * before);
  const plot = await chart.locator('.u-over').boundingBox();
  await page.mouse.move(plot.x + 0.25 * plot.width, plot.y + 50);
  await page.mouse.down();
  await page.mouse.move(plot.x + 0.5 * plot.width, plot.y + 60, { steps: 5 });
  await page.mouse.up();
  await until('zoom in the address', () => /zoom=/.test(page.url()));
  const [low, high] = new URL(page.url().replace('#/study', '')).searchParams.get('zoom').split(',').map(Number);
  assert.ok(Math.abs(low - 225) < 25 && Math.abs(high - 450) < 25, `${low} ${high}`);
  await page.reload();
  await chart.getByRole('button', { name: 'Whole axis' }).waitFor();
  assert.equal(await page.getByLabel('single seeds').isChecked(), true);
  await page.keyboard.press('w');
  await until('the whole axis', () => !/zoom=/.test(page.url()));
  await page.getByLabel('on own moments').check();
  await page.getByRole('heading', { name: /set on its own moment/ }).waitFor();
  await page.getByRole('heading', { name: /How many runs are still without a moment/ }).waitFor();
  await page.locator('figure.drawn svg').first().waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('x in samples, logarithmic axes and smoothing change what is drawn', async () => {
  const { page, wrong, close } = await at('run?id=alone');
  const chart = firstChart(page);
  await chart.locator('canvas').waitFor();
  const lastX = async () => Math.max(...(await rowsOf(page, chart)).map((row) => Number(row[2])));
  const steps = await lastX();
  await page.getByLabel('x', { exact: true }).selectOption('samples');
  await until('samples', async () => (await lastX()) > steps);
  assert.equal((await lastX()) % steps, 0);
  let picture = await pictureOf(chart.locator('canvas'));
  for (const key of ['y', 'l', ']']) {
    await page.keyboard.press(key);
    await until(`another picture after ${key}`, async () => !(await pictureOf(chart.locator('canvas'))).equals(picture));
    picture = await pictureOf(chart.locator('canvas'));
  }
  assert.match(page.url(), /x=samples&log=xy&smooth=1/);
  await page.locator('summary', { hasText: 'attention' }).click();
  await page.getByRole('heading', { name: /What does 'attention' see/ }).waitFor();
  assert.ok((await page.locator('details figure.chart .panel').count()) > 4);
  assert.deepEqual(wrong, []);
  await close();
});

test('a figure becomes an SVG and a PNG file', async () => {
  const { page, wrong, close } = await at('run?id=alone');
  const chart = firstChart(page);
  await chart.locator('canvas').waitFor();
  const svg = await download(page, chart.getByRole('button', { name: 'SVG', exact: true }));
  assert.equal(svg.name, 'curve.svg');
  const shape = await page.evaluate((text) => {
    const root = new DOMParser().parseFromString(text, 'image/svg+xml');
    return { error: root.querySelector('parsererror') !== null, paths: root.querySelectorAll('path').length, text: root.documentElement.textContent };
  }, svg.bytes.toString());
  assert.equal(shape.error, false);
  assert.ok(shape.paths > 8);
  assert.match(shape.text, /where the moment\?/);
  assert.ok(!svg.bytes.toString().includes('var('));
  const png = await download(page, chart.getByRole('button', { name: 'PNG', exact: true }));
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  assert.equal(png.bytes.readUInt32BE(16), 1520);
  assert.deepEqual(wrong, []);
  await close();
});

test('all of it by keyboard', async () => {
  const { page, wrong, close } = await at('index');
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.keyboard.type('alone');
  await page.keyboard.press('Escape');
  await page.getByText(/^1 of/).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  assert.equal(await page.getByLabel('choose alone').isChecked(), true);
  await page.keyboard.press('Enter');
  const chart = firstChart(page);
  await chart.locator('canvas').waitFor();
  for (let i = 0; i < 30 && !(await chart.locator('.plot').evaluate((plot) => plot === document.activeElement)); ++i)
    await page.keyboard.press('Tab');
  await page.keyboard.press('End');
  await chart.getByRole('status').filter({ hasText: 'training step: 1500' }).waitFor();
  await page.keyboard.press('ArrowLeft');
  await chart.getByRole('status').filter({ hasText: 'training step: 1470' }).waitFor();
  await page.keyboard.press('+');
  await until('zoom by key', () => /zoom=/.test(page.url()));
  await page.keyboard.press('0');
  await until('the whole axis', () => !/zoom=/.test(page.url()));
  await page.keyboard.press('t');
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
  await page.keyboard.press('h');
  await page.getByRole('heading', { name: 'Studies' }).waitFor();
  assert.deepEqual(wrong, []);
  await close();
});

test('nothing an accessibility checker would object to, light and dark, wide and narrow', async () => {
  for (const [colorScheme, width] of [['light', 1280], ['dark', 390]]) {
    for (const view of ['index', 'run?id=alone&see=attention', 'study?id=small', 'compare?f=study%3Dsmall']) {
      const { page, wrong, close } = await at(view, { colorScheme, viewport: { width, height: 900 } });
      if (view !== 'index') await page.locator('figure.chart canvas').first().waitFor();
      assert.deepEqual(await violations(page), [], `${view}, ${colorScheme}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(overflow <= 0, `${view} is wider than ${width}`);
      assert.deepEqual(wrong, []);
      await close();
    }
  }
});
