// The text of a page as a person reads it: lines where blocks begin and end, nothing that is not shown.

const reading = (() => {
  const SILENT =
    /^(script|style|noscript|template|head|title|datalist|select|option|textarea|canvas|video|audio|object|svg|math)$/;
  const MOST = 400_000;
  /** Milliseconds one reading may take: the host gives up later than this, so nothing runs on behind its back. */
  const BUDGET = 1_500;
  /** A clock that says when the time for one call is over. @returns {() => boolean} */
  function deadline() {
    const end = performance.now() + BUDGET;
    return () => performance.now() > end;
  }
  /** Boxes on which `overflow` does nothing. */
  const UNCLIPPED = /^(inline|contents|ruby.*|table-(row|column|header|footer).*)$/;
  const range = new Range();

  /**
   * What surrounds a text: where of it can be reached by scrolling, and how opaque it is.
   * @typedef {{ reach: Edges, absolute: Edges, fixed: Edges, opacity: number }} Around
   */

  /** @param {Document} document @returns {Around} */
  function start(document) {
    const view = dom.view(document);
    const root = dom.rootElement(document);
    const rtl = root !== null && dom.style(root).direction === 'rtl';
    const fixed = { ...geometry.EVERYWHERE, left: rtl ? -Infinity : 0, top: 0 };
    const reach = { ...fixed, left: fixed.left - (view?.scrollX ?? 0), top: -(view?.scrollY ?? 0) };
    return { reach, absolute: reach, fixed, opacity: 1 };
  }

  /**
   * What an element hands to what is inside it; `null` when nothing of it can be seen.
   * @param {Element} element @param {CSSStyleDeclaration} style @param {Around} up @returns {Around | null}
   */
  function enter(element, style, up) {
    const opacity = style.opacity === '1' ? up.opacity : up.opacity * Number(style.opacity);
    if (opacity < 0.05) return null;
    const position = style.position;
    let reach = position === 'absolute' ? up.absolute : position === 'fixed' ? up.fixed : up.reach;
    const x = style.overflowX;
    const y = style.overflowY;
    const tag = dom.tag(element);
    if (walk.isClippedAway(style)) reach = geometry.NOWHERE;
    else if (
      (x !== 'visible' || y !== 'visible') &&
      tag !== 'html' &&
      tag !== 'body' &&
      reach !== geometry.NOWHERE &&
      !UNCLIPPED.test(style.display)
    ) {
      const rect = dom.rect(element);
      const edges = geometry.placed({ x: 0, y: 0 }, rect);
      // One pixel is what labels for screen readers are given.
      if ((x !== 'visible' && rect.width < 2) || (y !== 'visible' && rect.height < 2)) reach = geometry.NOWHERE;
      else if (isOutside(edges, reach)) reach = geometry.NOWHERE;
      else if (/auto|scroll/.test(x + y)) reach = geometry.EVERYWHERE;
    }
    const holds = position !== 'static' || walk.holds(style);
    const absolute = holds ? reach : up.absolute;
    const fixed = walk.holds(style) ? reach : up.fixed;
    if (opacity === up.opacity && reach === up.reach && absolute === up.absolute && fixed === up.fixed) return up;
    return { reach, absolute, fixed, opacity };
  }

  /** @param {Edges} edges @param {Edges} reach */
  const isOutside = (edges, reach) =>
    edges.right <= reach.left || edges.bottom <= reach.top || edges.left >= reach.right || edges.top >= reach.bottom;

  /** @param {Node} text @param {CSSStyleDeclaration} style of its parent @param {Edges} reach */
  function isUnseen(text, style, reach) {
    if (reach === geometry.NOWHERE || parseFloat(style.fontSize) < 1) return true;
    if (reach === geometry.EVERYWHERE) return false;
    range.selectNodeContents(text);
    const rect = range.getBoundingClientRect();
    return rect.width > 0 && rect.height > 0 && isOutside(geometry.placed({ x: 0, y: 0 }, rect), reach);
  }

  /** What the ancestors hand to an element. @param {Element} element @returns {Around | null} */
  function around(element) {
    const document = dom.documentOf(element);
    const chain = [];
    for (let up = dom.flatParent(element); up && dom.documentOf(up) === document; up = dom.flatParent(up))
      chain.push(up);
    /** @type {Around | null} */
    let found = start(document);
    for (let at = chain.length - 1; at >= 0 && found; at--) {
      const up = /** @type {Element} */ (chain[at]);
      found = enter(up, dom.style(up), found);
    }
    return found;
  }

  /** Whether a drawn element can be seen too: not transparent, not clipped to nothing, not beside the page. @param {Element} element */
  function isSeen(element) {
    const outer = around(element);
    const own = outer && enter(element, dom.style(element), outer);
    if (!own || own.reach === geometry.NOWHERE) return false;
    const rect = geometry.box({ x: 0, y: 0 }, element);
    return geometry.isEmpty(rect) || own.reach === geometry.EVERYWHERE || !isOutside(rect, own.reach);
  }

  /** Text that grows at its end only: no step looks at more than what it adds or takes away. */
  class Lines {
    /** None of them empty. @type {string[]} */
    parts = [];
    length = 0;

    /** @param {string} part */
    push(part) {
      if (!part) return;
      this.parts.push(part);
      this.length += part.length;
    }
    /** The last character. */
    get last() {
      const part = this.parts[this.parts.length - 1];
      return part ? part.charAt(part.length - 1) : '';
    }
    breakLine() {
      for (let part = this.parts.pop(); part !== undefined; part = this.parts.pop()) {
        let end = part.length;
        while (end > 0 && (part[end - 1] === ' ' || part[end - 1] === '\t')) end -= 1;
        this.length -= part.length;
        this.push(part.slice(0, end));
        if (end > 0) break;
      }
      if (this.parts.length > 0 && this.last !== '\n') this.push('\n');
    }
    /** @param {string} part @param {boolean} keep with its white space */
    add(part, keep) {
      if (keep) return this.push(part);
      const squeezed = part.replace(/[\t\n\f\r ]+/g, ' ');
      return this.push(!this.last || /\s/.test(this.last) ? squeezed.trimStart() : squeezed);
    }
    toString() {
      return this.parts.join('').replace(/\n{3,}/g, '\n\n').trim();
    }
  }

  /**
   * @param {Element} from
   * @param {RegExp} [silent] elements that are not read
   * @returns {{ text: string, cut: boolean, late: boolean }} `late`: time ran out before the end
   */
  function visible(from, silent = SILENT) {
    const isOver = deadline();
    const first = around(from);
    /** @type {{ node: Node | string, around: Around }[]} */
    const stack = first ? [{ node: from, around: first }] : [];
    const text = new Lines();
    let nodes = 0;
    for (let top = stack.pop(); top; top = stack.pop()) {
      const node = top.node;
      if (typeof node === 'string') {
        if (node === '\n') text.breakLine();
        else text.push(node);
        continue;
      }
      nodes += 1;
      const late = nodes % 64 === 0 && isOver();
      if (late || text.length >= MOST || nodes >= MOST)
        return { text: names.cut(text.toString(), MOST), cut: true, late };
      if (dom.type(node) === 3) {
        const parent = dom.flatParent(node) ?? dom.parent(node);
        if (!parent || !dom.isElement(parent)) continue;
        const style = dom.style(parent);
        if (style.visibility !== 'visible' || secret.masks(style)) continue;
        const data = dom.data(node);
        if (/\S/.test(data) && isUnseen(node, style, top.around.reach)) continue;
        text.add(data, style.whiteSpaceCollapse === 'preserve');
        continue;
      }
      if (dom.isElement(node)) readElement(node, top.around, silent, text, stack);
    }
    return { text: text.toString(), cut: false, late: false };
  }

  /**
   * @param {Element} node @param {Around} outer @param {RegExp} silent
   * @param {Lines} text @param {{ node: Node | string, around: Around }[]} stack
   */
  function readElement(node, outer, silent, text, stack) {
    const tag = dom.tag(node);
    if (tag === 'br') text.push('\n');
    if (silent.test(tag)) return;
    const style = dom.style(node);
    if (style.display === 'none' || style.contentVisibility === 'hidden') return;
    const own = enter(node, style, outer);
    if (!own) return;
    if (dom.has(node, 'contenteditable') && secret.hidesValue(node)) return;
    const document = dom.shown(node);
    if (document) {
      const root = dom.rootElement(document);
      if (!root || own.reach === geometry.NOWHERE) return;
      const inside = { ...start(document), opacity: own.opacity };
      stack.push({ node: '\n', around: own }, { node: root, around: inside }, { node: '\n', around: own });
      return;
    }
    if (tag === 'iframe' || tag === 'frame') return;
    /** @type {Node[]} */
    const children = [];
    flat.children(node, (child) => void children.push(child));
    if (style.display === 'table-cell') stack.push({ node: '\t', around: own });
    else if (!style.display.startsWith('inline') && style.display !== 'contents') {
      text.breakLine();
      stack.push({ node: '\n', around: own });
      if (style.display === 'list-item' && tag !== 'summary' && style.listStyleType !== 'none' && own.reach !== geometry.NOWHERE)
        text.push('- ');
    }
    for (let at = children.length - 1; at >= 0; at--) stack.push({ node: /** @type {Node} */ (children[at]), around: own });
  }

  /**
   * The first element a selector finds: in the document, then in shadow roots and same-origin frames.
   * @param {string} selector
   * @returns {Element | null}
   */
  function find(selector) {
    for (const root of dom.roots()) {
      const found = dom.all(root, selector)[0];
      if (found) return found;
    }
    return null;
  }

  return { visible, find, isSeen, deadline, MOST };
})();

registry.define('readText', (/** @type {string} */ selector) => {
  let start = dom.rootElement(document);
  if (selector) {
    try {
      start = reading.find(selector);
    } catch (error) {
      if (error instanceof DOMException && error.name === 'SyntaxError') return { wrong: true };
      throw error;
    }
  }
  if (start && dom.tag(start) === 'textarea' && !secret.hidesValue(start)) {
    // Asked for by itself it is a text to read, and no other tool tells a long one whole.
    const text = String(describe.areaValue(start));
    return { found: true, text: text.slice(0, reading.MOST), cut: text.length > reading.MOST };
  }
  return start ? { found: true, ...reading.visible(start) } : { found: false };
});
