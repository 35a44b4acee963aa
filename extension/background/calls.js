// Answers calls of the host: always, exactly once, in time, and in a size the port can carry.
import { currentEpoch, postToHost } from './host-port.js';

/** @import { HostCall } from '../shared/messages.js' */

const CALL_TIMEOUT_MS = 120_000;
/** Chrome refuses native messages above 64 MiB; the envelope needs some room. */
const MAX_RESULT_BYTES = 60 * 1024 * 1024;

/**
 * @param {HostCall} call
 * @param {() => Promise<unknown>} work
 */
export function answer(call, work) {
  const epoch = currentEpoch();
  let settled = false;
  /** @param {{ok: true, result: unknown} | {ok: false, error: string}} outcome */
  const settle = (outcome) => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    if (epoch !== currentEpoch()) return;
    const reply = { type: 'tool.result', sessionId: call.sessionId, callId: call.callId };
    if (postToHost({ ...reply, ...fitting(outcome) })) return;
    postToHost({ ...reply, ok: false, error: 'The result could not be sent.' });
  };
  const timer = setTimeout(
    () => settle({ ok: false, error: `The browser did not answer within ${CALL_TIMEOUT_MS / 1000} s.` }),
    CALL_TIMEOUT_MS,
  );
  work().then(
    (result) => settle({ ok: true, result }),
    (error) => settle({ ok: false, error: messageOf(error) }),
  );
}

/**
 * @template {{ok: boolean, result?: unknown}} T
 * @param {T} outcome
 * @returns {T | {ok: false, error: string}}
 */
function fitting(outcome) {
  const json = JSON.stringify(outcome.result) ?? '';
  // One UTF-16 unit takes at most three bytes, so only long texts have to be measured.
  if (json.length * 3 <= MAX_RESULT_BYTES) return outcome;
  const bytes = new Blob([json]).size;
  if (bytes <= MAX_RESULT_BYTES) return outcome;
  const size = Math.ceil(bytes / (1024 * 1024));
  return { ok: false, error: `The result is too large to hand over (${size} MiB, at most 60 MiB). Ask for less.` };
}

/**
 * The words of an error. Those of the browser's debugging protocol come as JSON.
 * @param {unknown} error
 */
export function messageOf(error) {
  const text = error instanceof Error ? error.message : String(error);
  if (!text.startsWith('{')) return text;
  try {
    const { message, data } = JSON.parse(text);
    if (typeof message !== 'string') return text;
    return typeof data === 'string' && data ? `${message}: ${data}` : message;
  } catch {
    return text;
  }
}
