// pictures.mjs PROGRAM DIRECTORY OUT: what docs show of the live page, from the runs below DIRECTORY.
import { spawn } from 'node:child_process';
import { chromium } from 'playwright-core';

const [program, directory, out] = process.argv.slice(2);
const server = spawn(program, ['serve', directory, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const address = await new Promise((resolve, reject) => {
  let said = '';
  server.stdout.on('data', (text) => {
    said += text;
    const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
    if (found) resolve(found[0]);
  });
  server.on('exit', () => reject(new Error(`${program} serve did not start: ${said}`)));
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

async function picture(name, view, options, ready = async () => {}) {
  const page = await browser.newPage({ viewport: { width: 1180, height: 860 }, ...options });
  await page.goto(`${address}#/${view}`);
  await page.locator('h1').waitFor();
  await ready(page);
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${out}/${name}.png` });
  await page.close();
}

const drawn = (page) => page.locator('figure.chart canvas').first().waitFor();
try {
  await picture('page-list', 'index', {}, (page) => page.locator('table').last().waitFor());
  await picture('page-study', 'study?id=cures', {}, drawn);
  await picture('page-run', 'run?id=run', { colorScheme: 'dark' }, async (page) => {
    await drawn(page);
    const plot = await page.locator('.u-over').first().boundingBox();
    await page.mouse.move(plot.x + 0.43 * plot.width, plot.y + 0.4 * plot.height);
  });
} finally {
  await browser.close();
  server.kill();
}
