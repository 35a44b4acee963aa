// Markdown that is still growing. Rendering a block costs in proportion to its length, and while it is open it is
// rendered again and again: so the work of one step is bounded, whatever the length of the answer or of its blocks.
import { GrowingText } from './growing-text.js';
import { blocksOf, renderMarkdown } from './markdown.js';

/** @import { Token } from '../vendor/marked.esm.js' */
/** @import { Links } from './markdown.js' */

/** @typedef {{text: GrowingText, end: RegExp}} LongCode */

/** Longest paragraph that is one paragraph on the page, characters. */
const PROSE = 4_000;
/** Longest other block (list, table, quotation); also how far ahead blocks are looked for. */
const BLOCK = 16_000;
/** What one step may take, ms; it also ends after `BLOCK` characters, since the layout comes on top. */
const BUDGET = 10;

export class MarkdownStream {
  /** @param {HTMLElement} target */
  constructor(target) {
    this.target = target;
    this.rendering = new Rendering(target);
    this.frame = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.pause = undefined;
  }

  get text() {
    return this.rendering.pieces.join('');
  }

  /** @param {string} more */
  append(more) {
    this.rendering.add(more);
    if (!this.frame && this.pause === undefined) this.schedule();
  }

  schedule() {
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const start = performance.now();
      const more = this.rendering.step();
      const cost = performance.now() - start;
      // The rest of the time is the page's: for layout, and for the person.
      if (more || cost >= 8) this.later(more ? cost : cost * 5);
    });
  }

  /** @param {number} ms */
  later(ms) {
    this.pause = setTimeout(() => {
      this.pause = undefined;
      if (!this.rendering.due) return;
      if (!this.rendering.complete) this.schedule();
      else if (this.rendering.step()) this.later(BUDGET);
    }, ms);
  }

  /**
   * The text is complete. A short one is rendered once more as a whole, since a link may be defined at the end;
   * of a long one what remains is rendered, in as many steps as that takes.
   * @param {string} [text]   replaces what was streamed
   */
  finish(text) {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.pause);
    this.frame = 0;
    this.pause = undefined;
    if (text !== undefined || this.rendering.length <= BLOCK) {
      const whole = text ?? this.text;
      this.rendering = new Rendering(this.target);
      this.rendering.add(whole);
    }
    this.rendering.complete = true;
    if (this.rendering.step()) this.later(BUDGET);
  }
}

/** A text on its way to the page. */
class Rendering {
  /** @param {HTMLElement} target   emptied */
  constructor(target) {
    this.target = target;
    /** All of the text. @type {string[]} */
    this.pieces = [];
    /** How many of the pieces went into `rest`. */
    this.taken = 0;
    /** Characters of all pieces. */
    this.length = 0;
    /** What is not on the page yet, or may change there. */
    this.rest = '';
    /** Stands before `rest`, but is on the page already: the head of a table that was cut. */
    this.carry = '';
    /** The nodes of the open block. @type {ChildNode[]} */
    this.open = [];
    /** A code block longer than a block may be. @type {LongCode | null} */
    this.code = null;
    /** @type {Links} */
    this.links = {};
    /** Characters that the last step put on the page for good. */
    this.placed = 0;
    /** Nothing more will come. */
    this.complete = false;
    /** Something is not on the page that could be. */
    this.due = false;
    this.work = this.closing();
    target.replaceChildren();
  }

  /** @param {string} more */
  add(more) {
    this.pieces.push(more);
    this.length += more.length;
    this.due = true;
  }

  /** Brings the page up to date, as far as the time allows. @returns {boolean} whether something is left to do */
  step() {
    for (const node of this.open) node.remove();
    this.open = [];
    this.placed = 0;
    const until = performance.now() + BUDGET;
    while (!this.work.next().done) {
      // A short text comes in one go.
      if (this.length > BLOCK && (this.placed >= BLOCK || performance.now() >= until)) return true;
    }
    this.work = this.closing();
    this.due = false;
    if (this.complete || this.code) return false;
    const fragment = renderMarkdown(this.carry + this.rest, this.links);
    this.open = [...fragment.childNodes];
    this.target.append(fragment);
    return false;
  }

  /** Takes up what has come, but no more than is looked at. @returns {boolean} whether that is all */
  take() {
    let more = '';
    while (this.rest.length + more.length <= BLOCK && this.taken < this.pieces.length) {
      more += (this.pieces[this.taken] ?? '').replaceAll('\r', '');
      this.taken += 1;
    }
    if (more) this.rest += more;
    return this.taken === this.pieces.length && this.rest.length <= BLOCK;
  }

