// `chrome.debugger`: attach on demand, run commands, forward events, let go again.
import { downloadBegins } from './downloads.js';
import { pastForeignFrames, restoreForeignFrames } from './foreign-frames.js';
import { hostUnderstands, postToHost } from './host-port.js';
import { allSessions, postToPanel, sessionOf, watchersOf } from './sessions.js';
import { ready, save, state } from './state.js';
import { messageOf } from './calls.js';

/** @import { HostCall } from '../shared/messages.js' */
/** @import { Session } from './sessions.js' */

const PROTOCOL_VERSION = '1.3';
/** How long a debugger stays after its sessions' last turn: a follow-up finds the page as it was. */
const RELEASE_MS = 30_000;
export const SWEEP_ALARM = 'release-debuggers';

/** Attaches under way. @type {Map<number, Promise<void>>} */
const attaching = new Map();

// What a former worker set aside in its tabs.
void ready.then(() => Promise.all(state.leftovers.map((tabId) => restoreForeignFrames(tabId, true))));

/**
 * @param {Session} session
 * @param {number} tabId
 * @param {Extract<HostCall, {type: 'cdp.send'}>} call
 */
export async function runCommand(session, tabId, call) {
  if (state.blocked.get(tabId)?.has(session.id)) throw new Error('the person cancelled debugging on this tab');
  session.watched.add(tabId);
  session.lastUsed = Date.now();
  await attach(tabId);
  const target = call.cdpSessionId ? { tabId, sessionId: call.cdpSessionId } : { tabId };
  const result = await send(target, call);
  if (session.turns.size === 0) sweepLater();
  return { tabId, result: result ?? {} };
}

/**
 * @param {chrome.debugger.DebuggerSession & {tabId: number}} target
 * @param {Extract<HostCall, {type: 'cdp.send'}>} call
 */
async function send(target, call) {
  try {
    const params = /** @type {any} */ (call.params ?? {});
    return await pastForeignFrames(target.tabId, () => chrome.debugger.sendCommand(target, call.method, params));
  } catch (error) {
    // Not tried again here: it may be the person's Cancel, whose event has not come yet.
    if (/debugger is not attached/i.test(messageOf(error))) state.attached.delete(target.tabId);
    throw error;
  }
}

/** @param {number} tabId */
function attach(tabId) {
  if (state.attached.has(tabId)) return Promise.resolve();
  let pending = attaching.get(tabId);
  if (!pending) {
    pending = attachNow(tabId).finally(() => attaching.delete(tabId));
    attaching.set(tabId, pending);
  }
  return pending;
}

/** @param {number} tabId */
async function attachNow(tabId) {
  await ready;
  await wake(tabId);
  try {
    await pastForeignFrames(tabId, () => chrome.debugger.attach({ tabId }, PROTOCOL_VERSION));
  } catch (error) {
    const already = /already attached/i.test(messageOf(error));
    if (!already) throw error;
    if (!(await isOurs(tabId))) {
      throw new Error('Another debugger (developer tools or another extension) holds this tab. Close it there and try again.', { cause: error });
    }
  }
  state.attached.add(tabId);
  save();
  // Should this worker be stopped, the alarm starts one that lets go of the tab.
  void chrome.alarms.create(SWEEP_ALARM, { periodInMinutes: 1 });
}

/** How long a tab that the browser put away may take to be loaded again. */
const WAKE_MS = 15_000;

/**
 * A tab that the browser put away to save memory has no page; its page is loaded again, as when a person goes there.
 * @param {number} tabId
 */
