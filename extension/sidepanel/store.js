// What a panel remembers for its window until the browser ends: its chat, what was typed, what waits.
import { randomId } from '../shared/dom.js';

/**
 * @typedef {object} Remembered
 * @property {string} sessionId
 * @property {string} title
 * @property {string} draft
 * @property {{turnId: string, text: string}[]} held   prompts that wait for the host
 */

export const newSessionId = () => `sp-${randomId(16)}`;

export class PanelStore {
  /** @param {number} windowId */
  constructor(windowId) {
    this.windowId = windowId;
    this.key = `panel.${windowId}`;
    /** A second page in the same window works for itself and leaves the first one's memory alone. */
    this.writes = true;
    this.resumed = false;
    /** @type {Remembered} */
    this.value = { sessionId: newSessionId(), title: '', draft: '', held: [] };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  async load() {
    try {
      const stored = /** @type {Partial<Remembered> | undefined} */ ((await chrome.storage.session.get(this.key))[this.key]);
      if (stored?.sessionId) {
        this.value = { ...this.value, ...stored };
        this.resumed = true;
      }
    } catch (error) {
      console.warn('the panel starts without its memory', error);
    }
    if (!this.resumed) this.flush();
  }

  /** @param {Partial<Remembered>} change */
  set(change) {
    Object.assign(this.value, change);
    this.timer ??= setTimeout(() => this.flush(), 200);
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.writes) return;
    chrome.storage.session.set({ [this.key]: this.value }).catch((error) => console.warn('panel memory not saved', error));
  }

  /** Another page has this window's chat. */
  standAlone() {
    this.writes = false;
    this.startNew();
  }

  startNew() {
    this.resumed = false;
    this.set({ sessionId: newSessionId(), title: '', held: [] });
    this.flush();
  }

  /** A chat that the host has. @param {string} sessionId @param {string} title */
  take(sessionId, title) {
    this.resumed = true;
    this.set({ sessionId, title, held: [] });
    this.flush();
  }
}
