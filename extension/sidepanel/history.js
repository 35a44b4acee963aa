// An earlier conversation, as the host kept it.
import { h } from '../shared/dom.js';
import { Steps } from './tool-rows.js';
import { MarkdownStream } from '../shared/markdown-stream.js';

/** @import { HistoryMessage } from '../shared/messages.js' */

/**
 * Puts it before what is on the page already.
 * @param {HTMLElement} log
 * @param {HistoryMessage[]} messages
 */
export function showHistory(log, messages) {
  /** @type {HTMLElement[]} */
  const turns = [];
  /** @type {Steps | null} */
  let steps = null;
  const section = () => {
    const open = turns.at(-1);
    if (open) return open;
    const first = h('section', { class: 'turn restored' });
    turns.push(first);
    return first;
  };
  const closeSteps = () => {
    steps?.finishRestored();
    steps = null;
  };
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      if (!steps) section().append((steps = new Steps()).element);
      steps.start(String(index), message.name, undefined).end(message.ok, message.summary ?? '');
      return;
    }
    closeSteps();
    if (message.role === 'user') {
      turns.push(h('section', { class: 'turn restored' }, h('div', { class: 'msg user' }, message.text)));
    } else if (message.text) {
      const answer = h('div', { class: 'msg assistant' });
      section().append(answer);
      new MarkdownStream(answer).finish(message.text);
    }
  });
  closeSteps();
  log.prepend(...turns);
}
