// The line at the bottom: history, commands that complete, several lines.
import { h } from '../shared/dom.js';

const KEY = 'devtools.history';
const MOST = 200;
const MAX_HEIGHT_PX = 160;

/** @typedef {{name: string, about: string}} Offer */

export class LineInput {
  /**
   * @param {object} parts
   * @param {HTMLTextAreaElement} parts.field
   * @param {HTMLElement} parts.offers
   * @param {HTMLFormElement} parts.form
   * @param {Offer[]} parts.commands
   * @param {(line: string) => void} parts.onLine
   * @param {() => void} parts.onEscape
   * @param {() => void} parts.onClear
   */
  constructor({ field, offers, form, commands, onLine, onEscape, onClear }) {
    this.field = field;
    this.offers = offers;
    this.commands = commands;
    this.onLine = onLine;
    this.onEscape = onEscape;
    this.onClear = onClear;
    /** @type {string[]} */
    this.history = [];
    this.at = 0;
    /** What stood there before the history was looked through. */
    this.typed = '';
    this.chosen = -1;
    field.addEventListener('input', () => this.changed());
    field.addEventListener('keydown', (event) => this.key(event));
    form.addEventListener('submit', (event) => event.preventDefault());
    offers.addEventListener('mousedown', (event) => {
      const item = event.target instanceof Element ? event.target.closest('li') : null;
      event.preventDefault();
      if (item) this.accept(item.dataset['name'] ?? '');
    });
  }

  async load() {
    try {
      const stored = (await chrome.storage.local.get(KEY))[KEY];
      if (Array.isArray(stored)) this.history = stored.filter((line) => typeof line === 'string');
    } catch (error) {
      console.warn('the history could not be read', error);
    }
    this.at = this.history.length;
  }

  /** @param {string} line */
  remember(line) {
    if (this.history.at(-1) !== line) this.history.push(line);
    this.history = this.history.slice(-MOST);
    this.at = this.history.length;
    chrome.storage.local.set({ [KEY]: this.history }).catch((error) => console.warn('history not saved', error));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    // While an input method composes, its keys are its own (229 is what older ones report).
    if (event.isComposing || event.keyCode === 229) return;
    const offering = !this.offers.hidden;
    const act = this.action(event, offering);
    if (!act) return;
    event.preventDefault();
    act();
  }

  /**
   * @param {KeyboardEvent} event
   * @param {boolean} offering   commands are on offer
   * @returns {(() => void) | null}
   */
  action(event, offering) {
    const alone = this.field.value.includes('\n') === false;
    switch (event.key) {
      case 'Enter':
        return event.shiftKey ? null : () => this.enter();
      case 'Tab':
        return offering ? () => this.accept(this.shown()[Math.max(0, this.chosen)]?.name ?? '') : null;
      case 'Escape':
        return offering ? () => this.hide() : () => this.onEscape();
      case 'ArrowUp':
        return offering ? () => this.choose(-1) : alone ? () => this.recall(-1) : null;
      case 'ArrowDown':
        return offering ? () => this.choose(1) : alone ? () => this.recall(1) : null;
      case 'l':
      case 'k':
        return event.ctrlKey || event.metaKey ? () => this.onClear() : null;
      default:
        return null;
    }
  }

  enter() {
    const exact = this.shown().some(({ name }) => name === this.field.value.trim());
    if (!this.offers.hidden && this.chosen >= 0 && !exact) {
      this.accept(this.shown()[this.chosen]?.name ?? '');
      return;
    }
    const line = this.field.value.trim();
    if (!line) return;
    this.remember(line);
    this.set('');
    this.onLine(line);
  }

  /** @param {number} step */
  recall(step) {
    if (this.at === this.history.length) this.typed = this.field.value;
    this.at = Math.min(this.history.length, Math.max(0, this.at + step));
    this.set(this.history[this.at] ?? this.typed);
    this.hide();
  }

  /** @param {string} text */
  set(text) {
    this.field.value = text;
    this.changed();
  }

  changed() {
    this.field.style.height = 'auto';
    this.field.style.height = `${Math.min(MAX_HEIGHT_PX, this.field.scrollHeight)}px`;
    this.chosen = -1;
    const offers = this.shown();
    this.offers.hidden = offers.length === 0;
    this.offers.replaceChildren(...offers.map((offer, index) =>
      h('li', { role: 'option', id: `offer-${index}`, 'data-name': offer.name, 'aria-selected': 'false' },
        h('span', {}, offer.name), h('span', { class: 'about' }, offer.about))));
    this.mark();
  }

  /** Commands that begin like the line. @returns {Offer[]} */
  shown() {
    const line = this.field.value;
    return /^\/\S*$/.test(line) ? this.commands.filter(({ name }) => name.startsWith(line)) : [];
  }

  /** @param {number} step */
  choose(step) {
    const count = this.shown().length;
    this.chosen = (this.chosen + step + count) % count;
    this.mark();
  }

  mark() {
    this.field.setAttribute('aria-expanded', String(!this.offers.hidden));
    [...this.offers.children].forEach((item, index) => item.setAttribute('aria-selected', String(index === this.chosen)));
    const chosen = this.offers.children[this.chosen];
    chosen?.scrollIntoView({ block: 'nearest' });
    if (chosen) this.field.setAttribute('aria-activedescendant', chosen.id);
    else this.field.removeAttribute('aria-activedescendant');
  }

  /** @param {string} name */
  accept(name) {
    if (name) this.set(`${name} `);
    this.hide();
    this.field.focus();
  }

  hide() {
    this.offers.hidden = true;
    this.chosen = -1;
    this.mark();
  }
}
