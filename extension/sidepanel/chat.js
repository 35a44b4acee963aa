// The conversation of this panel: prompts out, what the host tells about them in.
import { h, randomId } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { closedText } from './ask-card.js';
import { showHistory } from './history.js';
import { Turn } from './turn.js';

/** @import { Attachment } from '../shared/protocol.js' */
/** @import { AskAnswer, PanelMessage, SessionMessage, UserAsk } from '../shared/messages.js' */

/** Endings that mean the prompt never got anywhere: the text goes back to the composer. */
const REFUSALS = new Set(['busy', 'auth', 'not_ready', 'cli_missing', 'cli_failed', 'offline', 'quota', 'rate_limit', 'no_license']);
/** A host confirms Stop within a quarter of a second; one that says nothing must not hold the panel. */
const STOP_PATIENCE_MS = 10_000;
const MAX_TITLE = 60;

/**
 * @typedef {object} Surroundings
 * @property {(message: PanelMessage) => boolean} post
 * @property {HTMLElement} log
 * @property {import('./ask-card.js').AskSlot} asks
 * @property {(what: {text: string, attachments: Attachment[]}) => void} giveBack   to the composer: it did not get through
 * @property {import('./store.js').PanelStore} store
 * @property {() => void} changed          the state or title may be another
 * @property {() => void} scrollToEnd
 * @property {(more: number) => void} keepPlace   so much was added above what is read
 * @property {(text: string) => void} say  tells a screen reader
 * @property {() => boolean} hostQueues    whether the host tells when a turn starts
 */

export class Chat {
  /** @param {Surroundings} around */
  constructor(around) {
    this.around = around;
    /** Turns that have not ended, oldest first. @type {Turn[]} */
    this.turns = [];
    this.canSend = false;
    this.historyAsked = '';
  }

  get sessionId() {
    return this.around.store.value.sessionId;
  }

  get running() {
    return this.turns.find((turn) => turn.phase === 'running');
  }

  get waiting() {
    return this.turns.some((turn) => turn.phase === 'queued' || turn.phase === 'sent');
  }

  get queued() {
    return this.turns.some((turn) => turn.phase === 'queued');
  }

  get empty() {
    return this.around.log.childElementCount === 0;
  }

  // ---- prompts ----------------------------------------------------------------------------

  /** @param {string} text @param {string} [id] @param {Attachment[]} [attachments] */
  prompt(text, id, attachments) {
    const turn = new Turn(id ?? `t-${randomId(16)}`, text, attachments);
    turn.restored = id !== undefined;
    this.turns.push(turn);
    this.around.log.append(turn.view.element);
    this.nameAfter(text);
    this.around.scrollToEnd();
    if (this.canSend) this.send(turn);
    else this.hold(turn);
    this.around.changed();
  }

