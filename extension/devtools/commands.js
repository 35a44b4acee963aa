// The slash commands. Each is a row of this table: name, what it is for, what it does.
import { h } from '../shared/dom.js';
import { moment, t } from '../shared/i18n.js';
import { changeSettings } from '../shared/settings.js';
import { inPage } from './inspected.js';

/** @import { HistoryMessage } from '../shared/messages.js' */
/** @import { ChatInfo, ModelInfo } from '../shared/protocol.js' */
/** @import { Requests } from '../shared/requests.js' */
/** @import { Repl } from './repl.js' */
/** @import { Screen } from './screen.js' */

/**
 * @typedef {object} Terminal
 * @property {Repl} repl
 * @property {Screen} screen
 * @property {Requests} requests
 * @property {(line: string) => void} enter   as if this line had been typed
 * @property {(on: boolean) => void} scripting
 * @property {() => boolean} isScripting
 * @property {() => string} diagnostics
 */

/**
 * @typedef {object} Command
 * @property {string} name
 * @property {string} about      message key
 * @property {string[]} [also]   other names
 * @property {(terminal: Terminal, rest: string, line: string) => void | Promise<void>} act
 */

const THEMES = ['auto', 'light', 'dark'];
const SHORT = 200;
const LISTED = 30;

/** How long the parts of loading took. Its value is an object, so it opens like any other. */
const TIMES = `(() => { const n = performance.getEntriesByType('navigation')[0]; const ms = (v) => Math.round(v);
  const paint = Object.fromEntries(performance.getEntriesByType('paint').map((p) => [p.name, ms(p.startTime)]));
  return n ? { type: n.type, responseStart: ms(n.responseStart), domContentLoaded: ms(n.domContentLoadedEventEnd), load: ms(n.loadEventEnd),
    transferSize: n.transferSize, requests: performance.getEntriesByType('resource').length, ...paint } : paint; })()`;

/** @param {string} name @param {(rest: string) => object} [args] @returns {Command['act']} */
const tool = (name, args = () => ({})) => (terminal, rest, line) => terminal.repl.run(line, name, args(rest));

/** @type {Command[]} */
export const COMMANDS = [
  { name: '/help', about: 'replHelp', also: ['/?'], act: help },
  { name: '/clear', about: 'replClear', act: ({ screen }) => screen.clear() },
  { name: '/new', about: 'replNew', act: (terminal) => begin(terminal) },
  { name: '/reset', about: 'replReset', act: reset },
  { name: '/cancel', about: 'replCancel', act: ({ repl, screen }) => void (repl.stop() || screen.line(t('replNothingRuns'), 'soft')) },
  { name: '/sessions', about: 'replSessions', act: sessions },
  { name: '/resume', about: 'replResume', act: resume },
  { name: '/history', about: 'replHistory', act: (terminal) => transcript(terminal, terminal.repl.sessionId) },
  { name: '/copy', about: 'replCopy', act: copy },
  { name: '/export', about: 'replExport', act: ({ screen }) => save(screen.text()) },
  { name: '/model', about: 'replModel', also: ['/models'], act: model },
  { name: '/login', about: 'signIn', act: login },
  { name: '/url', about: 'replUrl', act: tool('evaluate_js', () => ({ code: 'location.href' })) },
  { name: '/title', about: 'replTitle', act: tool('evaluate_js', () => ({ code: 'document.title' })) },
  { name: '/tabs', about: 'replTabs', act: tool('list_tabs') },
  { name: '/snapshot', about: 'replSnapshot', act: tool('inspect_page') },
  { name: '/dom', about: 'replDom', act: needs('/dom', tool('query_dom', (selector) => ({ selector }))) },
  { name: '/eval', about: 'replEval', act: needs('/eval', (terminal, code, line) => evaluate(terminal, code, line)) },
  { name: '/js', about: 'replJs', act: ({ scripting, isScripting }) => scripting(!isScripting()) },
  { name: '/net', about: 'replNet', act: tool('get_network_requests') },
  { name: '/console', about: 'replConsole', act: tool('get_console_logs') },
  { name: '/perf', about: 'replPerf', act: tool('evaluate_js', () => ({ code: TIMES })) },
  { name: '/theme', about: 'replTheme', act: theme },
  { name: '/version', about: 'replVersion', act: ({ screen, diagnostics }) => void screen.line(diagnostics()) },
  { name: '/feedback', about: 'replFeedback', act: feedback },
  { name: '/exit', about: 'replExit', act: ({ screen }) => void screen.line(t('replExitHint'), 'soft') },
];

/**
 * @param {Terminal} terminal
 * @param {string} line
 * @returns {boolean} whether the line was a command
 */
export function command(terminal, line) {
  if (!line.startsWith('/')) return false;
  const [name = '', ...rest] = line.split(/\s+/);
  const known = COMMANDS.find((each) => each.name === name || each.also?.includes(name));
  if (!known) {
    terminal.screen.line(t('replUnknown', name), 'bad');
    return true;
  }
  const words = line.slice(name.length).trim();
  Promise.resolve(known.act(terminal, rest.length > 0 ? words : '', line)).catch((error) => terminal.screen.line(error.message, 'bad'));
  return true;
}

