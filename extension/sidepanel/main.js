// Puts the panel together: page, worker connection, conversation.
import { useAppearance } from '../shared/appearance.js';
import { Connection } from '../shared/connection.js';
import { byId, h } from '../shared/dom.js';
import { amount, t, translate } from '../shared/i18n.js';
import { mascot } from '../shared/mascot.js';
import { Requests } from '../shared/requests.js';
import { AskSlot } from './ask-card.js';
import { Attachments } from './attachments.js';
import { Chat } from './chat.js';
import { ChatsDrawer } from './chats-drawer.js';
import { Composer } from './composer.js';
import { Scroller } from './scroller.js';
import { installCommand, noticeFor, POSES, stateOf, wordOf } from './status.js';
import { PanelStore } from './store.js';

/** @import { PanelInbound, SharedMessage, SessionMessage } from '../shared/messages.js' */
/** @import { Situation } from './status.js' */

const CAPABILITIES = ['cdp.activeTab', 'queue', 'ask', 'tabs.close', 'tabs.held', 'browser.events', 'downloads', 'usage', 'cdp.targets'];
const EXAMPLES = ['exampleSummarise', 'exampleForm', 'exampleTabs'];

await useAppearance();
translate(document);

const window_ = await chrome.windows.getCurrent();
const store = new PanelStore(window_.id ?? -1);
const [command] = await Promise.all([installCommand(), store.load()]);

/** @type {Situation} */
const now = {
  gone: false, host: null, sessionReady: false, sdk: null, auth: { state: 'unknown', detail: '' },
  asking: false, running: false, queued: false,
};
/** The connection of the host that this panel's session was started on. */
let startedEpoch = -1;
/** @type {number | null} */
let heldTab = null;
let lastNotice = '';
let lastPose = '';

const scroller = new Scroller(byId('scroller'), byId('log'), byId('jump', HTMLButtonElement));
const attachments = new Attachments({
  strip: byId('attachments'),
  field: byId('composer', HTMLTextAreaElement),
  changed: () => composer.changed(),
  refused: (why) => chat.note(why),
});
const composer = new Composer({
  field: byId('composer', HTMLTextAreaElement),
  send: byId('send', HTMLButtonElement),
  form: byId('composer-form', HTMLFormElement),
  onSend: (text) => {
    // A host that does not start was given up; a new prompt is a reason to try again.
    if (now.host?.state === 'exited' || now.host?.state === 'error') connection.post({ type: 'panel.retry' });
    chat.prompt(text, undefined, attachments.release());
  },
  hasMore: () => attachments.list.length > 0,
  onDraft: (draft) => store.set({ draft }),
  onEscape: () => chat.stop(),
});
const asks = new AskSlot(byId('ask-slot'), (ask, answer, text) => chat.answer(ask, answer, text));
const connection = new Connection('sidepanel', receive, portLost);
const chat = new Chat({
  post: (message) => connection.post(message),
  log: byId('log'),
  asks,
  giveBack: (what) => {
    if (what.text) composer.giveBack(what.text);
    attachments.giveBack(what.attachments);
  },
  store,
  changed: show,
  scrollToEnd: () => scroller.toEnd(),
  keepPlace: (more) => scroller.keepPlace(more),
  say: (text) => (byId('live').textContent = text),
  hostQueues: () => now.host?.capabilities.includes('queue') ?? false,
});

const requests = new Requests(() => connection);
const drawer = new ChatsDrawer({
  requests,
  current: () => chat.sessionId,
  open: openChat,
  renamed: (title) => {
    store.set({ title });
    show();
  },
  begin: newChat,
});

byId('open-chats').addEventListener('click', () => void drawer.open());
byId('open-settings').addEventListener('click', () => void chrome.runtime.openOptionsPage());
byId('stop').addEventListener('click', () => chat.stop());
byId('new-chat').addEventListener('click', newChat);
byId('held').addEventListener('click', () => void goToHeldTab());
addEventListener('pagehide', () => store.flush());
byId('empty').append(...emptyState());

composer.set(store.value.draft);
for (const { turnId, text } of store.value.held) chat.prompt(text, turnId);
show();
connection.connect();
composer.focus();

// ---- messages -----------------------------------------------------------------------------

/** @param {PanelInbound} message */
function receive(message) {
  if (requests.take(message)) return;
  switch (message.type) {
    case 'worker.host':
      hostChanged(message);
      break;
    case 'worker.conflict':
      // The window's chat is open in another page; this one gets a chat of its own.
      if (message.sessionId !== chat.sessionId) return;
      chat.dropRestored();
      store.standAlone();
      startSession();
      break;
    case 'worker.undelivered':
      if (message.turnId) chat.undelivered(message.turnId);
      break;
    case 'worker.debugger_cancelled':
      chat.note(t('debuggerCancelled'));
      break;
    case 'chat.history.result':
      chat.history(message);
      break;
    default:
      if ('sessionId' in message) fromSession(message);
      else fromHost(message);
  }
  show();
}

/** @param {import('../shared/messages.js').HostStatus} host */
function hostChanged(host) {
  const wasReady = now.host?.state === 'ready';
  const sameHost = host.state === 'ready' && host.epoch === startedEpoch;
  if (wasReady && !sameHost) sessionLost();
  now.host = host;
  if (host.state === 'ready' && !sameHost) {
    startedEpoch = host.epoch;
    startSession();
  }
}

function startSession() {
  now.sessionReady = false;
  chat.canSend = false;
  connection.post({
    type: 'session.start',
    sessionId: chat.sessionId,
    capabilities: CAPABILITIES,
    windowId: store.windowId,
    locale: chrome.i18n.getUILanguage(),
  });
}

