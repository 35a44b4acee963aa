import js from '@eslint/js';
import globals from 'globals';
import { readdirSync, readFileSync } from 'node:fs';

const MARKUP = 'Text enters a page as text; markup only through shared/markdown.js.';

const PAGE = new URL('../../src/page/', import.meta.url);

/** What the scripts of a folder declare for the others that are joined with them. @param {string} folder */
function declaredIn(folder) {
  const names = readdirSync(new URL(folder, PAGE)).filter((file) => file.endsWith('.js')).flatMap((file) => {
    const source = readFileSync(new URL(folder + file, PAGE), 'utf8');
    return [...source.matchAll(/^(?:const|function) (\w+)/gm)].map(([, name]) => name);
  });
  return Object.fromEntries(names.map((name) => [name, 'readonly']));
}

const PAGE_LIBRARY = declaredIn('lib/');

// What src/page/act.rs takes from the window of the element's document; the same names elsewhere would be
// those of another document. `Document` and `CSS` are the exceptions: only read.
const OWN_WINDOW = Object.fromEntries(
  ['view', 'document', 'location', 'scrollBy', 'getComputedStyle', 'getSelection', 'addEventListener', 'removeEventListener',
    'setTimeout', 'requestAnimationFrame', 'performance', 'InputEvent', 'Event', 'MutationObserver', 'MessageChannel', 'Document', 'CSS'].map((name) => [name, 'readonly']),
);

/** Scripts that are joined: what one declares, another uses. */
const JOINED = { 'no-redeclare': 'off', 'no-unused-vars': ['error', { args: 'all', argsIgnorePattern: '^_', vars: 'local' }] };

export default [
  { ignores: ['**/vendor/**', '**/node_modules/**'] },
  js.configs.recommended,
  {
    rules: {
      'eqeqeq': 'error',
      'max-lines': ['error', { max: 600 }],
      'max-lines-per-function': ['error', { max: 80 }],
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-restricted-properties': [
        'error',
        ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe', 'createContextualFragment', 'srcdoc'].map((property) => ({
          property,
          message: MARKUP,
        })),
        { object: 'document', property: 'write', message: MARKUP },
      ],
      'no-shadow': 'error',
      'no-unused-vars': ['error', { args: 'all', argsIgnorePattern: '^_' }],
      'no-var': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['**/extension/**/*.js'],
    languageOptions: { globals: { ...globals.browser, chrome: 'readonly' } },
  },
  {
    files: ['**/extension/background/**/*.js'],
    languageOptions: { globals: { ...globals.serviceworker, chrome: 'readonly' } },
  },
  {
    // One scope: the files are joined in the order of src/page/mod.rs.
    files: ['**/src/page/lib/*.js'],
    languageOptions: { sourceType: 'script', globals: { ...globals.browser, ...PAGE_LIBRARY } },
    rules: JOINED,
  },
  {
    // One function, `actingKit`, made of the files in the order of src/page/act.rs.
    files: ['**/src/page/act/*.js'],
    languageOptions: { sourceType: 'script', globals: { ...PAGE_LIBRARY, ...declaredIn('act/'), ...OWN_WINDOW } },
    rules: JOINED,
  },
  {
    // Around that function, in the window of the world itself; its callers hand it their windows.
    files: ['**/src/page/act/enter.js'],
    languageOptions: { globals: { actingKit: 'readonly' } },
    rules: { 'no-shadow': ['error', { allow: ['view'] }] },
  },
  {
    // A declaration of one function.
    files: ['**/src/page/*.js'],
    languageOptions: { sourceType: 'script', globals: globals.browser },
    rules: JOINED,
  },
  { files: ['**/tests/js/*.js'], languageOptions: { globals: globals.node } },
];
