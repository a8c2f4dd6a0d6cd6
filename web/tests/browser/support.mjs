// A browser, a server and data for the tests of the page. EUREKA names the program.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { chromium } from 'playwright-core';

export const EUREKA = process.env.EUREKA;
if (!EUREKA) throw new Error('EUREKA names the program');

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const PATIENCE = 120_000; // for what other processes do; a busy machine takes any time

function scratch() {
  return mkdtempSync(join(tmpdir(), 'eureka-page-'));
}
const discard = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

export function eureka(...options) {
  const done = spawnSync(EUREKA, options, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`eureka ${options.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

// What the tests of a file share: a folder with the study "small" and the run "alone", and a browser. `more` adds to it.
export function setting(more = async () => {}) {
  const shared = { folder: '', browser: undefined, server: undefined };
  before(async () => {
    shared.folder = scratch();
    makeStudy(shared.folder);
    eureka('train', 'two-step', '--seed', '1', '--set', 'train.steps=1500', '--out', join(shared.folder, 'alone'));
    await more(shared);
    shared.browser = await openBrowser();
  });
  after(async () => {
    await shared.browser?.close();
    shared.server?.stop();
    discard(shared.folder);
  });
  return shared;
}

export function startTraining(...options) {
  return spawn(EUREKA, ['train', ...options], { stdio: 'ignore' });
}

// A small study: two arms, three seeds, a moment in some.
export function makeStudy(folder, name = 'small', more = '') {
  const file = join(folder, `${name}.toml`);
  writeFileSync(file, `[study]
base = "two-step"
question = "Which arm is sooner?"
seeds = 3
baseline = "softmax"
set.train = { steps = 900 }
[[arm]]
name = "softmax"
[[arm]]
name = "qk"
set.attention = { rule = "qk_norm" }
${more}`);
  eureka('study', file, '--out', join(folder, name));
  return join(folder, name);
}

export async function serve(folder) {
  const process = spawn(EUREKA, ['serve', folder, '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const address = await new Promise((resolve, reject) => {
    let said = '';
    process.stdout.on('data', (text) => {
      said += text;
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
      if (found) resolve(found[0]);
    });
    process.on('exit', (code) => reject(new Error(`eureka serve ended with ${code}: ${said}`)));
  });
  return { address, stop: () => process.kill('SIGTERM') };
}

function openBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

// A page that remembers whatever goes wrong in it, and whatever it asks of others.
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const wrong = [];
  page.on('console', (message) => {
    if (message.type() === 'error') wrong.push(message.text());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['file:', 'data:', 'blob:'].includes(url.protocol) && url.hostname !== '127.0.0.1') wrong.push(`asked ${url}`);
  });
  return { page, wrong, close: () => context.close() };
}

export async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

export async function violations(page) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`);
}

// The numbers behind a chart, as the page itself gives them.
export async function rowsOf(page, figure) {
  const { bytes } = await download(page, figure.getByRole('button', { name: 'CSV', exact: true }));
  return bytes.toString().trim().split('\n').slice(1).map((line) => line.split(','));
}

// A canvas may be drawn anew, as another element, while its picture is taken.
export async function pictureOf(canvas) {
  for (let attempt = 1; ; ++attempt) {
    try {
      return await canvas.screenshot({ timeout: 10_000 });
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

export const sidewaysBy = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

// Drags over a part of an element's width, at a third of its height.
export async function drag(page, element, from, to) {
  const box = await element.boundingBox();
  const y = box.y + box.height / 3;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + to * box.width, y + 5, { steps: 5 });
  await page.mouse.up();
}

export async function until(what, holds) {
  const end = Date.now() + PATIENCE;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