/**
 * Runs a line in the page. `$0` is the element that is selected in the Elements panel.
 * @param {Terminal} terminal
 * @param {string} code
 * @param {string} line
 */
export async function evaluate(terminal, code, line) {
  const selected = /\$0\b/.test(code) ? await pathOfSelected() : null;
  const before = selected ? `let $0 = ${JSON.stringify(selected)}.reduce((node, at) => at < 0 ? node?.shadowRoot : node?.childNodes[at], document);\n` : '';
  terminal.repl.run(line, 'evaluate_js', { code: before + code });
}

/** The way from the document to the selected node: places among the children, -1 into a shadow root. */
async function pathOfSelected() {
  const find = `(() => { const path = []; let node = $0;
    while (node && node !== document) { const parent = node.parentNode;
      if (!parent && node.host) { path.unshift(-1); node = node.host; continue; }
      if (!parent) return null; path.unshift([...parent.childNodes].indexOf(node)); node = parent; }
    return node ? path : null; })()`;
  const path = await inPage(find);
  return Array.isArray(path) ? path : null;
}

/** @param {string} name @param {Command['act']} act @returns {Command['act']} */
function needs(name, act) {
  return (terminal, rest, line) => (rest ? act(terminal, rest, line) : void terminal.screen.line(t('replNeeds', name), 'bad'));
}

/** @param {Terminal} terminal */
function help({ screen, enter }) {
  screen.list(COMMANDS.map(({ name, about, also = [] }) => ({ text: `${[name, ...also].join(' ').padEnd(16)} ${t(about)}`, act: () => enter(name) })));
  screen.line(t('replHelpKeys'), 'soft');
}

/** @param {Terminal} terminal */
function begin({ repl, screen }) {
  repl.change();
  screen.line(t('replBegun'), 'soft');
}

/** @param {Terminal} terminal */
async function reset(terminal) {
  const id = terminal.repl.sessionId;
  begin(terminal);
  const answer = await terminal.requests.ask('chat.delete', { id });
  terminal.screen.line(answer.ok ? t('optionsDeleted') : t('optionsNotDeleted', answer.error ?? t('noReason')), answer.ok ? 'soft' : 'bad');
}

/** @param {Terminal} terminal */
async function sessions({ screen, requests, enter }) {
  /** @type {ChatInfo[]} */
  const chats = (await requests.ask('chat.list')).chats;
  if (chats.length === 0) screen.line(t('optionsNothing'), 'soft');
  screen.list(chats.slice(0, LISTED).map((chat) => ({
    text: `${moment(chat.modifiedTime)}  ${chat.summary || t('newChat')}  ${chat.id}`,
    act: () => enter(`/resume ${chat.id}`),
  })));
}

/** @param {Terminal} terminal @param {string} id */
async function resume(terminal, id) {
  if (!id) return sessions(terminal);
  terminal.repl.change(id);
  return transcript(terminal, id);
}

/** @param {Terminal} terminal @param {string} id */
async function transcript({ screen, requests }, id) {
  /** @type {HistoryMessage[]} */
  const messages = (await requests.ask('chat.history', { id })).messages ?? [];
  if (messages.length === 0) screen.line(t('optionsNothing'), 'soft');
  for (const message of messages) {
    if (message.role === 'user') screen.line(`> ${message.text}`, 'typed');
    else if (message.role === 'assistant') screen.finish(message.text ?? '');
    else screen.line(`${message.ok ? '✓' : '✗'} ${message.name}  ${(message.summary ?? '').slice(0, SHORT)}`, 'step');
  }
}

/** @param {Terminal} terminal */
async function copy({ screen }) {
  await navigator.clipboard.writeText(screen.last);
  screen.line(t('copied'), 'soft');
}

/** @param {Terminal} terminal @param {string} id */
async function model({ screen, requests, enter }, id) {
  if (id) {
    screen.line(t('replModelIs', (await requests.ask('models.set', { id })).id), 'soft');
    return;
  }
  /** @type {ModelInfo[]} */
  const models = (await requests.ask('models.list')).models;
  if (models.length === 0) screen.line(t('optionsNothing'), 'soft');
  screen.list(models.map((each) => ({ text: [each.id, each.name, each.vendor].filter(Boolean).join('  '), act: () => enter(`/model ${each.id}`) })));
}

/** @param {Terminal} terminal */
async function login({ screen, requests }) {
  const { state, detail } = await requests.ask('auth.signin', { open: true });
  screen.line(detail ?? t(state === 'ready' ? 'stateReady' : 'stateUnauth'), 'soft');
}

/** @param {Terminal} terminal @param {string} name */
async function theme({ screen }, name) {
  if (!THEMES.includes(name)) {
    screen.line(t('replNeeds', '/theme auto|light|dark'), 'bad');
    return;
  }
  await changeSettings((settings) => (settings.theme = /** @type {import('../shared/settings.js').Theme} */ (name)));
}

/** @param {Terminal} terminal */
async function feedback({ screen, diagnostics }) {
  await navigator.clipboard.writeText(diagnostics());
  screen.line(t('replFeedbackCopied'), 'soft');
}

/** @param {string} text */
function save(text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  h('a', { href: address, download: 'browy-terminal.txt' }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
