// Two bundles with fixed names, each one script and one style without anything to load: --mode app (the live page),
// --mode report (what is put into a report). --mode unit: the parts that need no browser, for node --test.
import { readdirSync } from 'node:fs';
import { defineConfig } from 'vite';

export default defineConfig(({ mode }) => {
  if (mode === 'unit') {
    const names = readdirSync('tests/unit').filter((name) => name.endsWith('.test.js'));
    return {
      build: {
        ssr: true,
        outDir: 'build/unit',
        minify: false,
        rollupOptions: { input: names.map((name) => `tests/unit/${name}`), output: { entryFileNames: '[name].mjs' } },
      },
    };
  }
  return {
    esbuild: { charset: 'ascii', legalComments: 'none' },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: 'dist',
      emptyOutDir: mode === 'app',
      target: 'es2022',
      reportCompressedSize: false,
      lib: { entry: `src/${mode}.tsx`, formats: ['iife'], name: 'eureka', fileName: () => `${mode}.js`, cssFileName: mode },
    },
  };
});