  /** A chat is called by its first prompt. @param {string} text */
  nameAfter(text) {
    if (this.around.store.value.title) return;
    const line = text.split('\n')[0] ?? '';
    this.around.store.set({ title: line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}…` : line });
  }

  /** @param {Turn} turn */
  hold(turn) {
    turn.phase = 'held';
    turn.view.showPlace(t('heldText'), () => this.withdraw(turn));
    this.rememberHeld();
  }

  /** What this page read from the window's memory is another page's to send. */
  dropRestored() {
    for (const turn of this.turns.filter((each) => each.restored && each.phase === 'held')) {
      this.remove(turn);
      turn.view.element.remove();
    }
  }

  rememberHeld() {
    const held = this.turns.filter((turn) => turn.phase === 'held').map(({ id, text }) => ({ turnId: id, text }));
    this.around.store.set({ held });
  }

  /** The host is ready: everything that waited goes, in order. */
  flush() {
    for (const turn of this.turns.filter((each) => each.phase === 'held')) this.send(turn);
    this.rememberHeld();
  }

  /** @param {Turn} turn */
  send(turn) {
    turn.phase = 'sent';
    turn.sends += 1;
    turn.view.place.hidden = true;
    const { text, attachments } = turn;
    const more = attachments.length > 0 ? { attachments } : {};
    const sent = this.around.post({ type: 'chat.send', sessionId: this.sessionId, text, turnId: turn.id, ...more });
    if (!sent) this.hold(turn);
  }

  /** The person takes a waiting prompt back. @param {Turn} turn */
  withdraw(turn) {
    if (turn.phase === 'held') {
      this.remove(turn);
      turn.view.element.remove();
      this.around.giveBack(turn);
      this.rememberHeld();
    } else {
      this.cancel(turn);
    }
    this.around.changed();
  }

  /** Stop: the running turn, else the one that waits for its turn. */
  stop() {
    const turn = this.running ?? this.turns.find((each) => each.phase === 'queued' || each.phase === 'sent');
    if (turn) this.cancel(turn);
  }

  /** @param {Turn} turn */
  cancel(turn) {
    if (turn.stopping) return;
    turn.stopping = true;
    turn.view.thinkingIs(t('stopping'));
    this.around.post({ type: 'chat.cancel', sessionId: this.sessionId, turnId: turn.id });
    setTimeout(() => {
      if (turn.phase !== 'ended') this.fail(turn, t('stopUnanswered'), 'aborted');
    }, STOP_PATIENCE_MS);
    this.around.changed();
  }

  /** @param {Turn} turn */
  remove(turn) {
    this.turns = this.turns.filter((each) => each !== turn);
  }

  startNew() {
    this.leave();
    this.around.store.startNew();
  }

  /** Goes on with a chat that the host has. @param {string} id @param {string} title */
  open(id, title) {
    this.leave();
    this.around.store.take(id, title);
  }

  leave() {
    this.historyAsked = '';
    this.around.post({ type: 'session.end', sessionId: this.sessionId });
    const unsent = this.turns.filter((turn) => turn.phase === 'held');
    for (const turn of this.turns) turn.end();
    this.turns = [];
    if (unsent.length > 0) {
      this.around.giveBack({ text: unsent.map((turn) => turn.text).join('\n\n'), attachments: unsent.flatMap((turn) => turn.attachments) });
    }
    this.around.asks.clear();
    this.around.log.replaceChildren();
  }

  // ---- the connection ---------------------------------------------------------------------

  /** A message did not reach the host. @param {string} turnId */
  undelivered(turnId) {
    const turn = this.turns.find((each) => each.id === turnId);
    if (!turn || turn.phase !== 'sent') return;
    this.remove(turn);
    turn.end();
    turn.view.fail(t('undelivered'), 'undelivered');
    this.around.giveBack(turn);
    this.around.changed();
  }

  /** The host is gone, and with it every turn it knew. */
  hostLost() {
    this.canSend = false;
    this.around.asks.clear();
    const queues = this.around.hostQueues();
    for (const turn of [...this.turns]) {
      if (turn.phase === 'held') continue;
      // One that had not begun did nothing yet, so it may safely go again; but only once more,
      // since it may be what ended the host.
      const untouched = queues && turn.phase !== 'running' && !turn.output && !turn.stopping && turn.sends < 2;
      if (untouched) this.hold(turn);
      else this.fail(turn, t('interrupted'), 'interrupted');
    }
  }

  // ---- from the host ----------------------------------------------------------------------

  /**
   * The turn a message is about: the one it names, else the one that runs or is next.
   * @param {string | undefined} turnId
   */
  turnOf(turnId) {
    const withHost = this.turns.filter((turn) => turn.phase !== 'held');
    if (turnId !== undefined) return withHost.find((turn) => turn.id === turnId);
    if (this.running) return this.running;
    // A host that tells when a turn starts does not write into one that waits: this is a late word
    // of a turn that has ended.
    return this.around.hostQueues() ? undefined : withHost[0];
  }

  /** @param {SessionMessage} message */
  handle(message) {
    switch (message.type) {
      case 'chat.queued':
        this.placeInQueue(message);
        break;
      case 'chat.started':
        this.turnOf(message.turnId)?.begin();
        break;
      case 'chat.delta':
        this.during(message.turnId, (turn) => turn.view.delta(String(message.text ?? '')));
        break;
      case 'chat.tool_call':
        this.during(message.turnId, (turn) => turn.view.toolStarted(message.callId, message.tool, message.args));
        break;
      case 'chat.tool_result':
        this.during(message.turnId, (turn) => turn.view.toolEnded(message.callId, message.ok, message.summary ?? '', message.durationMs));
        break;
      case 'event.activity':
        this.activity(message.event, message.text ?? '');
        break;
      case 'chat.done':
        this.done(message);
        break;
      case 'chat.error':
        this.refused(message);
        break;
      case 'user.ask':
        this.around.asks.add(message);
        this.around.say(message.message);
        break;
      case 'user.ask.closed':
        if (this.around.asks.remove(message.askId)) this.note(closedText(message.reason));
        break;
    }
    this.around.changed();
  }

  /**
   * @param {string | undefined} turnId
   * @param {(turn: Turn) => void} act
   */
  during(turnId, act) {
    const turn = this.turnOf(turnId);
    // What arrives after the end belongs to no turn.
    if (!turn) return;
    turn.begin();
    turn.output = true;
    act(turn);
  }

  /** @param {Extract<SessionMessage, {type: 'chat.queued'}>} message */
  placeInQueue({ turnId, position, reason }) {
    const turn = this.turnOf(turnId);
    if (!turn || turn.phase === 'running') return;
    turn.phase = 'queued';
    const own = this.running !== undefined;
    const why = t(reason === 'person' ? 'queuedPerson' : own ? 'queuedOwn' : 'queuedOther');
    const place = position <= 1 ? t('queuedNext') : t('queuedPlace', position);
    turn.view.showPlace(`${why} · ${place}`, () => this.withdraw(turn));
  }

  /** @param {Extract<SessionMessage, {type: 'chat.done'}>} message */
  done({ turnId, text, truncated, durationMs }) {
    const turn = this.turnOf(turnId);
    if (!turn) return;
    this.remove(turn);
    // What was too long for one message has been streamed whole.
    turn.end(truncated && turn.view.streamed ? undefined : text, durationMs);
    this.around.say(turn.view.spoken());
  }

  /** @param {Extract<SessionMessage, {type: 'chat.error'}>} message */
  refused({ turnId, message, code = '' }) {
    const turn = this.turnOf(turnId) ?? (turnId === undefined ? this.turns.find((each) => each.phase === 'sent') : undefined);
    if (turn) this.fail(turn, message, code);
    else this.trouble(message, code);
  }

  /** An error that ends no turn. @param {string} message @param {string} [code] */
  trouble(message, code) {
    this.around.log.append(h('div', { class: 'msg error', 'data-code': code || undefined }, h('p', {}, message)));
    this.around.say(message);
  }

  /** @param {string} event @param {string} text */
  activity(event, text) {
    if (event === 'reasoning' && text) this.during(undefined, (turn) => turn.view.reason(text));
    // Why nothing seems to happen, until something does.
    if (event === 'status.retry') this.during(undefined, (turn) => turn.view.thinkingIs(text || t('thinking')));
    // Another model answers than the one that was chosen, something could not be written down, or the turn used up what it may.
    if ((event === 'status.model' || event === 'status.notice') && text) this.note(text);
    if (event === 'status.thinking') this.during(undefined, (turn) => turn.view.thinkingIs(t('thinking')));
  }

  /**
   * @param {Turn} turn
   * @param {string} message
   * @param {string} code
   */
  fail(turn, message, code) {
    this.remove(turn);
    turn.end();
    const stopped = code === 'aborted' || turn.stopping;
    const giveBack = !turn.output && REFUSALS.has(code);
    const again = { label: t('tryAgain'), act: () => this.prompt(turn.text, undefined, turn.attachments) };
    turn.view.fail(message || t('noReason'), stopped ? 'aborted' : code, giveBack || stopped ? undefined : again);
    if (giveBack) this.around.giveBack(turn);
    this.around.say(message);
    this.around.changed();
  }

  /** A quiet line in the conversation. @param {string} text */
  note(text) {
    const line = h('p', { class: 'note' }, text);
    if (this.running) this.running.view.note(line);
    else this.around.log.append(line);
  }

  // ---- answers, history -------------------------------------------------------------------

  /**
   * @param {UserAsk} ask
   * @param {AskAnswer} answer
   * @param {string | undefined} text
   */
  answer(ask, answer, text) {
    const sent = this.around.post({
      type: 'user.answer', sessionId: ask.sessionId, askId: ask.askId, answer, ...(text !== undefined && { text }),
    });
    if (!sent) return false;
    const words = { done: 'saidDone', skip: 'saidSkip', allow: 'saidAllow', allow_always: 'saidAllow', deny: 'saidDeny', choice: 'saidChoice' };
    this.note(text ? t('saidText', text) : t(words[answer]));
    // The host tells nothing about its own state while it takes the answer.
    queueMicrotask(() => this.around.changed());
    return true;
  }

  /** @param {string} [before]   cursor of the page that came last; absent: the newest page */
  askHistory(before) {
    this.historyAsked = `h-${randomId(12)}`;
    const earlier = before === undefined ? {} : { before };
    this.around.post({ type: 'chat.history', id: this.sessionId, requestId: this.historyAsked, ...earlier });
  }

  /** @param {Extract<import('../shared/messages.js').SharedMessage, {type: 'chat.history.result'}>} message */
  history(message) {
    if (message.requestId !== undefined && message.requestId !== this.historyAsked) return;
    if (message.id !== this.sessionId || !Array.isArray(message.messages)) return;
    const isFirst = !this.around.log.querySelector('.restored');
    const button = this.around.log.querySelector('.earlier');
    // A page that comes a second time, after the worker was restarted, is on the page already.
    if (!isFirst && !button) return;
    button?.remove();
    const height = this.around.log.scrollHeight;
    showHistory(this.around.log, message.messages);
    this.offerEarlier(message);
    const first = message.messages.find((each) => each.role === 'user');
    if (isFirst && first?.text) this.nameAfter(first.text);
    this.around.changed();
    if (isFirst) this.around.scrollToEnd();
    else this.around.keepPlace(this.around.log.scrollHeight - height);
  }

  /** @param {{cursor?: string, hasMore?: boolean}} page */
  offerEarlier({ cursor, hasMore }) {
    if (!hasMore || cursor === undefined) return;
    const button = h('button', { type: 'button', class: 'small earlier', onclick: () => {
      button.disabled = true;
      this.askHistory(cursor);
    } }, t('showEarlier'));
    this.around.log.prepend(button);
  }
}