/** @param {SessionMessage} message */
function fromSession(message) {
  if (message.sessionId !== chat.sessionId) return;
  if (message.type === 'session.ready') {
    now.sessionReady = true;
    if (store.resumed && !chat.historyAsked) chat.askHistory();
    sendIfReady();
  } else if (message.type === 'tab.held') {
    showHeld(message);
  } else if (message.type === 'usage') {
    showUsage(message);
  } else {
    if (message.type === 'chat.done' && message.usage) showUsage(message.usage);
    // Whether somebody is signed in is the host's to say: with a provider of one's own a refused key is no sign-in.
    if (message.type === 'chat.error' && message.code === 'auth') connection.post({ type: 'auth.signin', open: false });
    chat.handle(message);
  }
}

/** @param {SharedMessage} message */
function fromHost(message) {
  if (message.type === 'sdk.ready') {
    now.sdk = { ok: message.ok, detail: message.detail ?? '' };
    sendIfReady();
  } else if (message.type === 'auth.status') {
    now.auth = { state: message.state, detail: message.detail ?? '' };
  } else if (message.type === 'chat.error') {
    chat.trouble(message.message, message.code);
  }
}

/** Prompts go even to a host whose model side failed: it tries again with the next one, and says so. */
function sendIfReady() {
  if (!now.sessionReady || !now.sdk) return;
  chat.canSend = true;
  chat.flush();
}

function sessionLost() {
  startedEpoch = -1;
  now.sessionReady = false;
  now.sdk = null;
  now.auth = { state: 'unknown', detail: '' };
  requests.lost();
  chat.hostLost();
}

/** @param {boolean} gone */
function portLost(gone) {
  now.gone = gone;
  // The worker held the native port, so the host is gone with it. Numbers of connections start anew.
  sessionLost();
  if (now.host?.state === 'ready') now.host = { ...now.host, state: 'reconnecting', attempt: 1 };
  show();
}

// ---- actions ------------------------------------------------------------------------------

function newChat() {
  chat.startNew();
  begun();
}

/** @param {string} id @param {string} title */
function openChat(id, title) {
  chat.open(id, title);
  begun();
}

/** Another chat is in the panel. */
function begun() {
  byId('usage').textContent = '';
  heldTab = null;
  byId('held').hidden = true;
  if (now.host?.state === 'ready') startSession();
  show();
  composer.focus();
}

async function goToHeldTab() {
  if (heldTab === null) return;
  try {
    const tab = await chrome.tabs.update(heldTab, { active: true });
    if (tab) await chrome.windows.update(tab.windowId, { focused: true });
  } catch {
    byId('held').hidden = true;
  }
}

// ---- what is shown ------------------------------------------------------------------------

function show() {
  now.asking = asks.open;
  now.running = chat.running !== undefined || (chat.waiting && !chat.queued);
  now.queued = chat.queued;
  const state = stateOf(now);
  byId('state').dataset['state'] = state;
  setText('state-text', wordOf(state, now));
  setText('title', store.value.title || t('newChat'));
  document.title = `${store.value.title || t('newChat')} · ${t('appName')}`;
  byId('empty').hidden = !chat.empty;
  byId('empty').dataset['state'] = state;
  const busy = chat.running !== undefined || chat.waiting;
  byId('stop').hidden = !busy;
  showPose(POSES[state]);
  showNotice(state);
}

/** @param {import('../shared/mascot.js').Pose} pose */
function showPose(pose) {
  if (pose === lastPose) return;
  lastPose = pose;
  byId('face').replaceChildren(mascot(pose));
  byId('empty').querySelector('.mascot')?.replaceWith(mascot(pose));
}

/** @param {import('./status.js').PanelState} state */
function showNotice(state) {
  // Built again only when it says something else: a button in it may have the focus.
  const key = JSON.stringify([state, now.host?.state, now.host?.message, now.host?.skew, now.sdk, now.auth, now.gone]);
  if (key === lastNotice) return;
  lastNotice = key;
  const notice = byId('notice');
  const content = noticeFor(state, now, command, {
    retry: () => connection.post({ type: 'panel.retry' }),
    signIn: () => connection.post({ type: 'auth.signin', open: true }),
  });
  notice.replaceChildren(...content);
  notice.hidden = content.length === 0;
  notice.dataset['kind'] = state;
}

/** @param {Extract<SessionMessage, {type: 'tab.held'}>} tab */
function showHeld({ tabId, url, title, origin }) {
  heldTab = tabId;
  byId('held').hidden = false;
  const place = origin && URL.canParse(origin) ? new URL(origin).host : '';
  setText('held-title', title || url);
  setText('held-origin', place);
  byId('held').title = t('heldLabel', title || url, place || url);
}

/** @param {import('../shared/messages.js').Usage} usage */
function showUsage({ contextUsed, contextLimit, inputTokens, outputTokens }) {
  if (contextUsed !== undefined && contextLimit) {
    setText('usage', t('usageContext', amount(contextUsed), amount(contextLimit)));
  } else if (inputTokens !== undefined || outputTokens !== undefined) {
    setText('usage', t('usageTokens', amount((inputTokens ?? 0) + (outputTokens ?? 0))));
  }
}

/**
 * Leaves a text alone that is the same: screen readers announce changes.
 * @param {string} id
 * @param {string} text
 */
function setText(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

function emptyState() {
  return [
    mascot('sleep'),
    h('p', { class: 'empty-title' }, t('emptyTitle')),
    h('div', { class: 'examples' },
      ...EXAMPLES.map((key) =>
        h('button', { type: 'button', class: 'example', onclick: () => {
          composer.set(t(key));
          composer.focus();
        } }, t(key)))),
  ];
}