  /**
   * Puts on the page, block by block, what will not change any more. What is left in `rest` is one open block.
   * @returns {Generator<undefined, void>}
   */
  *closing() {
    for (;;) {
      const all = this.take();
      if (this.code) {
        if (this.growCode(this.code, all)) yield;
        else return;
        continue;
      }
      const tokens = blocksOf(this.carry + this.rest.slice(0, BLOCK), this.links);
      const found = tokens.length;
      while (tokens.at(-1)?.type === 'space') tokens.pop();
      const spaced = tokens.length < found;
      // The last block may go on.
      const last = (all && this.complete) || (!all && spaced) ? undefined : tokens.pop();
      for (const token of tokens) yield* this.close(token);
      if (!last && all) return;
      if (!last && tokens.length === 0) this.rest = this.rest.slice(BLOCK);
      if (tokens.length > 0 || !last) continue;
      if (isProse(last) ? last.raw.length <= PROSE : all) return;
      this.cut(last);
      yield;
    }
  }

  /** @param {Token} token @returns {Generator<undefined, void>} */
  *close(token) {
    let raw = token.raw;
    while (isProse(token) && raw.length > PROSE) {
      const at = betweenWords(raw, PROSE);
      this.put(raw.slice(0, at), true);
      raw = raw.slice(at);
      yield;
    }
    this.put(raw);
    yield;
  }

  /**
   * Puts source on the page that stands at the beginning of `carry` and `rest`.
   * @param {string} source
   * @param {boolean} [goesOn]   what follows belongs to the same block
   */
  put(source, goesOn = false) {
    const fragment = renderMarkdown(source, this.links);
    if (goesOn) fragment.lastElementChild?.classList.add('goes-on');
    this.target.append(fragment);
    this.placed += source.length;
    this.rest = this.rest.slice(source.length - this.carry.length);
    this.carry = '';
  }

  /** Ends an open block that is too long; what follows begins another one of its kind. @param {Token} token */
  cut(token) {
    const { raw, type } = token;
    if (isProse(token)) {
      this.put(raw.slice(0, betweenWords(raw, PROSE)), true);
      return;
    }
    const fence = type === 'code' ? /^(`{3,}|~{3,})[^\n]*\n/.exec(raw) : null;
    if (fence) {
      this.openCode(fence[0], fence[1] ?? '');
      return;
    }
    const head = type === 'table' ? (/^[^\n]*\n[^\n]*\n/.exec(raw)?.[0] ?? '') : '';
    this.put(raw.slice(0, betweenLines(raw)), true);
    if (head.length < BLOCK / 4) this.carry = head;
  }

  /** @param {string} line @param {string} fence */
  openCode(line, fence) {
    const fragment = renderMarkdown(`${line}${fence}`);
    const code = fragment.querySelector('code');
    if (!code) return;
    code.replaceChildren();
    this.target.append(fragment);
    this.rest = this.rest.slice(line.length);
    this.code = { text: new GrowingText(code), end: new RegExp(`^ {0,3}${fence}${fence[0]}*[ \\t]*(?:\\n|$(?![^]))`, 'm') };
  }

  /**
   * @param {LongCode} code
   * @param {boolean} all   whether `rest` is all there is
   * @returns {boolean} whether there was something to do
   */
  growCode(code, all) {
    const source = this.rest.slice(0, BLOCK / 2);
    const ends = all && this.complete && source.length === this.rest.length;
    const end = code.end.exec(source);
    if (end && (end[0].endsWith('\n') || ends)) {
      code.text.append(source.slice(0, end.index));
      this.placed += end.index;
      this.rest = this.rest.slice(end.index + end[0].length);
      this.code = null;
      return true;
    }
    // Whole lines, since the last one may become the end.
    const lines = source.lastIndexOf('\n') + 1;
    const length = ends ? source.length : lines || (source.length === BLOCK / 2 ? betweenCharacters(source, source.length) : 0);
    if (length === 0) return false;
    code.text.append(source.slice(0, length));
    this.placed += length;
    this.rest = this.rest.slice(length);
    return true;
  }
}

/** @param {Token} token */
function isProse({ type }) {
  return type === 'paragraph' || type === 'text' || type === 'heading';
}

/**
 * Where a paragraph is cut: the last line end, else the last end of a sentence, else the last gap, before a letter,
 * since other characters could begin a list or the like there.
 * @param {string} text
 * @param {number} most
 */
function betweenWords(text, most) {
  const from = Math.floor(most / 2);
  const part = text.slice(from, most + 1);
  for (const gap of [/\n(?=\p{L})/gu, /[.!?…][^\p{L}\s]{0,2}\s(?=\p{L})|[。！？](?=\p{L})/gu, /\s(?=\p{L})/gu]) {
    const last = [...part.matchAll(gap)].at(-1);
    if (last) return from + last.index + last[0].length;
  }
  return betweenCharacters(text, most);
}

/** Where another block is cut: at the last line that is not indented. @param {string} text */
function betweenLines(text) {
  const from = Math.floor(text.length / 2);
  const last = [...text.slice(from).matchAll(/\n(?=\S)/g)].at(-1);
  if (last) return from + last.index + 1;
  const line = text.lastIndexOf('\n', text.length - 2) + 1;
  return line > from ? line : betweenWords(text, text.length - 1);
}

/** @param {string} text @param {number} at */
function betweenCharacters(text, at) {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? at - 1 : at;
}
