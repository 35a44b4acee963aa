// Tabs: what the host asks of them, and what it is told about those its sessions work on.
import { forgetTab, moveWatch } from './debugger.js';
import { tabOpened } from './downloads.js';
import { hostUnderstands, postToHost } from './host-port.js';
import { watchersOf } from './sessions.js';

/** @import { HostCall, TabInfo } from '../shared/messages.js' */
/** @import { Session } from './sessions.js' */

/** Tabs that a watched tab opened: their opener's session may want to go on there. @type {Set<number>} */
const opened = new Set();

/**
 * @param {chrome.tabs.Tab} tab
 * @returns {TabInfo}
 */
function infoOf(tab) {
  return {
    tabId: tab.id ?? -1,
    url: tab.url || tab.pendingUrl || '',
    title: tab.title ?? '',
    active: tab.active,
    windowId: tab.windowId,
  };
}

/**
 * The tab a session means when it names none.
 * @param {Session} session
 * @returns {Promise<TabInfo | null>}
 */
export async function activeTab(session) {
  if (session.inspectedTabId !== undefined) return infoOf(await chrome.tabs.get(session.inspectedTabId));
  if (session.windowId !== undefined) {
    const [tab] = await chrome.tabs.query({ active: true, windowId: session.windowId });
    if (tab) return infoOf(tab);
  }
  // Not `lastFocusedWindow`: an undocked developer-tools window counts as one.
  const window = await chrome.windows.getLastFocused({ populate: true, windowTypes: ['normal'] });
  const tab = window.tabs?.find((candidate) => candidate.active);
  return tab ? infoOf(tab) : null;
}

/**
 * @param {Session} session
 * @param {Extract<HostCall, {type: 'tab.new'}>} call
 */
export async function newTab(session, call) {
  const options = { url: call.url ?? 'about:blank', active: call.active !== false };
  const inWindow = session.windowId === undefined ? options : { ...options, windowId: session.windowId };
  return infoOf(await chrome.tabs.create(inWindow));
}

/** @param {number} tabId */
export async function activateTab(tabId) {
  const tab = await chrome.tabs.update(tabId, { active: true });
  if (!tab) throw new Error(`No tab with id: ${tabId}.`);
  // A window that cannot be raised (minimised by policy, no desktop) does not undo the switch.
  await chrome.windows.update(tab.windowId, { focused: true }).catch((error) => console.debug('window not focused', error));
  return infoOf(tab);
}

export async function listTabs() {
  return (await chrome.tabs.query({})).map(infoOf);
}

/** @param {number} tabId */
export async function closeTab(tabId) {
  await chrome.tabs.remove(tabId);
  return { tabId };
}

/** @param {number} tabId */
const concerns = (tabId) => opened.has(tabId) || watchersOf(tabId).length > 0;

/**
 * @param {string} event
 * @param {number} tabId
 * @param {object} [more]
 */
function tell(event, tabId, more) {
  if (hostUnderstands('browser.events')) postToHost({ type: 'tab.event', event, tabId, ...more });
}

/** @param {chrome.tabs.Tab} tab */
export function tabCreated(tab) {
  if (tab.id === undefined || tab.openerTabId === undefined || !concerns(tab.openerTabId)) return;
  opened.add(tab.id);
  if (watchersOf(tab.openerTabId).some((session) => session.turns.size > 0)) tabOpened(tab.id, tab.openerTabId);
  const { url, title, windowId } = infoOf(tab);
  tell('created', tab.id, { openerTabId: tab.openerTabId, windowId, url, title });
}

/**
 * @param {number} tabId
 * @param {{windowId: number}} info
 */
export function tabRemoved(tabId, { windowId }) {
  if (!concerns(tabId)) return;
  tell('removed', tabId, { windowId });
  opened.delete(tabId);
  forgetTab(tabId);
}

/**
 * @param {number} tabId
 * @param {{status?: string | undefined, url?: string | undefined, title?: string | undefined}} change
 * @param {chrome.tabs.Tab} tab
 */
export function tabUpdated(tabId, change, tab) {
  const interesting = change.status !== undefined || change.url !== undefined || change.title !== undefined;
  if (!interesting || !concerns(tabId)) return;
  const { url, title, windowId } = infoOf(tab);
  tell('updated', tabId, { windowId, url, title, status: change.status ?? tab.status });
}

/**
 * @param {number} added
 * @param {number} removed
 */
export function tabReplaced(added, removed) {
  if (!concerns(removed)) return;
  moveWatch(added, removed);
  tell('replaced', added, { replacedTabId: removed });
}

/** @param {{tabId: number, windowId: number}} info */
export function tabActivated({ tabId, windowId }) {
  if (concerns(tabId)) tell('activated', tabId, { windowId });
}
