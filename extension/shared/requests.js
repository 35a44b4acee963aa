// Questions to the host and their answers.
import { randomId } from './dom.js';
import { t } from './i18n.js';

/** @import { Connection } from './connection.js' */
/** @import { PanelInbound, PanelMessage } from './messages.js' */

/** Longer than any answer of the host takes: a test call to a model is given up after 60 s. */
const PATIENCE_MS = 75_000;

export class Requests {
  /** @param {() => Connection} connection */
  constructor(connection) {
    this.connection = connection;
    /** @type {Map<string, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
    this.open = new Map();
  }

  /**
   * @param {string} type
   * @param {object} [fields]
   * @returns {Promise<any>} the answer; rejects with a sentence for the person
   */
  ask(type, fields = {}) {
    const requestId = randomId(12);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.settle(requestId, new Error(t('optionsNoAnswer'))), PATIENCE_MS);
      const over = () => clearTimeout(timer);
      this.open.set(requestId, {
        resolve: (answer) => (over(), resolve(answer)),
        reject: (error) => (over(), reject(error)),
      });
      const message = /** @type {PanelMessage} */ (/** @type {unknown} */ ({ type, ...fields, requestId }));
      if (!this.connection().post(message)) this.settle(requestId, new Error(t('optionsNoHost')));
    });
  }

  /**
   * True when the message was an answer.
   * @param {PanelInbound} message
   */
  take(message) {
    const id = 'requestId' in message ? message.requestId : undefined;
    if (id === undefined || !this.open.has(id)) return false;
    if (message.type === 'worker.undelivered') this.settle(id, new Error(t('optionsNoHost')));
    else this.settle(id, message.type === 'chat.error' ? new Error(message.message) : message);
    return true;
  }

  /** The host is gone: nobody answers any more. */
  lost() {
    for (const id of [...this.open.keys()]) this.settle(id, new Error(t('optionsNoHost')));
  }

  /**
   * @param {string} id
   * @param {object | Error} outcome
   */
  settle(id, outcome) {
    const waiting = this.open.get(id);
    this.open.delete(id);
    if (outcome instanceof Error) waiting?.reject(outcome);
    else waiting?.resolve(outcome);
  }
}
