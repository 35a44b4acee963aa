// Puts the terminal together.
import { useAppearance } from '../shared/appearance.js';
import { Connection } from '../shared/connection.js';
import { byId } from '../shared/dom.js';
import { t, translate } from '../shared/i18n.js';
import { Requests } from '../shared/requests.js';
import { AskSlot } from '../sidepanel/ask-card.js';
import { Scroller } from '../sidepanel/scroller.js';
import { stateOf, wordOf } from '../sidepanel/status.js';
import { COMMANDS, command, evaluate } from './commands.js';
import { inPage } from './inspected.js';
import { LineInput } from './line-input.js';
import { Repl } from './repl.js';
import { Screen } from './screen.js';

/** @import { PanelInbound } from '../shared/messages.js' */
/** @import { Terminal } from './commands.js' */

/** What is said of a state that stands in the way. @type {Map<string, string>} */
const TROUBLES = new Map([['missing', 'missingText'], ['forbidden', 'stateForbidden'], ['exited', 'exitedText'], ['error', 'errorText'], ['unauth', 'unauthText']]);

await useAppearance();
translate(document);

let gone = false;
let scripts = false;
/** @type {{ok: boolean, detail: string} | null} */
let sdk = null;
let auth = { state: 'unknown', detail: '' };
/** The trouble that was said last. */
let told = '';

const scroller = new Scroller(byId('scroller'), byId('log'), byId('jump', HTMLButtonElement));
const screen = new Screen(byId('log'));
const connection = new Connection('devtools', receive, (lost) => {
  gone = lost;
  requests.lost();
  repl.lost();
  show();
});
const requests = new Requests(() => connection);
const asks = new AskSlot(byId('ask-slot'), (ask, answer, text) => {
  const words = text === undefined ? {} : { text };
  return connection.post({ type: 'user.answer', sessionId: repl.sessionId, askId: ask.askId, answer, ...words });
});
const line = new LineInput({
  field: byId('line', HTMLTextAreaElement),
  offers: byId('offers'),
  form: byId('form', HTMLFormElement),
  commands: COMMANDS.map(({ name, about }) => ({ name, about: t(about) })),
  onLine: enter,
  onEscape: () => void repl.stop(),
  onClear: () => screen.clear(),
});
const repl = new Repl({
  connection, screen, asks, tabId: chrome.devtools.inspectedWindow.tabId,
  giveBack: (words) => line.set(words), changed: show,
});
/** @type {Terminal} */
const terminal = { repl, screen, requests, enter, scripting, isScripting: () => scripts, diagnostics };

byId('stop').addEventListener('click', () => void repl.stop());
await Promise.all([repl.load(), line.load()]);
screen.line(t('replWelcome'), 'soft');
void showPlace();
chrome.devtools.network.onNavigated.addListener(() => void showPlace());
show();
connection.connect();
line.field.focus();

/** @param {string} words */
function enter(words) {
  screen.line(`${scripts ? 'js' : ''}> ${words}`, 'typed');
  scroller.toEnd();
  if (command(terminal, words)) return;
  if (scripts) void evaluate(terminal, words, words);
  else repl.prompt(words);
}

/** @param {boolean} on */
function scripting(on) {
  scripts = on;
  byId('sign').textContent = on ? 'js>' : '>';
  screen.line(t(on ? 'replJsOn' : 'replJsOff'), 'soft');
}

/** @param {PanelInbound} message */
function receive(message) {
  if (requests.take(message)) return;
  switch (message.type) {
    case 'worker.host':
      if (message.state !== 'ready') requests.lost();
      repl.hostIs(message);
      break;
    case 'auth.status':
      auth = { state: message.state, detail: message.detail ?? '' };
      break;
    case 'sdk.ready':
      sdk = { ok: message.ok, detail: message.detail ?? '' };
      break;
    case 'models.current':
      byId('model').textContent = message.id;
      break;
    case 'worker.debugger_cancelled':
      screen.line(t('debuggerCancelled'), 'soft');
      break;
    default:
      if ('sessionId' in message) repl.receive(message);
      else if (message.type === 'chat.error') screen.line(message.message, 'bad');
  }
  show();
}

function situation() {
  return { gone, host: repl.host, sessionReady: repl.ready, sdk, auth, asking: asks.open, running: repl.busy, queued: false };
}

function show() {
  const now = situation();
  const state = stateOf(now);
  byId('state').dataset['state'] = state;
  const word = wordOf(state, now);
  if (byId('state-text').textContent !== word) byId('state-text').textContent = word;
  byId('stop').hidden = repl.turns.length === 0;
  // Each trouble is said once, where the reader looks.
  const trouble = TROUBLES.get(state);
  if (trouble && told !== state) screen.line(state === 'missing' ? `${t(trouble)} browy install-host` : t(trouble), 'bad');
  told = trouble ? state : '';
}

async function showPlace() {
  byId('place').textContent = String((await inPage('location.host || location.href')) ?? '');
}

function diagnostics() {
  return [
    `extension ${chrome.runtime.getManifest().version} ${chrome.runtime.id}`,
    `host ${repl.host?.state ?? 'unknown'} ${repl.host?.serverVersion ?? ''}`.trim(),
    `sign-in ${auth.state}`,
    navigator.userAgent,
  ].join('\n');
}
