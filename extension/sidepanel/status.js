// The one word at the top, and the sentence below it when something stands in the way.
import { copyFrom, h } from '../shared/dom.js';
import { t } from '../shared/i18n.js';

/** @import { HostStatus } from '../shared/messages.js' */
/** @import { Pose } from '../shared/mascot.js' */

/**
 * @typedef {'starting' | 'ready' | 'working' | 'waiting' | 'queued' | 'reconnecting' | 'missing' | 'forbidden'
 *   | 'exited' | 'unauth' | 'error'} PanelState
 */

/**
 * @typedef {object} Situation
 * @property {boolean} gone            the extension was removed or updated under this page
 * @property {HostStatus | null} host  null while the worker has said nothing
 * @property {boolean} sessionReady
 * @property {{ok: boolean, detail: string} | null} sdk
 * @property {{state: string, detail: string}} auth
 * @property {boolean} asking
 * @property {boolean} running
 * @property {boolean} queued
 */

/**
 * @param {Situation} now
 * @returns {PanelState}
 */
export function stateOf(now) {
  if (now.gone) return 'error';
  const host = now.host?.state ?? 'starting';
  if (host === 'idle') return 'starting';
  if (host !== 'ready') return host;
  if (!now.sessionReady || !now.sdk) return 'starting';
  if (now.asking) return 'waiting';
  if (now.running) return 'working';
  if (now.queued) return 'queued';
  if (now.auth.state === 'unauth') return 'unauth';
  return now.sdk.ok ? 'ready' : 'error';
}

/** @type {Record<PanelState, Pose>} */
export const POSES = {
  starting: 'sleep', ready: 'idle', working: 'working', waiting: 'waiting', queued: 'sleep', reconnecting: 'sleep',
  missing: 'waiting', forbidden: 'error', exited: 'error', unauth: 'waiting', error: 'error',
};

/** @type {Record<PanelState, string>} */
const WORDS = {
  starting: 'stateStarting', ready: 'stateReady', working: 'stateWorking', waiting: 'stateWaiting', queued: 'stateQueued',
  reconnecting: 'stateReconnecting', missing: 'stateMissing', forbidden: 'stateForbidden', exited: 'stateExited',
  unauth: 'stateUnauth', error: 'stateError',
};

/**
 * @param {PanelState} state
 * @param {Situation} now
 */
export function wordOf(state, now) {
  return state === 'reconnecting' ? t('stateReconnecting', now.host?.attempt || 1) : t(WORDS[state]);
}

/**
 * The command that registers the host. An installer that stages the extension leaves it beside the manifest.
 * @returns {Promise<string>}
 */
export async function installCommand() {
  try {
    // Not `fetch`: this page's policy allows no connections at all, to its own files neither.
    const root = await new Promise((resolve) => chrome.runtime.getPackageDirectoryEntry(resolve));
    const entry = await new Promise((resolve, reject) => root.getFile('install-hint.json', {}, resolve, reject));
    /** @type {File} */
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    const hint = JSON.parse(await file.text());
    if (typeof hint.command === 'string' && hint.command) return hint.command;
  } catch {
    // No hint: the extension was loaded from the project's folder.
  }
  return './install/install.sh';
}

/**
 * @typedef {object} Actions
 * @property {() => void} retry
 * @property {() => void} signIn
 */

/**
 * @param {PanelState} state
 * @param {Situation} now
 * @param {string} command
 * @param {Actions} actions
 * @returns {Node[]} empty when nothing stands in the way
 */
export function noticeFor(state, now, command, actions) {
  const message = now.host?.message ?? '';
  switch (state) {
    case 'missing':
      return [title('missingTitle'), text(t('missingText')), commandLine(command), hint('turnsReady')];
    case 'forbidden':
      return [title('forbiddenTitle'), text(t('forbiddenText', chrome.runtime.id)), commandLine(command), hint('turnsReady')];
    case 'exited':
      return [title('exitedTitle'), text(t('exitedText')), machine(message), button('retry', actions.retry)];
    case 'unauth':
      return [title('unauthTitle'), text(t('unauthText')), machine(now.auth.detail), button('signIn', actions.signIn)];
    case 'error':
      if (now.gone) return [title('goneTitle'), text(t('goneText'))];
      if (now.host?.state === 'error') return [title('errorTitle'), text(t('errorText')), machine(message), button('retry', actions.retry)];
      return [title('sdkTitle'), text(t('sdkText')), machine(now.sdk?.detail ?? '')];
    default:
      return now.host?.skew ? [text(t(now.host.skew === 'host_old' ? 'skewHost' : 'skewExtension', now.host.serverVersion))] : [];
  }
}

/** @param {string} key */
const title = (key) => h('p', { class: 'notice-title' }, t(key));
/** @param {string} words */
const text = (words) => h('p', {}, words);
/** @param {string} key */
const hint = (key) => h('p', { class: 'notice-hint' }, t(key));
/** @param {string} words */
const machine = (words) => (words ? h('p', { class: 'machine' }, words) : h('span'));

/**
 * @param {string} key
 * @param {() => void} act
 */
const button = (key, act) => h('button', { type: 'button', class: 'small primary', 'data-action': key, onclick: act }, t(key));

/** @param {string} command */
function commandLine(command) {
  /** @type {HTMLButtonElement} */
  const copy = h('button', { type: 'button', class: 'copy', onclick: () => void copyFrom(copy, command, t('copied')) }, t('copy'));
  return h('div', { class: 'command' }, h('code', { tabindex: '0' }, command), copy);
}
