// Who gets which message. One table per direction.
import { answer } from './calls.js';
import { allTurnsEnded, knownSession, releaseTabsOf, runCommand, turnEnded, turnSent } from './debugger.js';
import { startDownload } from './downloads.js';
import { currentStatus, ensureHost, hostUnwanted, postToHost, retryHost, setHandlers } from './host-port.js';
import {
  addPanel, allSessions, dropSession, openPanels, openSession, postToAllPanels, postToPanel, removePanel, sessionOf, takeAsker,
} from './sessions.js';
import { onSwitches, toolLists } from './state.js';
import { activateTab, activeTab, closeTab, listTabs, newTab } from './tabs.js';

/** @import { Envelope, HostCall, SessionStart } from '../shared/messages.js' */
/** @import { Panel, Session } from './sessions.js' */

setHandlers({
  message: fromHost,
  status: postToAllPanels,
  lost: allTurnsEnded,
  wanted: () => openPanels() > 0,
});
onSwitches(switchTools);

/** Pages of ours that may connect, by the name their port starts with. */
const PAGES = new Map([['sidepanel', 'sidepanel/sidepanel.html'], ['options', 'options/options.html'], ['devtools', 'devtools/panel.html']]);

/** @param {chrome.runtime.Port} port */
export function panelConnected(port) {
  // Port name: kind:page:n. `page` stays the same while the page lives, so that a page which
  // reconnects is not taken for a second one.
  const [kind = '', page = ''] = port.name.split(':');
  const path = PAGES.get(kind);
  const address = port.sender?.url?.split(/[?#]/)[0];
  if (!path || !page || port.sender?.id !== chrome.runtime.id || address !== chrome.runtime.getURL(path)) {
    console.warn('refused a connection', port.name);
    port.disconnect();
    return;
  }
  const panel = addPanel(port, page);
  port.onMessage.addListener((message) => fromPanel(panel, message));
  port.onDisconnect.addListener(() => {
    for (const session of removePanel(panel)) endSession(session);
    if (openPanels() === 0) hostUnwanted();
  });
  const status = currentStatus();
  if (status.state !== 'idle') postToPanel(panel, status);
  void ensureHost();
}

// ---- from a panel -------------------------------------------------------------------------

/** Passed on as they are, once the session in them is known to be the sender's. */
const FOR_A_SESSION = new Set(['chat.cancel', 'user.answer', 'history.clear']);
/** Passed on as they are; the reply goes to the sender only. */
const REQUESTS = new Set([
  'chat.list', 'chat.history', 'chat.delete', 'chat.rename', 'models.list', 'models.set', 'auth.signin',
  'tools.list', 'provider.get', 'provider.set', 'provider.test', 'diag.run', 'data.list', 'data.delete',
]);

/**
 * @param {Panel} panel
 * @param {Envelope} message
 */
function fromPanel(panel, message) {
  switch (message?.type) {
    case 'panel.retry':
      void retryHost();
      return;
    case 'session.start':
      startSession(panel, /** @type {any} */ (message));
      return;
    case 'session.end': {
      const session = ownSession(panel, message);
      if (session) endSession(session);
      return;
    }
    case 'chat.send':
    case 'chat.run':
      sendPrompt(panel, message);
      return;
  }
  if (FOR_A_SESSION.has(message?.type)) {
    if (!ownSession(panel, message) || !postToHost(message)) undelivered(panel, message);
  } else if (REQUESTS.has(message?.type)) {
    if (message.requestId) panel.requests.set(message.requestId, message.type);
    if (!postToHost(message)) undelivered(panel, message);
  } else {
    console.warn('unknown message of a panel', message?.type);
  }
}

/**
 * @param {Panel} panel
 * @param {Envelope} message
 */
function ownSession(panel, message) {
  const session = sessionOf(message.sessionId ?? '');
  return session?.panel === panel ? session : undefined;
}

/**
 * Synchronous on purpose: a prompt that follows at once must not overtake it.
 * @param {Panel} panel
 * @param {SessionStart} message
 */
function startSession(panel, message) {
  if (!openSession(panel, message)) {
    postToPanel(panel, { type: 'worker.conflict', sessionId: message.sessionId });
    return;
  }
  if (!postToHost({ ...message, ...toolLists() })) undelivered(panel, /** @type {any} */ (message));
}

/** The person flipped a switch: it holds in every open chat at once. */
function switchTools() {
  for (const session of allSessions()) postToHost({ ...session.start, ...toolLists() });
}

/** @param {Session} session */
function endSession(session) {
  dropSession(session.id);
  postToHost({ type: 'session.end', sessionId: session.id });
  releaseTabsOf(session);
}

/**
 * @param {Panel} panel
 * @param {Envelope} message
 */
function sendPrompt(panel, message) {
  const session = ownSession(panel, message);
  if (!session || !postToHost(message)) {
    undelivered(panel, message);
    return;
  }
  turnSent(session, String(message['turnId'] ?? ''));
}

/**
 * @param {Panel} panel
 * @param {Envelope} message
 */
function undelivered(panel, message) {
  const turnId = typeof message['turnId'] === 'string' ? { turnId: message['turnId'] } : {};
  const sessionId = message.sessionId === undefined ? {} : { sessionId: message.sessionId };
  const requestId = message.requestId === undefined ? {} : { requestId: message.requestId };
  if (message.requestId !== undefined) panel.requests.delete(message.requestId);
  postToPanel(panel, { type: 'worker.undelivered', sent: message.type, ...sessionId, ...turnId, ...requestId });
}

// ---- from the host ------------------------------------------------------------------------

/** Meant for every panel unless they answer one question. */
const BROADCASTS = new Set(['auth.status', 'sdk.ready', 'models.list', 'models.current', 'chat.error']);

/** @type {{[T in HostCall['type']]: (session: Session, call: any) => Promise<unknown>}} */
const CALLS = {
  'cdp.send': async (session, call) => {
    const tabId = call.tabId ?? (await activeTab(session))?.tabId;
    if (tabId === undefined) throw new Error('There is no tab to work on.');
    return runCommand(session, tabId, call);
  },
  'tab.new': newTab,
  'tab.activate': (_session, call) => activateTab(call.tabId),
  'tab.list': listTabs,
  'tab.getActive': activeTab,
  'tab.close': (_session, call) => closeTab(call.tabId),
  'download.start': (_session, call) => startDownload(call),
};

/** @param {Envelope} message */
function fromHost(message) {
  // An absent id may be written as null.
  for (const id of ['sessionId', 'requestId', 'turnId']) if (message[id] === null) delete message[id];
  if (Object.hasOwn(CALLS, message.type)) {
    const call = /** @type {HostCall} */ (/** @type {unknown} */ (message));
    answer(call, async () => CALLS[call.type](knownSession(call.sessionId), call));
    return;
  }
  if (message.sessionId !== undefined) {
    forSession(message);
    return;
  }
  if (message.requestId === undefined && BROADCASTS.has(message.type)) {
    postToAllPanels(message);
    return;
  }
  const asker = takeAsker(message);
  if (asker) postToPanel(asker, message);
  else console.debug('nobody asked for', message.type);
}

/** @param {Envelope} message */
function forSession(message) {
  const session = sessionOf(message.sessionId ?? '');
  if (!session) {
    console.debug('dropped a message of an unknown session', message.type);
    return;
  }
  const turnId = typeof message['turnId'] === 'string' ? message['turnId'] : undefined;
  if (message.type === 'chat.started') session.running = turnId ?? '';
  if (message.type === 'chat.done' || message.type === 'chat.error') turnEnded(session, turnId);
  if (message.requestId !== undefined) takeAsker(message);
  postToPanel(session.panel, message);
}
