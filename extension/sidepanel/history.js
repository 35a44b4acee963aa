// An earlier conversation, as the host kept it.
import { h } from '../shared/dom.js';
import { pictures } from './pictures.js';
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
      steps.start(String(index), message.name, undefined).end(message.ok, message.summary ?? '', undefined, pictures(message.images));
      return;
    }
    closeSteps();
    if (message.role === 'user') {
      const words = message.text ? h('div', { class: 'words' }, message.text) : null;
      turns.push(h('section', { class: 'turn restored' }, h('div', { class: 'msg user' }, words, ...pictures(message.images))));
    } else if (message.text) {
      const answer = h('div', { class: 'msg assistant' });
      section().append(answer);
      new MarkdownStream(answer).finish(message.text);
    }
  });
  closeSteps();
  log.prepend(...turns);
}
