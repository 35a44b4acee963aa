// Which panel is open, which session it owns, which tabs that session works on.
/** @import { Envelope, PanelInbound, SessionStart } from '../shared/messages.js' */

/**
 * @typedef {object} Panel
 * @property {string} page   one per loaded page, the same after the page reconnects
 * @property {chrome.runtime.Port} port
 * @property {Map<string, string>} requests   requestId → type of what was asked
 */

/**
 * @typedef {object} Session
 * @property {string} id
 * @property {Panel} panel
 * @property {SessionStart} start    as the panel sent it
 * @property {number | undefined} windowId
 * @property {number | undefined} inspectedTabId   the tab this session is bound to for good
 * @property {Set<number>} watched   tabs it sent a command to
 * @property {Set<string>} turns     prompts that were sent and have not ended
 * @property {string} running        the turn that has started, '' between turns
 * @property {number} lastUsed       when it last ended a turn or sent a command (ms since the epoch)
 */

/** @type {Set<Panel>} */
const panels = new Set();
/** @type {Map<string, Session>} */
const sessions = new Map();

export const openPanels = () => panels.size;
export const allSessions = () => sessions.values();

/** @param {string} id */
export const sessionOf = (id) => sessions.get(id);

/**
 * @param {chrome.runtime.Port} port
 * @param {string} page
 * @returns {Panel}
 */
export function addPanel(port, page) {
  const panel = { page, port, requests: new Map() };
  panels.add(panel);
  return panel;
}

/**
 * @param {Panel} panel
 * @returns {Session[]} the sessions it leaves behind
 */
export function removePanel(panel) {
  panels.delete(panel);
  return [...sessions.values()].filter((session) => session.panel === panel);
}

/**
 * Registers or renews a session. A renewed one keeps its tabs.
 * @param {Panel} panel
 * @param {SessionStart} message
 * @returns {Session | null} null when another open page owns it
 */
export function openSession(panel, message) {
  const known = sessions.get(message.sessionId);
  if (known && panels.has(known.panel) && known.panel.page !== panel.page) return null;
  /** @type {Session} */
  const session = {
    id: message.sessionId,
    panel,
    start: message,
    windowId: message.windowId,
    inspectedTabId: message.inspectedTabId,
    watched: known?.watched ?? new Set(),
    turns: known?.turns ?? new Set(),
    running: known?.running ?? '',
    lastUsed: Date.now(),
  };
  sessions.set(session.id, session);
  return session;
}

/** @param {string} id */
export function dropSession(id) {
  sessions.delete(id);
}

/** @param {number} tabId */
export function watchersOf(tabId) {
  return [...sessions.values()].filter((session) => session.watched.has(tabId));
}

/**
 * @param {Panel} panel
 * @param {PanelInbound | Envelope} message
 */
export function postToPanel(panel, message) {
  try {
    panel.port.postMessage(message);
  } catch (error) {
    // The port is closing; its onDisconnect tidies up.
    console.debug('panel is gone', error);
  }
}

/** @param {PanelInbound | Envelope} message */
export function postToAllPanels(message) {
  for (const panel of panels) postToPanel(panel, message);
}

/**
 * Finds who asked, and forgets the question. A host that does not echo `requestId` is matched by
 * the kind of its reply, oldest question first.
 * @param {Envelope} reply
 * @returns {Panel | undefined}
 */
export function takeAsker(reply) {
  for (const panel of panels) {
    for (const [requestId, asked] of panel.requests) {
      const matches = reply.requestId === undefined ? `${asked}.result` === reply.type : requestId === reply.requestId;
      if (!matches) continue;
      panel.requests.delete(requestId);
      return panel;
    }
  }
  return undefined;
}
