// The card with which a running turn asks the person something.
import { h } from '../shared/dom.js';
import { t } from '../shared/i18n.js';

/** @import { AskAnswer, UserAsk } from '../shared/messages.js' */

/** What a closed request says, by the reason of the host. @type {Record<string, string>} */
const REASONS = {
  answered: 'askClosedAnswered',
  expired: 'askClosedExpired',
  timeout: 'askClosedExpired',
  refused: 'askClosedRefused',
  turn_over: 'askClosedTurnOver',
  cancelled: 'askClosedTurnOver',
};

export class AskSlot {
  /**
   * @param {HTMLElement} slot
   * @param {(ask: UserAsk, answer: AskAnswer, text: string | undefined) => boolean} onAnswer   false: it did not get through
   */
  constructor(slot, onAnswer) {
    this.slot = slot;
    this.onAnswer = onAnswer;
    /** @type {UserAsk[]} */
    this.waiting = [];
  }

  get open() {
    return this.waiting.length > 0;
  }

  /** @param {UserAsk} ask */
  add(ask) {
    if (this.waiting.some((known) => known.askId === ask.askId)) return;
    this.waiting.push(ask);
    this.show();
  }

  /**
   * @param {string} askId
   * @returns {boolean} whether the card was still open
   */
  remove(askId) {
    const before = this.waiting.length;
    this.waiting = this.waiting.filter((ask) => ask.askId !== askId);
    if (this.waiting.length === before) return false;
    this.show();
    return true;
  }

  clear() {
    this.waiting = [];
    this.show();
  }

  /** The oldest request; the others follow one by one. */
  show() {
    const ask = this.waiting[0];
    if (this.slot.firstElementChild?.getAttribute('data-ask-id') === ask?.askId && ask) return;
    this.slot.replaceChildren(...(ask ? [this.card(ask)] : []));
  }

  /** @param {UserAsk} ask */
  card(ask) {
    const field = this.wantsText(ask)
      ? h('textarea', { class: 'ask-text', rows: '2', 'aria-label': t('askTextLabel'), placeholder: t('askTextLabel') })
      : null;
    /** @param {AskAnswer} answer @param {string} label @param {string} [look] @param {string} [choice] */
    const button = (answer, label, look = 'small', choice) =>
      h('button', {
        type: 'button', class: look, 'data-answer': answer,
        onclick: () => this.answer(ask, answer, choice ?? (field?.value.trim() || undefined)),
      }, label);
    const buttons = ask.kind === 'approval'
      ? [button('deny', t('askDeny')), button('allow', t('askAllow'), 'small primary')]
      : [
          ...(ask.choices ?? []).map((choice) => button('choice', choice, 'small', choice)),
          button('skip', t('askSkip')),
          ...(ask.choices?.length && !field ? [] : [button('done', t(ask.kind === 'question' ? 'askReply' : 'askDone'), 'small primary')]),
        ];
    return h('div', { id: 'ask-card', class: 'ask', role: 'group', 'aria-labelledby': 'ask-title', 'data-kind': ask.kind, 'data-ask-id': ask.askId },
      h('p', { id: 'ask-title', class: 'ask-title' }, t(ask.kind === 'approval' ? 'askTitleApproval' : 'askTitle')),
      h('p', { class: 'ask-message' }, ask.message),
      ask.kind === 'approval' && this.facts(ask),
      field,
      h('div', { class: 'ask-buttons' }, ...buttons),
    );
  }

  /** @param {UserAsk} ask */
  wantsText(ask) {
    if (ask.kind === 'approval') return false;
    return ask.allowText ?? (ask.kind === 'question' && !ask.choices?.length);
  }

  /** What exactly would be allowed. @param {UserAsk} ask */
  facts(ask) {
    const args = ask.args === undefined ? '' : JSON.stringify(ask.args, null, 2);
    return h('div', { class: 'ask-facts' },
      h('p', {}, h('code', {}, ask.tool ?? ''), ask.origin ? ` · ${ask.origin}` : ''),
      args && args !== '{}' && h('pre', { tabindex: '0', 'aria-label': t('stepArguments') }, args));
  }

  /**
   * @param {UserAsk} ask
   * @param {AskAnswer} answer
   * @param {string | undefined} text
   */
  answer(ask, answer, text) {
    if (this.onAnswer(ask, answer, text)) this.remove(ask.askId);
  }
}

/** @param {string | undefined} reason */
export function closedText(reason) {
  const key = REASONS[reason ?? ''];
  return key ? t(key) : t('askClosed', reason ?? '');
}
