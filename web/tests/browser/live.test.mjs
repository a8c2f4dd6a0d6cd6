// The page of `eureka serve` in a browser, beside runs that train.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  download, drag, eureka, makeStudy, openPage, pictureOf, rowsOf, serve, setting, sidewaysBy, startTraining, until, violations,
} from './support.mjs';

const shared = setting(async (all) => {
  makeStudy(all.folder, 'points', '[axes]\ntrain.batch = [64, 128]\n');
  all.server = await serve(all.folder);
});

async function at(view, options) {
  const opened = await openPage(shared.browser, options);
  await opened.page.goto(`${shared.server.address}#/${view}`);
  await opened.page.getByRole('heading', { level: 1 }).waitFor();
  return opened;
}

const firstChart = (page) => page.locator('figure.chart').first();

test('a run that trains appears in the list, and its curve grows while one looks', async () => {
  const { page, wrong, close } = await at('index');
  const training = startTraining('two-step', '--seed', '5', '--set', 'train.steps=200000', '--set', 'train.eval_every=20',
    '--out', join(shared.folder, 'growing'));
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
    // A hundred steps of 200,000 are no pixel yet.
    await until('another picture', async () => !(await pictureOf(chart.locator('canvas'))).equals(picture));
    await page.getByText('running').first().waitFor();
    assert.equal(await page.getByText('What is missing here').count(), 0);
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
  await groups.nth(1).waitFor();
  assert.deepEqual(await groups.allTextContents(), ['softmax', 'qk']);
  await groups.first().click();
  await page.locator('tr.inside').nth(2).waitFor();
  assert.equal(await page.locator('tr.inside').count(), 3);
  await page.getByLabel('group by').selectOption('none');
  await page.locator('a[data-row][href*="run?id"]').nth(5).waitFor();
  assert.equal(await page.locator('a[data-row][href*="run?id"]').count(), 6);
  await page.getByLabel('group by').selectOption('attention.rule');
  await page.locator('tr.group').nth(1).waitFor();
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
  await drag(page, chart.locator('.u-over'), 0.25, 0.5);
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
  const survival = page.locator('figure.drawn').filter({ has: page.getByRole('heading', { name: /How many runs are still without a moment/ }) });
  await survival.getByText('runs still waiting').first().waitFor();
  await survival.getByRole('button', { name: 'Zoom, hide and show' }).click();
  await survival.locator('canvas').first().waitFor();
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

test('heatmaps and forest plots of a study are read and zoomed with the keyboard, and those of one axis together', async () => {
  const { page, wrong, close } = await at('study?id=points');
  const map = page.locator('.heat').first();
  await map.locator('.scroll').focus();
  await page.keyboard.press('ArrowDown');
  await map.getByRole('status').filter({ hasText: /^softmax at .*: [0-9]+ steps/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await map.getByRole('status').filter({ hasText: /^qk at .*: [0-9]+ steps/ }).waitFor();
  assert.equal(await page.locator('.forest').count(), 2);
  const forests = [page.locator('.forest').first(), page.locator('.forest').last()];
  const ticks = async () => Promise.all(forests.map((forest) => forest.locator('.ticks').innerHTML()));
  const whole = await ticks();
  await forests[0].focus();
  for (let i = 0; i < 3; ++i) await page.keyboard.press('+');
  await until('other ticks in both', async () => (await ticks()).every((text, i) => text !== whole[i]));
  await page.keyboard.press('0');
  await until('the whole axis', async () => (await ticks()).join() === whole.join());
  assert.deepEqual(wrong, []);
  await close();
});

test('an arm has its color of the study where only some are compared', async () => {
  const colors = async (place, name) => {
    const { page, close } = await at(place);
    const sample = firstChart(page).locator('.legend li', { hasText: name }).locator('line');
    const stroke = await sample.getAttribute('stroke');
    await close();
    return stroke;
  };
  makeStudy(shared.folder, 'three', '[[arm]]\nname = "norm"\nset.attention = { rule = "norm_softmax" }\n');
  const among = await colors('study?id=three', 'norm');
  assert.equal(await colors('compare?f=study%3Dthree%20arm%3Dnorm', 'norm'), among);
  assert.notEqual(among, await colors('study?id=three', 'qk'));
});

test('a run that stopped at its moment says so, and how many steps it took', async () => {
  eureka('train', 'two-step', '--seed', '1', '--set', 'attention.rule=qk_norm', '--set', 'train.until=moment', '--out',
    join(shared.folder, 'stopped'));
  const { page, wrong, close } = await at('run?id=stopped');
  const text = await page.locator('.summary').innerText();
  assert.match(text, /\d+, stopped at its moment/);
  assert.ok(!text.includes(' of 2500'), text);
  assert.deepEqual(wrong, []);
  await close();
});

test('nothing an accessibility checker would object to, light and dark, wide and narrow', async () => {
  for (const [colorScheme, width] of [['light', 1280], ['dark', 390]]) {
    for (const view of ['index', 'run?id=alone&see=attention', 'study?id=small', 'study?id=points', 'compare?f=study%3Dsmall']) {
      const { page, wrong, close } = await at(view, { colorScheme, viewport: { width, height: 900 } });
      if (view !== 'index') await page.locator('figure.chart canvas').first().waitFor();
      assert.deepEqual(await violations(page), [], `${view}, ${colorScheme}`);
      assert.ok((await sidewaysBy(page)) <= 0, `${view} is wider than ${width}`);
      assert.deepEqual(wrong, []);
      await close();
    }
  }
});
