import js from '@eslint/js';
import globals from 'globals';

const MARKUP = 'Text enters a page as text; markup only through shared/markdown.js.';

const PAGE_LIBRARY = Object.fromEntries(
  ['registry', 'dom', 'flat', 'secret', 'names', 'geometry', 'walk', 'describe', 'snapshot', 'reading', 'forms'].map((name) => [name, 'readonly']),
);

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
    rules: { 'no-redeclare': 'off', 'no-unused-vars': ['error', { args: 'all', argsIgnorePattern: '^_', vars: 'local' }] },
  },
  { files: ['**/tests/js/*.js'], languageOptions: { globals: globals.node } },
];
