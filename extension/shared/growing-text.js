// Plain text that grows: a browser lays a block out as a whole, so a long text in one block costs more with
// every piece. Here it stands in blocks of bounded length.
import { h } from './dom.js';

/** Characters of one block, more or less. */
const PART = 8_000;

export class GrowingText {
  /** @param {HTMLElement} target */
  constructor(target) {
    this.target = target;
    /** @type {HTMLElement | null} */
    this.part = null;
    this.size = 0;
    this.atLineEnd = true;
  }

  /** @param {string} more */
  append(more) {
    // Between lines the seam cannot be seen; a line that never ends is broken all the same.
    if (!this.part || (this.size >= PART && (this.atLineEnd || this.size >= 2 * PART))) {
      this.part = h('span', { class: 'text-part' });
      this.size = 0;
      this.target.append(this.part);
    }
    this.part.append(more);
    this.size += more.length;
    this.atLineEnd = more.endsWith('\n');
  }
}
