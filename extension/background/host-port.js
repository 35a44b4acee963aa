// The one native port, for all panels: connecting, the handshake, and what to do when it is lost.
import { ready, save, state } from './state.js';

/** @import { Envelope, HelloAck, HostState, HostStatus, Skew } from '../shared/messages.js' */

const HOST_NAME = 'com.browy.host';
const PROTOCOL = 1;
/** The oldest host whose messages this extension understands. */
const MIN_HOST_VERSION = '0.1.0';
const CAPABILITIES = ['queue', 'ask', 'tabs.close', 'tabs.held', 'browser.events', 'downloads', 'usage', 'cdp.targets'];

const FIRST_DELAY_MS = 1000;
const LAST_DELAY_MS = 15_000;
/** A connect to a host that is not registered starts no process, so asking often costs nothing. */
const POLL_MS = 3000;
const ACK_TIMEOUT_MS = 15_000;
/** A host that ends sooner than this after its handshake counts as one that does not start. */
const STABLE_MS = 2000;
const MAX_FAILURES = 5;
/** How long the host is kept once no panel is open: reopening a panel soon finds it warm. */
const LINGER_MS = 5 * 60_000;

/**
 * @typedef {object} Handlers
 * @property {(message: Envelope) => void} message   every message but the handshake
 * @property {(status: HostStatus) => void} status   the status changed
 * @property {() => void} lost                       a connection that had been ready is gone
 * @property {() => boolean} wanted                  whether somebody needs the host now
 */

/** @type {Handlers} */
let handlers = { message() {}, status() {}, lost() {}, wanted: () => false };

/** @type {chrome.runtime.Port | null} */
let port = null;
let acked = false;
let ackedAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retryTimer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let ackTimer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let stableTimer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let lingerTimer;

/** @type {HostStatus} */
let status = {
  type: 'worker.host', state: 'idle', epoch: 0, attempt: 0, message: '', serverVersion: '', capabilities: [], skew: '',
};

/** @param {Handlers} given */
export function setHandlers(given) {
  handlers = given;
}

export function currentStatus() {
  return status;
}

/** Tells whether this very connection is up; results of an older one must not go to a new host. */
export function currentEpoch() {
  return acked ? status.epoch : -1;
}

/** @param {string} capability */
export function hostUnderstands(capability) {
  return acked && status.capabilities.includes(capability);
}

/**
 * @param {HostState} next
 * @param {Partial<HostStatus>} [more]
 */
function setStatus(next, more = {}) {
  status = { ...status, message: '', attempt: 0, ...more, state: next };
  handlers.status(status);
}

/**
 * Somebody needs the host: connect unless that is under way, or was given up.
 */
export async function ensureHost() {
  await ready;
  clearTimeout(lingerTimer);
  if (port) return;
  if (state.gaveUp) {
    if (status.state === 'idle') setStatus('exited', { message: state.lastMessage });
    return;
  }
  const polling = status.state === 'missing' || status.state === 'forbidden';
  if (retryTimer === undefined || polling) connect();
}

/** A person asked for another try. */
export async function retryHost() {
  await ready;
  state.failures = 0;
  state.gaveUp = false;
  save();
  if (!port) connect();
}

/** Nobody needs the host any more: end it after a while. */
export function hostUnwanted() {
  clearTimeout(retryTimer);
  retryTimer = undefined;
  clearTimeout(lingerTimer);
  lingerTimer = setTimeout(() => {
    if (handlers.wanted() || !port) return;
    const old = port;
    forgetPort();
    old.disconnect();
    handlers.lost();
    setStatus('idle');
  }, LINGER_MS);
}

/**
 * Sends to the host. False when it is not ready or the message cannot be sent.
 * @param {object} message
 */
export function postToHost(message) {
  if (!port || !acked) return false;
  try {
    port.postMessage(message);
    return true;
  } catch (error) {
    console.warn('message to the host failed', error);
    return false;
  }
}

