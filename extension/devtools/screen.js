// The lines above the prompt.
import { h } from '../shared/dom.js';
import { duration } from '../shared/i18n.js';
import { MarkdownStream } from '../shared/markdown-stream.js';
import { toolLabel } from '../sidepanel/tool-labels.js';
import { jsonView, parsed, unfenced } from './json-view.js';

/** Lines that are kept; a terminal forgets its oldest. */
const MOST = 2_000;

export class Screen {
  /** @param {HTMLElement} log */
  constructor(log) {
    this.log = log;
    /** The answer that is being written. @type {MarkdownStream | null} */
    this.answer = null;
    /** The last whole answer, as the model wrote it. */
    this.last = '';
    this.streamed = '';
    /** @type {Map<string, {element: HTMLElement, tool: string, args: unknown}>} */
    this.steps = new Map();
  }

  /**
   * @param {string} text
   * @param {'typed' | 'soft' | 'bad' | 'step' | ''} [kind]
   */
  line(text, kind = '') {
    return this.put(h('div', { class: `line ${kind}`.trim() }, text));
  }

  /** @param {HTMLElement} element */
  put(element) {
    this.log.append(element);
    while (this.log.childElementCount > MOST) this.log.firstElementChild?.remove();
    return element;
  }

  /**
   * Lines that do something when they are clicked.
   * @param {{text: string, act: () => void}[]} items
   */
  list(items) {
    for (const { text, act } of items) this.put(h('button', { type: 'button', class: 'pick', onclick: act }, text));
  }

  clear() {
    this.log.replaceChildren();
    this.steps.clear();
    if (this.answer) this.log.append(this.answer.target);
  }

  /** @param {string} text */
  delta(text) {
    this.streamed += text;
    if (!this.answer) {
      if (!text.trim()) return;
      this.answer = new MarkdownStream(this.put(h('div', { class: 'answer' })));
    }
    this.answer.append(text);
  }

  /** @param {string} callId @param {string} tool @param {unknown} args */
  toolStarted(callId, tool, args) {
    this.answer?.finish();
    this.answer = null;
    this.steps.set(callId, { element: this.line(`· ${toolLabel(tool, args, true)} …`, 'step'), tool, args });
  }

  /** @param {string} callId @param {boolean} ok @param {string} summary @param {number} [ms] */
  toolEnded(callId, ok, summary, ms) {
    const step = this.steps.get(callId);
    if (!step) return;
    this.steps.delete(callId);
    const time = ms === undefined ? '' : ` ${duration(ms)}`;
    step.element.textContent = `${ok ? '✓' : '✗'} ${toolLabel(step.tool, step.args, false)}${time}${summary ? `  ${summary}` : ''}`;
    step.element.classList.toggle('bad', !ok);
  }

  /** The turn is over. @param {string} text   the whole answer */
  finish(text) {
    this.last = text || this.streamed;
    if (this.answer) this.answer.finish(text && text !== this.streamed.trim() ? text : undefined);
    else if (text) new MarkdownStream(this.put(h('div', { class: 'answer' }))).finish(text);
    this.answer = null;
    this.streamed = '';
  }

  /** What a tool that was called by hand answered. @param {string} text */
  result(text) {
    const plain = unfenced(text);
    const value = parsed(plain);
    this.last = plain;
    if (value) this.put(jsonView(value.value));
    else this.line(plain);
  }

  /** Everything on the screen, for a file. */
  text() {
    return [...this.log.children].map((line) => line.textContent).join('\n');
  }
}
