// One turn on the page: what was asked, the steps, the answer, how it ended.
import { h } from '../shared/dom.js';
import { GrowingText } from '../shared/growing-text.js';
import { duration, t } from '../shared/i18n.js';
import { MarkdownStream } from '../shared/markdown-stream.js';
import { shownIn } from './attachments.js';
import { Steps } from './tool-rows.js';

/** More than anybody listens to in one go, characters. */
const MAX_SPOKEN = 2_000;

/** Texts that differ only in white space are the same text. @param {string} text */
const squeezed = (text) => text.replace(/\s+/g, '');

export class TurnView {
  /**
   * @param {string} prompt
   * @param {import('../shared/protocol.js').Attachment[]} [attachments]
   */
  constructor(prompt, attachments = []) {
    this.bubble = h('div', { class: 'msg user' }, prompt, ...shownIn(attachments));
    this.place = h('p', { class: 'place', hidden: true });
    this.body = h('div', { class: 'turn-body' });
    this.liveText = h('span', { class: 'live-text' });
    this.liveTime = h('span', { class: 'live-time' });
    this.live = h('p', { class: 'live-line', hidden: true }, h('span', { class: 'cursor', 'aria-hidden': 'true' }), this.liveText, this.liveTime);
    this.element = h('section', { class: 'turn' }, (prompt || attachments.length > 0) && this.bubble, this.place, this.body, this.live);
    this.steps = new Steps();
    /** The answer that is being written. @type {MarkdownStream | null} */
    this.answer = null;
    /** Everything streamed so far. */
    this.streamed = '';
    /** @type {GrowingText | null} */
    this.reasoning = null;
    this.started = 0;
    /** What the live line says between steps. */
    this.thinking = t('thinking');
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.clock = undefined;
  }

  /** The line below the prompt that says why nothing happens yet. @param {string} text @param {() => void} [cancel] */
  showPlace(text, cancel) {
    this.place.hidden = false;
    this.place.replaceChildren(text, ...(cancel ? [' · ', h('button', { type: 'button', class: 'link', onclick: cancel }, t('cancel'))] : []));
  }

  start() {
    if (this.clock !== undefined) return;
    this.place.hidden = true;
    this.started = performance.now();
    this.live.hidden = false;
    this.clock = setInterval(() => this.tick(), 1000);
    this.tick();
  }

  tick() {
    this.liveText.textContent = this.steps.running() ? t('stateWorking') : this.thinking;
    const ms = performance.now() - this.started;
    this.liveTime.textContent = ms < 1000 ? '' : duration(Math.round(ms / 1000) * 1000).replace(/[.,]0(?= )/, '');
  }

  /** @param {string} text */
  thinkingIs(text) {
    this.thinking = text;
    this.tick();
  }

  /** @param {string} text */
  delta(text) {
    this.streamed += text;
    if (!this.answer) {
      if (!text.trim()) return;
      const element = h('div', { class: 'msg assistant streaming' });
      this.answer = new MarkdownStream(element);
      this.body.append(element);
    }
    this.answer.append(text);
  }

  /** @param {string} text */
  reason(text) {
    if (!this.reasoning) {
      const content = h('div', { class: 'reasoning-text' });
      this.body.append(h('details', { class: 'reasoning' }, h('summary', {}, t('reasoning')), content));
      this.reasoning = new GrowingText(content);
    }
    this.reasoning.append(text);
  }

  /**
   * @param {string} callId
   * @param {string} tool
   * @param {unknown} args
   */
  toolStarted(callId, tool, args) {
    if (!this.steps.element.isConnected) this.body.append(this.steps.element);
    if (this.answer) {
      this.answer.finish();
      this.answer.target.classList.remove('streaming');
      this.steps.adopt(this.answer.target);
      this.answer = null;
    }
    this.steps.start(callId, tool, args);
    this.tick();
  }

  /**
   * @param {string} callId
   * @param {boolean} ok
   * @param {string} summary
   * @param {number} [ms]
   */
  toolEnded(callId, ok, summary, ms) {
    this.steps.rows.get(callId)?.end(ok, summary, ms);
    this.tick();
  }

  /** @param {HTMLElement} element */
  note(element) {
    this.body.append(element);
  }

  /**
   * @param {string | undefined} final   the whole answer as the host has it
   * @param {number} [ms]
   */
  end(final, ms) {
    clearInterval(this.clock);
    this.live.hidden = true;
    this.place.hidden = true;
    this.steps.finish(ms ?? (this.started ? performance.now() - this.started : 0));
    this.settleAnswer(final?.trim() ?? '');
  }

  /** @param {string} final */
  settleAnswer(final) {
    if (!this.answer) {
      if (!final) return;
      const element = h('div', { class: 'msg assistant' });
      this.body.append(element);
      this.answer = new MarkdownStream(element);
      this.answer.finish(final);
      return;
    }
    // The final text may be all that was streamed, or only what came after the last step.
    const same = !final || final === this.streamed.trim() || squeezed(final) === squeezed(this.streamed) || squeezed(final) === squeezed(this.answer.text);
    this.answer.finish(same ? undefined : final);
    this.answer.target.classList.remove('streaming');
  }

  /**
   * @param {string} message
   * @param {string} code
   * @param {{label: string, act: () => void}} [action]
   */
  fail(message, code, action) {
    const calm = code === 'aborted';
    this.body.append(
      h('div', { class: calm ? 'msg error calm' : 'msg error', 'data-code': code || undefined },
        h('p', {}, message),
        action && h('button', { type: 'button', class: 'small', onclick: action.act }, action.label)),
    );
  }

  /** What a screen reader is told when the turn is over. */
  spoken() {
    const text = this.answer?.target.textContent ?? '';
    return text.length > MAX_SPOKEN ? `${text.slice(0, MAX_SPOKEN)}…` : text;
  }
}
