// One prompt on its way: what it is waiting for, and how it ends.
import { TurnView } from './turn-view.js';

/** @import { Attachment } from '../shared/protocol.js' */

/**
 * held     waits in this panel until the host is ready
 * sent     is with the host, nothing heard yet
 * queued   the host said that it has to wait
 * running  the turn has begun
 * ended
 * @typedef {'held' | 'sent' | 'queued' | 'running' | 'ended'} Phase
 */

export class Turn {
  /**
   * @param {string} id
   * @param {string} text
   * @param {Attachment[]} [attachments]
   */
  constructor(id, text, attachments = []) {
    this.id = id;
    this.text = text;
    this.attachments = attachments;
    /** @type {Phase} */
    this.phase = 'held';
    /** How often it was handed to a host. */
    this.sends = 0;
    /** Whether anything of an answer has come. */
    this.output = false;
    /** Whether the person asked for the end. */
    this.stopping = false;
    /** Whether it was left over from an earlier page of this window. */
    this.restored = false;
    this.view = new TurnView(text, attachments);
  }

  begin() {
    if (this.phase === 'running' || this.phase === 'ended') return;
    this.phase = 'running';
    this.view.start();
  }

  /**
   * @param {string} [final]
   * @param {number} [ms]
   */
  end(final, ms) {
    this.phase = 'ended';
    this.view.end(final, ms);
  }
}
