// Builds every page of `pages/` into `out/`, each with its script and style sheet, and puts the cases beside them.
import { build } from 'esbuild';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';

const here = import.meta.dirname;
const out = join(here, 'out');

await rm(out, { recursive: true, force: true });
await mkdir(out);
const pages = (await readdir(join(here, 'pages'))).map((file) => join(here, 'pages', file));
await build({
  entryPoints: pages,
  outdir: out,
  bundle: true,
  minify: true,
  legalComments: 'none',
  format: 'iife',
  target: 'chrome120',
  jsx: 'automatic',
  logLevel: 'error',
  // Some libraries ask for it at run time.
  banner: { js: 'var process = { env: { NODE_ENV: "production" } };' },
  define: {
    'process.env.NODE_ENV': '"production"',
    __VUE_OPTIONS_API__: 'true',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  // Templates are compiled in the page.
  alias: {
    vue: 'vue/dist/vue.esm-bundler.js',
    'material-theme': join(here, 'node_modules/@angular/material/prebuilt-themes/azure-blue.css'),
  },
  loader: { '.ttf': 'dataurl', '.woff': 'dataurl', '.woff2': 'dataurl', '.eot': 'empty', '.svg': 'dataurl', '.png': 'dataurl' },
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
});
const built = new Set(await readdir(out));
for (const page of pages) {
  const name = basename(page, extname(page));
  const style = built.has(`${name}.css`) ? `<link rel="stylesheet" href="${name}.css">` : '';
  await writeFile(
    join(out, `${name}.html`),
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${name}</title><link rel="icon" href="data:,">${style}<body><div id="root"></div><script src="${name}.js"></script></body></html>\n`,
  );
}
for (const file of await readdir(join(here, 'cases'))) await cp(join(here, 'cases', file), join(out, file));
