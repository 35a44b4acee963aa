// The steps of a turn: one row per tool call, folded to a line when the turn is over.
import { h } from '../shared/dom.js';
import { duration, t } from '../shared/i18n.js';
import { toolLabel } from './tool-labels.js';

const MAX_LINE = 140;

export class Steps {
  constructor() {
    this.count = 0;
    this.list = h('div', { class: 'steps-list' });
    this.summary = h('button', { type: 'button', class: 'steps-summary', hidden: true, onclick: () => this.fold(!this.folded) });
    this.element = h('div', { class: 'steps' }, this.summary, this.list);
    this.folded = false;
    /** @type {Map<string, ToolRow>} */
    this.rows = new Map();
  }

  /**
   * @param {string} callId
   * @param {string} tool
   * @param {unknown} args
   */
  start(callId, tool, args) {
    const row = new ToolRow(tool, args);
    this.count += 1;
    this.rows.set(callId, row);
    this.list.append(row.element);
    return row;
  }

  /**
   * Text written between steps belongs to them.
   * @param {HTMLElement} element
   */
  adopt(element) {
    element.classList.add('narration');
    this.list.append(element);
  }

  /** The newest step that still runs. */
  running() {
    return [...this.rows.values()].filter((row) => row.ok === undefined).at(-1);
  }

  /** @param {number} ms */
  finish(ms) {
    for (const row of this.rows.values()) if (row.ok === undefined) row.abandon();
    this.close(duration(ms));
  }

  /** Steps of an earlier conversation: how long they took is not kept. */
  finishRestored() {
    this.close('');
  }

  /** @param {string} time */
  close(time) {
    if (this.count === 0) return;
    const steps = this.count === 1 ? t('stepsOne') : t('stepsMany', this.count);
    this.summary.textContent = time ? `${steps} · ${time}` : steps;
    this.summary.hidden = false;
    this.fold(true);
  }

  /** @param {boolean} folded */
  fold(folded) {
    this.folded = folded;
    this.element.toggleAttribute('data-folded', folded);
    this.summary.setAttribute('aria-expanded', String(!folded));
  }
}

export class ToolRow {
  /**
   * @param {string} tool
   * @param {unknown} args
   */
  constructor(tool, args) {
    this.tool = tool;
    this.args = args;
    /** Undefined while it runs. @type {boolean | undefined} */
    this.ok = undefined;
    this.started = performance.now();
    this.glyph = h('span', { class: 'glyph', 'aria-hidden': 'true' });
    this.label = h('span', { class: 'tool-label' }, toolLabel(tool, args, true));
    this.time = h('span', { class: 'tool-time' });
    this.outcome = h('span', { class: 'visually-hidden' }, t('stepRunning'));
    this.head = h('button', { type: 'button', class: 'tool-head', 'aria-expanded': 'false', onclick: () => this.toggle() },
      this.glyph, this.label, this.outcome, this.time);
    this.result = h('p', { class: 'tool-result', hidden: true });
    this.detail = h('div', { class: 'tool-detail', hidden: true });
    this.element = h('div', { class: 'tool-row', 'data-tool': tool }, this.head, this.result, this.detail);
    this.summary = '';
    /** What it showed the model. @type {HTMLElement[]} */
    this.pictures = [];
  }

  /**
   * @param {boolean} ok
   * @param {string} summary
   * @param {number} [ms]
   * @param {HTMLElement[]} [pictures]
   */
  end(ok, summary, ms, pictures = []) {
    this.ok = ok;
    this.summary = summary;
    this.pictures = pictures;
    this.element.dataset['ok'] = String(ok);
    // “Clicked” would claim what did not happen.
    this.label.textContent = toolLabel(this.tool, this.args, !ok);
    this.outcome.textContent = t(ok ? 'stepDone' : 'stepFailed');
    if (ms !== undefined) this.time.textContent = duration(ms);
    const line = summary.trim().split('\n', 1)[0]?.trimEnd() ?? '';
    this.result.textContent = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
    if (this.detail.hidden) this.result.hidden = !line;
    else this.fillDetail();
  }

  /** The turn ended before the step did. */
  abandon() {
    this.end(false, t('stepStopped'), performance.now() - this.started);
    this.element.classList.add('abandoned');
  }

  toggle() {
    const show = this.detail.hidden;
    this.detail.hidden = !show;
    this.head.setAttribute('aria-expanded', String(show));
    if (show) this.fillDetail();
    else this.result.hidden = !this.result.textContent;
  }

  fillDetail() {
    const line = this.result.textContent ?? '';
    // The line, no longer cut to the width of the row, may be all there is; else what it is the start of stands below.
    const whole = this.summary.trim() === line;
    this.result.hidden = !line || !whole;
    const args = this.args === undefined ? '' : JSON.stringify(this.args, null, 2);
    this.detail.replaceChildren(
      h('p', { class: 'detail-name' }, this.tool),
      ...(args && args !== '{}' ? [h('pre', { tabindex: '0', 'aria-label': t('stepArguments') }, args)] : []),
      ...(!whole ? [h('pre', { tabindex: '0', 'aria-label': t('stepResult') }, this.summary.trim())] : []),
      ...this.pictures,
    );
  }
}
