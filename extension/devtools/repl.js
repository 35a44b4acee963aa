// The chat of one inspected tab: lines out, what the host tells about them in.
import { randomId } from '../shared/dom.js';
import { t } from '../shared/i18n.js';

/** @import { HostStatus, PanelInbound, PanelMessage, SessionMessage } from '../shared/messages.js' */
/** @import { Connection } from '../shared/connection.js' */
/** @import { Screen } from './screen.js' */
/** @import { AskSlot } from '../sidepanel/ask-card.js' */

const CAPABILITIES = ['cdp.activeTab', 'queue', 'ask', 'tabs.close', 'tabs.held', 'browser.events', 'downloads', 'usage', 'cdp.targets'];

/** @typedef {{id: string, words: string, by: 'model' | 'hand', message: PanelMessage, sent: boolean}} Turn */

export class Repl {
  /**
   * @param {object} around
   * @param {Connection} around.connection
   * @param {Screen} around.screen
   * @param {AskSlot} around.asks
   * @param {number} around.tabId
   * @param {(words: string) => void} around.giveBack   a line that did not get through
   * @param {() => void} around.changed
   */
  constructor({ connection, screen, asks, tabId, giveBack, changed }) {
    this.connection = connection;
    this.screen = screen;
    this.asks = asks;
    this.tabId = tabId;
    this.giveBack = giveBack;
    this.changed = changed;
    this.key = `devtools.${tabId}`;
    this.sessionId = '';
    /** What was sent and has not ended, and what waits for the host, oldest first. @type {Turn[]} */
    this.turns = [];
    this.ready = false;
    this.epoch = -1;
    /** @type {HostStatus | null} */
    this.host = null;
  }

  async load() {
    const stored = await chrome.storage.session.get(this.key).catch(() => ({}));
    const id = /** @type {Record<string, unknown>} */ (stored)[this.key];
    this.use(typeof id === 'string' ? id : newId());
  }

  get busy() {
    return this.turns.some((turn) => turn.sent);
  }

  // ---- out --------------------------------------------------------------------------------

  /** @param {string} text */
  prompt(text) {
    const id = `t-${randomId(16)}`;
    this.begin({ id, words: text, by: 'model', sent: false, message: { type: 'chat.send', sessionId: this.sessionId, turnId: id, text } });
  }

  /**
   * Calls a tool without a model.
   * @param {string} words   the line that asked for it
   * @param {string} tool
   * @param {object} args
   */
  run(words, tool, args) {
    const id = `t-${randomId(16)}`;
    this.begin({ id, words, by: 'hand', sent: false, message: { type: 'chat.run', sessionId: this.sessionId, turnId: id, tool, args } });
  }

  /** @param {Turn} turn */
  begin(turn) {
    this.turns.push(turn);
    if (this.ready) this.flush();
    else this.screen.line(t('heldText'), 'soft');
    this.changed();
  }

  flush() {
    for (const turn of this.turns.filter((each) => !each.sent)) turn.sent = this.connection.post(turn.message);
  }

  /** Stop. @returns {boolean} whether there was anything to stop */
  stop() {
    const turn = this.turns[0];
    if (!turn) return false;
    if (turn.sent) this.connection.post({ type: 'chat.cancel', sessionId: this.sessionId, turnId: turn.id });
    else this.end(turn.id);
    return true;
  }

  /** Another chat. @param {string} [id] */
  change(id = newId()) {
    this.connection.post({ type: 'session.end', sessionId: this.sessionId });
    this.turns = [];
    this.asks.clear();
    this.use(id);
    if (this.epoch >= 0) this.start();
    this.changed();
  }

  /** @param {string} id */
  use(id) {
    this.sessionId = id;
    chrome.storage.session.set({ [this.key]: id }).catch((error) => console.warn('the chat of this tab is not remembered', error));
  }

  start() {
    this.ready = false;
    this.connection.post({
      type: 'session.start', sessionId: this.sessionId, capabilities: CAPABILITIES,
      inspectedTabId: this.tabId, locale: chrome.i18n.getUILanguage(),
    });
  }

  // ---- in ---------------------------------------------------------------------------------

  /** @param {HostStatus} host */
  hostIs(host) {
    this.host = host;
    const same = host.state === 'ready' && host.epoch === this.epoch;
    if (same) return;
    if (this.epoch >= 0) this.lost();
    if (host.state === 'ready') {
      this.epoch = host.epoch;
      this.start();
    }
  }

  /** The host is gone, and what ran there with it. */
  lost() {
    this.epoch = -1;
    this.ready = false;
    this.asks.clear();
    for (const turn of this.turns.filter((each) => each.sent)) {
      this.screen.line(t('interrupted'), 'bad');
      this.end(turn.id);
    }
  }

  /** @param {Extract<PanelInbound, {sessionId?: string}>} message */
  receive(message) {
    if (message.type === 'worker.undelivered') this.undelivered(message.turnId);
    else if (message.type === 'worker.conflict') this.change();
    else if (message.sessionId === this.sessionId) this.fromSession(/** @type {SessionMessage} */ (message));
  }

  /** @param {SessionMessage} message */
  fromSession(message) {
    switch (message.type) {
      case 'session.ready':
        this.ready = true;
        this.flush();
        break;
      case 'chat.queued':
        this.screen.line(message.reason === 'person' ? t('queuedPerson') : t('queuedOther'), 'soft');
        break;
      case 'chat.delta':
        if (this.turns[0]?.by === 'model') this.screen.delta(message.text);
        break;
      case 'chat.tool_call':
        if (this.turns[0]?.by === 'model') this.screen.toolStarted(message.callId, message.tool, message.args);
        break;
      case 'chat.tool_result':
        this.screen.toolEnded(message.callId, message.ok, message.summary ?? '', message.durationMs);
        break;
      case 'chat.done':
        this.done(message.turnId, message.text ?? '');
        break;
      case 'chat.error':
        this.screen.finish('');
        this.screen.line(message.message, message.code === 'aborted' ? 'soft' : 'bad');
        this.end(message.turnId);
        break;
      case 'event.activity':
        if (message.text && message.event.startsWith('status.')) this.screen.line(message.text, 'soft');
        break;
      case 'user.ask':
        this.asks.add(message);
        break;
      case 'user.ask.closed':
        this.asks.remove(message.askId);
        break;
    }
    this.changed();
  }

  /** @param {string | undefined} turnId @param {string} text */
  done(turnId, text) {
    const turn = this.turns.find((each) => each.id === turnId) ?? this.turns[0];
    if (turn?.by === 'hand') this.screen.result(text);
    else this.screen.finish(text);
    this.end(turn?.id);
  }

  /** @param {string | undefined} turnId */
  undelivered(turnId) {
    const turn = this.turns.find((each) => each.id === turnId);
    if (!turn) return;
    this.screen.line(t('undelivered'), 'bad');
    this.giveBack(turn.words);
    this.end(turn.id);
  }

  /** @param {string | undefined} turnId   absent: the oldest */
  end(turnId) {
    const id = turnId ?? this.turns[0]?.id;
    this.turns = this.turns.filter((turn) => turn.id !== id);
    this.changed();
  }
}

const newId = () => `dt-${randomId(16)}`;
