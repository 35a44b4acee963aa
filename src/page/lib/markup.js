// The markup of a part of the page, within a budget: well-formed, without what is no content, without secrets.

const markup = (() => {
  /** Elements whose insides say nothing about the page. */
  const EMPTY = /^(script|style|noscript|template|svg|canvas|object|math)$/;
  const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
  const KEPT = /^(id|class|name|type|role|autocomplete|placeholder|title|for|maxlength|required|disabled|readonly|aria-.*)$/;
  const KEEPS_SPACE = /^(pre|textarea)$/;
  /** Longest attribute, characters. */
  const LONGEST = 200;
  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const attributesOf = Object.getOwnPropertyDescriptor(Element.prototype, 'attributes')?.get;

  /** @param {string} text */
  const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

  /** The most whole characters, as a person counts them, that fit. @param {string} text @param {number} room */
  function fitting(text, room) {
    if (text.length <= room) return text;
    let end = 0;
    for (const { index, segment } of graphemes.segment(text.slice(0, room + 64))) {
      if (index + segment.length > room) break;
      end = index + segment.length;
    }
    return text.slice(0, end);
  }

  /** @param {Element} element @param {string} tag @param {(text: string) => string} scrub */
  function opening(element, tag, scrub) {
    const isSecret = secret.hidesValue(element);
    const hides = isSecret || (tag === 'input' && (dom.attr(element, 'type') ?? '').toLowerCase() === 'hidden');
    let out = `<${tag}`;
    for (const { name, value } of attributesOf?.call(element) ?? []) {
      if (isSecret && name !== 'value' && !KEPT.test(name)) continue;
      let shown = name === 'value' && hides ? '[left out]' : name === 'nonce' ? '' : scrub(String(value));
      if (shown.length > LONGEST) shown = `${fitting(shown, LONGEST)}…`;
      out += shown === '' ? ` ${name}` : ` ${name}="${escaped(shown).replaceAll('"', '&quot;')}"`;
    }
    return { open: `${out}>`, close: VOID.test(tag) ? '' : `</${tag}>`, isSecret };
  }

  /** All elements inside, seen from outside of shadow roots. @param {Node} node */
  const sizeOf = (node) => (dom.isElement(node) ? 1 + dom.findAll(node, '*').length : 0);

  /**
   * @param {Element} from
   * @param {number} room characters
   */
  function write(from, room) {
    const scrub = secret.scrubber();
    const isOver = reading.deadline();
    /** @type {string[]} */
    const out = [];
    /** @type {Record<string, number>} */
    const skipped = {};
    let left = 0;
    let full = false;
    let late = false;
    /** @type {(Node | string)[]} */
    const stack = [from];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (typeof node === 'string') {
        out.push(node);
        continue;
      }
      late ||= isOver();
      if (late) full = true;
      if (full) {
        left += sizeOf(node);
        continue;
      }
      if (dom.type(node) === 3) {
        const parent = dom.flatParent(node);
        const data = dom.data(node);
        const raw = parent && KEEPS_SPACE.test(dom.tag(parent)) ? data : data.replace(/\s+/g, ' ');
        const text = escaped(scrub(raw));
        const fits = fitting(text, room).replace(text.length > room ? /&\w*$/ : /^$/, '');
        out.push(fits);
        room -= fits.length;
        if (fits !== text) {
          full = true;
          out.push('…');
        }
        continue;
      }
      if (!dom.isElement(node)) continue;
      const tag = dom.tag(node);
      if (EMPTY.test(tag) && node !== from) {
        skipped[tag] = (skipped[tag] ?? 0) + 1;
        continue;
      }
      const { open, close, isSecret } = opening(node, tag, scrub);
      if (open.length + close.length > room) {
        full = true;
        left += sizeOf(node);
        continue;
      }
      out.push(open);
      room -= open.length + close.length;
      if (close) stack.push(close);
      if (!isSecret) room -= push(node, tag, stack);
    }
    return { found: true, html: out.join(''), cut: full, left, late, skipped };
  }

  /**
   * What is inside an element: its document, its shadow root, its children.
   * @param {Element} node
   * @param {string} tag
   * @param {(Node | string)[]} stack
   * @returns {number} what the marks of a shadow root take of the room
   */
  function push(node, tag, stack) {
    const document = dom.shown(node);
    if (document) {
      const root = dom.rootElement(document);
      if (root) stack.push(root);
      return 0;
    }
    if (tag === 'iframe' || tag === 'frame') {
      stack.push('<!-- of another origin: give a selector of something in it -->');
      return 62;
    }
    /** @param {Node} parent */
    const children = (parent) => {
      /** @type {Node[]} */
      const all = [];
      for (let child = dom.firstChild(parent); child; child = dom.next(child)) all.push(child);
      for (let at = all.length - 1; at >= 0; at--) stack.push(/** @type {Node} */ (all[at]));
    };
    children(node);
    const root = dom.shadow(node);
    if (!root) return 0;
    stack.push('</shadow-root>');
    children(root);
    stack.push('<shadow-root>');
    return 27;
  }

  /** @param {string | null | undefined} selector @param {number} room */
  function read(selector, room) {
    let from = dom.body(document) ?? dom.rootElement(document);
    if (selector) {
      try {
        from = reading.find(selector);
      } catch (error) {
        if (error instanceof DOMException && error.name === 'SyntaxError') return { wrong: true };
        throw error;
      }
    }
    return from ? write(from, room) : { found: false };
  }

  return { read };
})();

registry.define('readMarkup', markup.read);