async function wake(tabId) {
  const asleep = async () => {
    const tab = await chrome.tabs.get(tabId);
    return tab.discarded || tab.status === 'unloaded';
  };
  if (!(await asleep())) return;
  await chrome.tabs.reload(tabId);
  for (const since = Date.now(); Date.now() - since < WAKE_MS && (await asleep()); ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Only the extension that attached may send commands.
 * @param {number} tabId
 */
async function isOurs(tabId) {
  try {
    await chrome.debugger.sendCommand({ tabId }, 'Inspector.enable');
    return true;
  } catch (error) {
    return !/not attached/i.test(messageOf(error));
  }
}

/** @param {number} tabId */
async function detach(tabId) {
  if (!state.attached.delete(tabId)) return;
  save();
  await chrome.debugger.detach({ tabId }).catch((error) => console.debug('already detached', error));
  await restoreForeignFrames(tabId);
  // What the host enabled on this tab is gone with the debugger.
  tellDetached(tabId, 'released');
  if (state.attached.size === 0) await chrome.alarms.clear(SWEEP_ALARM);
}

/**
 * @param {number} tabId
 * @param {string} reason
 */
function tellDetached(tabId, reason) {
  if (hostUnderstands('browser.events')) postToHost({ type: 'debugger.detached', tabId, reason });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let sweepTimer;

export function sweepLater() {
  clearTimeout(sweepTimer);
  sweepTimer = setTimeout(() => void sweep(), RELEASE_MS + 50);
}

/** Lets go of every tab whose sessions are gone, or idle for long enough. */
export async function sweep() {
  await ready;
  const now = Date.now();
  /** @param {Session} session */
  const needed = (session) => session.turns.size > 0 || now - session.lastUsed < RELEASE_MS;
  const idle = [...state.attached].filter((tabId) => !watchersOf(tabId).some(needed));
  await Promise.all(idle.map(detach));
  if (state.attached.size > 0) sweepLater();
  else await chrome.alarms.clear(SWEEP_ALARM);
}

/** @param {Session} session  a session that has ended */
export function releaseTabsOf(session) {
  for (const tabId of session.watched) {
    if (watchersOf(tabId).length === 0) void detach(tabId);
  }
  for (const ids of state.blocked.values()) ids.delete(session.id);
}

/**
 * A prompt is the person's word that the session may work again.
 * @param {Session} session
 * @param {string} turnId
 */
export function turnSent(session, turnId) {
  session.turns.add(turnId);
  for (const [tabId, ids] of state.blocked) {
    if (ids.delete(session.id) && ids.size === 0) state.blocked.delete(tabId);
  }
}

/**
 * @param {Session} session
 * @param {string | undefined} turnId   the running turn when the host does not say
 */
export function turnEnded(session, turnId) {
  const ended = turnId ?? (session.running || session.turns.values().next().value);
  if (ended !== undefined) session.turns.delete(ended);
  if (session.running === ended) session.running = '';
  session.lastUsed = Date.now();
  sweepLater();
}

/** The host is gone, and every turn with it. */
export function allTurnsEnded() {
  for (const session of allSessions()) {
    session.turns.clear();
    session.running = '';
    session.lastUsed = Date.now();
  }
  sweepLater();
}

/** Events in great numbers that the host has no use for; one of them would carry the page's cookies to it. */
const UNUSED = new Set([
  'Network.dataReceived', 'Network.policyUpdated', 'Network.requestWillBeSentExtraInfo', 'Network.resourceChangedPriority',
  'Network.webSocketFrameReceived', 'Network.webSocketFrameSent', 'Network.eventSourceMessageReceived',
  'Runtime.executionContextCreated', 'Runtime.executionContextDestroyed', 'Runtime.executionContextsCleared',
]);

/** More characters of one text than the host keeps of a console's entry; a page may write megabytes at a time. */
const CONSOLE_TEXT = 4_000;
const CONSOLE_EVENTS = new Set(['Console.messageAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded']);

/**
 * The same with its long texts cut.
 * @param {unknown} value
 * @returns {unknown}
 */
function shortened(value) {
  if (typeof value === 'string') return value.length > CONSOLE_TEXT ? value.slice(0, CONSOLE_TEXT).toWellFormed() : value;
  if (Array.isArray(value)) return value.slice(0, 100).map(shortened);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shortened(inner)]));
}

/**
 * @param {chrome.debugger.DebuggerSession} source
 * @param {string} method
 * @param {object} [params]
 */
export function forwardEvent(source, method, params) {
  const { tabId, sessionId: cdpSessionId } = source;
  if (tabId === undefined || UNUSED.has(method)) return;
  if (method === 'Page.downloadWillBegin') {
    const { url, guid } = /** @type {{url: string, guid?: string}} */ (params);
    downloadBegins(tabId, url, guid);
  }
  const told = CONSOLE_EVENTS.has(method) ? /** @type {object} */ (shortened(params)) : params;
  for (const session of watchersOf(tabId)) {
    const event = { type: 'cdp.event', sessionId: session.id, tabId, method, params: told ?? {} };
    postToHost(cdpSessionId ? { ...event, cdpSessionId } : event);
  }
}

/**
 * The debugger is off a tab and not by our doing: the tab is gone, or the person said stop.
 * @param {chrome.debugger.Debuggee} source
 * @param {string} reason
 */
export function cancelledOrClosed(source, reason) {
  const { tabId } = source;
  if (tabId === undefined) return;
  state.attached.delete(tabId);
  void restoreForeignFrames(tabId);
  const watchers = watchersOf(tabId);
  if (watchers.length > 0) tellDetached(tabId, reason);
  if (reason === 'canceled_by_user') {
    for (const session of watchers) personCancelled(session, tabId);
  }
  save();
}

/**
 * @param {Session} session
 * @param {number} tabId
 */
function personCancelled(session, tabId) {
  if (session.turns.size === 0) return;
  // Chrome's Cancel lets go of every tab at once, which makes one event for each.
  const first = ![...state.blocked.values()].some((others) => others.has(session.id));
  const ids = state.blocked.get(tabId) ?? new Set();
  ids.add(session.id);
  state.blocked.set(tabId, ids);
  if (!first) return;
  const turnId = session.running || undefined;
  postToHost({ type: 'chat.cancel', sessionId: session.id, ...(turnId && { turnId }) });
  postToPanel(session.panel, { type: 'worker.debugger_cancelled', sessionId: session.id, tabId });
}

/**
 * A tab id stands for another page of the same tab from now on.
 * @param {number} added
 * @param {number} removed
 */
export function moveWatch(added, removed) {
  state.attached.delete(removed);
  save();
  for (const session of watchersOf(removed)) {
    session.watched.delete(removed);
    session.watched.add(added);
    if (session.inspectedTabId === removed) session.inspectedTabId = added;
  }
}

/** @param {number} tabId */
export function forgetTab(tabId) {
  for (const session of watchersOf(tabId)) session.watched.delete(tabId);
  state.attached.delete(tabId);
  state.blocked.delete(tabId);
  save();
}

/** @param {string} sessionId */
export const knownSession = (sessionId) => {
  const session = sessionOf(sessionId);
  if (!session) throw new Error(`No open panel has the session ${sessionId}.`);
  return session;
};
