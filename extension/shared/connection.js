// The port to the service worker. Chrome stops the worker when it likes; connecting again starts it.
import { randomId } from './dom.js';

/** @import { PanelInbound, PanelMessage } from './messages.js' */

const FIRST_DELAY_MS = 100;
const LAST_DELAY_MS = 3000;

export class Connection {
  /**
   * @param {'sidepanel' | 'options' | 'devtools'} kind   which page this is
   * @param {(message: PanelInbound) => void} onMessage
   * @param {(gone: boolean) => void} onLost   `gone`: the extension was removed or updated, this page is a left-over
   */
  constructor(kind, onMessage, onLost) {
    this.kind = kind;
    this.onMessage = onMessage;
    this.onLost = onLost;
    this.page = randomId(12);
    this.count = 0;
    this.delay = FIRST_DELAY_MS;
    /** @type {chrome.runtime.Port | null} */
    this.port = null;
  }

  connect() {
    this.count += 1;
    /** @type {chrome.runtime.Port} */
    let port;
    try {
      port = chrome.runtime.connect({ name: `${this.kind}:${this.page}:${this.count}` });
    } catch {
      this.onLost(true);
      return;
    }
    this.port = port;
    port.onMessage.addListener((message) => {
      if (this.port !== port) return;
      this.delay = FIRST_DELAY_MS;
      this.onMessage(message);
    });
    port.onDisconnect.addListener(() => {
      if (this.port !== port) return;
      this.port = null;
      const gone = chrome.runtime?.id === undefined;
      this.onLost(gone);
      if (gone) return;
      setTimeout(() => this.connect(), this.delay);
      this.delay = Math.min(LAST_DELAY_MS, this.delay * 2);
    });
  }

  /**
   * False when the message did not leave this page.
   * @param {PanelMessage} message
   */
  post(message) {
    try {
      this.port?.postMessage(message);
      return this.port !== null;
    } catch {
      return false;
    }
  }
}