function connect() {
  clearTimeout(retryTimer);
  retryTimer = undefined;
  const polling = status.state === 'missing' || status.state === 'forbidden';
  if (status.state === 'idle' || status.state === 'exited' || status.state === 'error') setStatus('starting');
  const opened = chrome.runtime.connectNative(HOST_NAME);
  port = opened;
  opened.onMessage.addListener((message) => {
    if (port === opened) received(message);
  });
  opened.onDisconnect.addListener(() => lost(opened, chrome.runtime.lastError?.message ?? ''));
  // A host that was registered meanwhile is a real start; a refused connect ends within milliseconds.
  if (polling) setTimeout(() => port === opened && !acked && setStatus('starting'), 500);
  ackTimer = setTimeout(() => {
    opened.disconnect();
    lost(opened, 'The host did not answer the handshake.');
  }, ACK_TIMEOUT_MS);
  try {
    opened.postMessage({
      type: 'hello',
      client: 'extension',
      protocol: PROTOCOL,
      extensionVersion: chrome.runtime.getManifest().version,
      capabilities: CAPABILITIES,
    });
  } catch (error) {
    console.debug('hello not sent; the disconnect tells why', error);
  }
}

/** @param {any} message */
function received(message) {
  if (!message || typeof message.type !== 'string') return;
  if (message.type !== 'hello.ack') {
    handlers.message(message);
    return;
  }
  const ack = /** @type {HelloAck} */ (message);
  clearTimeout(ackTimer);
  acked = true;
  ackedAt = Date.now();
  stableTimer = setTimeout(() => {
    state.failures = 0;
    save();
  }, STABLE_MS);
  setStatus('ready', {
    epoch: status.epoch + 1,
    serverVersion: String(ack.serverVersion ?? ''),
    capabilities: Array.isArray(ack.capabilities) ? ack.capabilities : [],
    skew: skewOf(ack),
  });
}

function forgetPort() {
  port = null;
  acked = false;
  clearTimeout(ackTimer);
  clearTimeout(stableTimer);
}

/**
 * @param {chrome.runtime.Port} which
 * @param {string} message
 */
function lost(which, message) {
  if (port !== which) return;
  const wasReady = acked;
  const lasted = wasReady && Date.now() - ackedAt >= STABLE_MS;
  forgetPort();
  if (wasReady) handlers.lost();
  state.lastMessage = message;
  if (/not found/i.test(message)) return waitForRegistration('missing', message);
  if (/forbidden|not allowed/i.test(message)) return waitForRegistration('forbidden', message);

  state.failures = lasted ? 0 : state.failures + 1;
  state.gaveUp = state.failures >= MAX_FAILURES;
  save();
  if (state.gaveUp) {
    setStatus(/exited/i.test(message) ? 'exited' : 'error', { message });
  } else if (handlers.wanted()) {
    setStatus('reconnecting', { message, attempt: state.failures + 1 });
    const delay = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, state.failures - 1));
    retryTimer = setTimeout(connect, delay);
  } else {
    setStatus('idle', { message });
  }
}

/**
 * @param {'missing' | 'forbidden'} kind
 * @param {string} message
 */
function waitForRegistration(kind, message) {
  state.failures = 0;
  save();
  if (status.state !== kind) setStatus(kind, { message });
  if (handlers.wanted()) retryTimer = setTimeout(connect, POLL_MS);
}

/**
 * @param {HelloAck} ack
 * @returns {Skew | ''}
 */
function skewOf(ack) {
  const own = chrome.runtime.getManifest().version;
  if (ack.protocol > PROTOCOL) return 'extension_old';
  if (ack.protocol < PROTOCOL) return 'host_old';
  if (ack.minExtensionVersion && olderThan(own, ack.minExtensionVersion)) return 'extension_old';
  if (olderThan(String(ack.serverVersion ?? '0'), MIN_HOST_VERSION)) return 'host_old';
  return '';
}

/**
 * Compares dotted numbers; what follows a dash or plus does not count.
 * @param {string} version
 * @param {string} than
 */
function olderThan(version, than) {
  const left = version.split(/[-+]/)[0]?.split('.').map(Number) ?? [];
  const right = than.split(/[-+]/)[0]?.split('.').map(Number) ?? [];
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] || 0) - (right[i] || 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
