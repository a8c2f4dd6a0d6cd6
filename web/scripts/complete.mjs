// Says that the bundles are whole, for CMake: a build that broke off leaves no dist/complete.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

for (const name of ['app.js', 'app.css', 'report.js', 'report.css']) {
  const text = readFileSync(`dist/${name}`, 'utf8');
  // A report holds its script and style within HTML.
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`dist/${name} would end the element it is put into`);
}
const hash = createHash('sha256').update(readFileSync('dist/report.js')).digest('base64');
writeFileSync('dist/report.hash', `sha256-${hash}`);
writeFileSync('dist/complete', '');
