// Where a text stands in the page, what a selector finds, and what of it can be acted on.

const finding = (() => {
  /** Characters around a match that the host may show. */
  const AROUND = 240;
  /** Matches that are counted at all. */
  const MOST = 1_000;
  /** Elements near a match that are told, and how far up they are looked for. */
  const NEAR = 5;
  const LEVELS = 6;
  const CONTROLS = /^(input|select|textarea)$/;
  const IGNORED = /[\u00ad\u200b-\u200d\u2060\ufeff]/;
  const range = new Range();

  /**
   * A text in which spelling does not count: no capitals, one space for any white space, accents apart from their
   * letters; `at` leads from every character back to the text.
   * @param {string} text
   */
  function fold(text) {
    /** @type {string[]} */
    const parts = [];
    /** @type {number[]} */
    const at = [];
    let space = true;
    for (let from = 0; from < text.length; ) {
      const char = String.fromCodePoint(/** @type {number} */ (text.codePointAt(from)));
      if (/\s/.test(char)) {
        if (!space) {
          parts.push(' ');
          at.push(from);
        }
        space = true;
      } else if (!IGNORED.test(char)) {
        const folded = (char < '\x80' ? char : char.normalize('NFD')).toLowerCase();
        parts.push(folded);
        for (let unit = 0; unit < folded.length; unit++) at.push(from);
        space = false;
      }
      from += char.length;
    }
    at.push(text.length);
    return { text: parts.join(''), at };
  }

  /** @param {string} text */
  const wanted = (text) => fold(text).text.trim();

  /** What can be acted on now, and what of it is inside each element around it. */
  class Acted {
    listed = snapshot.listed();
    /** The first few inside an element, in order. @type {Map<Element, Element[]>} */
    inside = new Map();

    constructor() {
      for (const [element, { kind, proxy }] of this.listed) {
        if (kind === 'scroll') continue;
        for (let up = dom.flatParent(proxy ?? element); up; up = dom.flatParent(up)) {
          const first = this.inside.get(up);
          if (!first) this.inside.set(up, [element]);
          // Full, and so is everything around it.
          else if (first.length > NEAR) break;
          else first.push(element);
        }
      }
    }

    /**
     * The listed element that a node belongs to: it is inside it, or inside its label.
     * @param {Node} node
     * @returns {Element | null}
     */
    holder(node) {
      for (let at = dom.isElement(node) ? node : dom.flatParent(node); at; at = dom.flatParent(at)) {
        const known = this.listed.get(at);
        if (known && known.kind !== 'scroll') return at;
        const control = dom.tag(at) === 'label' ? geometry.control(at) : null;
        if (control && this.listed.has(control)) return control;
      }
      return null;
    }

    /** What stands near a node that cannot be acted on itself. @param {Node} node @returns {Element[]} */
    near(node) {
      let at = dom.isElement(node) ? node : dom.flatParent(node);
      for (let level = 0; at && level < LEVELS; level++, at = dom.flatParent(at)) {
        if (/^(body|html)$/.test(dom.tag(at)) && level > 1) return [];
        const found = this.inside.get(at);
        if (found) return found.length > NEAR ? [] : found;
      }
      return [];
    }
  }

  /** What the host needs to number an element. @param {Element} element */
  const named = (element) => ({ slot: registry.slotOf(element), fingerprint: describe.fingerprint(element) });

  /**
   * One place where the text stands.
   * @typedef {{ element: Element, before: string, match: string, after: string, in: string, box: () => DOMRect }} Match
   */

  /**
   * @param {string} want folded
   * @param {{ text: string, pieces: { at: number, node: Node }[] }} read
   * @returns {Generator<Match, void>}
   */
  function* inText(want, read) {
    const folded = fold(read.text);
    for (let from = folded.text.indexOf(want); from >= 0; from = folded.text.indexOf(want, from + want.length)) {
      const start = /** @type {number} */ (folded.at[from]);
      const last = /** @type {number} */ (folded.at[from + want.length - 1]);
      const end = last + String.fromCodePoint(/** @type {number} */ (read.text.codePointAt(last))).length;
      const first = placeOf(read, start);
      const second = placeOf(read, last);
      const element = holding(first.node, second.node);
      if (!element) continue;
      yield {
        element,
        before: names.cut(read.text.slice(Math.max(0, start - AROUND), start), AROUND),
        match: names.cut(read.text.slice(start, end), 400),
        after: names.cut(read.text.slice(end, end + AROUND), AROUND),
        in: 'text',
        box: () => boxOf(first, second, element),
      };
    }
  }

  /**
   * The node in which a position of the text stands, and where in it. White space was squeezed on the way: what is
   * no white space is counted instead.
   * @param {{ text: string, pieces: { at: number, node: Node }[] }} read
   * @param {number} position
   */
  function placeOf({ text, pieces }, position) {
    let low = 0;
    for (let high = pieces.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if (/** @type {{ at: number }} */ (pieces[middle]).at <= position) low = middle;
      else high = middle - 1;
    }
    const piece = /** @type {{ at: number, node: Node }} */ (pieces[low]);
    let left = text.slice(piece.at, position).replace(/\s+/g, '').length;
    const data = dom.data(piece.node);
    let offset = 0;
    for (; offset < data.length; offset++) {
      if (/\s/.test(data.charAt(offset))) continue;
      if (left === 0) break;
      left -= 1;
    }
    return { node: piece.node, offset: Math.min(offset, Math.max(0, data.length - 1)) };
  }

  /** The innermost element around both nodes. @param {Node} first @param {Node} second @returns {Element | null} */
  function holding(first, second) {
    let at = dom.flatParent(first);
    while (at && first !== second && !dom.holds(at, second)) at = dom.flatParent(at);
    return at;
  }

  /**
   * @param {{ node: Node, offset: number }} first
   * @param {{ node: Node, offset: number }} second
   * @param {Element} element
   */
  function boxOf(first, second, element) {
    if (dom.rootOf(first.node) !== dom.rootOf(second.node)) return dom.rect(element);
    range.setStart(first.node, first.offset);
    range.setEnd(second.node, Math.min(second.offset + 1, dom.data(second.node).length));
    const box = range.getBoundingClientRect();
    return box.width > 0 ? box : dom.rect(element);
  }

  /**
   * What is not text of the page but read all the same: values, names, options, words for pictures.
   * @param {string} want folded
   * @param {Acted} acted
   * @param {Set<Element>} told whose text was found already
   * @returns {Generator<Match, void>}
   */
  function* inFields(want, acted, told) {
    for (const [element, { tag, kind }] of acted.listed) {
      if (kind === 'scroll') continue;
      const type = describe.type(element, tag);
      const name = describe.nameOf(element);
      /** @type {[string, string][]} */
      const parts = [['value', describe.value(element, tag, type, 1_000) ?? '']];
      if (describe.isEditor(element)) parts.pop();
      if ((!name.content || tag === 'input') && !told.has(element)) parts.push(['name', name.name]);
      parts.push(['placeholder', dom.attr(element, 'placeholder') ?? '']);
      if (tag === 'select' && !secret.hidesValue(element))
        for (const { label } of describe.choices(element, 500, 200).all) parts.push(['option', label]);
      for (const [where, text] of parts) {
        const found = inPlain(want, text, element, where);
        if (!found) continue;
        yield found;
        break;
      }
    }
    for (const root of dom.roots()) {
      for (const image of dom.all(root, 'img[alt]')) {
        const found = inPlain(want, dom.attr(image, 'alt') ?? '', image, 'picture');
        if (found && dom.rect(image).width > 1 && !told.has(/** @type {Element} */ (acted.holder(image)))) yield found;
      }
    }
  }

  /**
   * @param {string} want @param {string} text @param {Element} element @param {string} where
   * @returns {Match | null}
   */
  function inPlain(want, text, element, where) {
    if (!text) return null;
    const folded = fold(text);
    const from = folded.text.indexOf(want);
    if (from < 0) return null;
    const start = /** @type {number} */ (folded.at[from]);
    const end = /** @type {number} */ (folded.at[from + want.length]);
    return {
      element,
      before: names.cut(text.slice(Math.max(0, start - AROUND), start), AROUND),
      match: names.cut(text.slice(start, end), 400),
      after: names.cut(text.slice(end, end + AROUND), AROUND),
      in: where,
      box: () => dom.rect(element),
    };
  }

  /**
   * @param {Element} element
   * @param {string} tag
   * @returns {Element | null}
   */
  function upTo(element, tag) {
    for (let at = /** @type {Element | null} */ (element); at; at = dom.flatParent(at)) if (dom.tag(at) === tag) return at;
    return null;
  }

  /**
   * Every place of a text: as it reads over the page, then in fields and names.
   * @param {string} text
   * @param {Acted} acted
   * @returns {Generator<Match, void>}
   */
  function* places(text, acted) {
    const want = wanted(text);
    const root = dom.rootElement(document);
    if (!want || !root) return;
    /** @type {Set<Element>} */
    const told = new Set();
    for (const match of inText(want, reading.traced(root))) {
      const holder = acted.holder(match.element);
      if (holder) told.add(holder);
      yield match;
    }
    yield* inFields(want, acted, told);
  }

  /**
   * @param {{ text: string, tag: string, most: number, paths: boolean }} options `tag`: only inside such an element;
   *   `paths`: with a selector for each
   */
  function find({ text, tag, most, paths }) {
    const acted = new Acted();
    const scrub = secret.scrubber();
    /** @type {object[]} */
    const matches = [];
    let count = 0;
    for (const match of places(text, acted)) {
      const element = tag ? upTo(match.element, tag) : match.element;
      if (!element) continue;
      if (++count > MOST) break;
      if (matches.length >= most) continue;
      const holder = acted.holder(match.element);
      const box = match.box();
      const view = dom.view(dom.documentOf(match.element));
      matches.push({
        before: scrub(match.before),
        match: scrub(match.match),
        after: scrub(match.after),
        in: match.in,
        tag: dom.tag(element),
        on: holder && named(holder),
        near: holder ? [] : acted.near(match.element).map(named),
        at: outerPoint(match.element, box.left + box.width / 2, box.top + box.height / 2),
        off: !view || box.bottom <= 0 || box.top >= view.innerHeight || box.right <= 0 || box.left >= view.innerWidth,
        ...(paths && { path: pathOf(element), words: scrub(names.textOf(element, 200)) }),
      });
    }
    return { matches, count, more: count > MOST };
  }

  /**
   * A selector that finds this element alone in its document or shadow root; empty when that would be a long one.
   * @param {Element} element
   */
  function pathOf(element) {
    const root = dom.rootOf(element);
    let path = '';
    for (let at = /** @type {Node | null} */ (element), level = 0; at && dom.isElement(at) && level < 12; level++) {
      const id = dom.attr(at, 'id');
      const step = id ? `#${CSS.escape(id)}` : CSS.escape(dom.tag(at)) + nth(at);
      path = path ? `${step} > ${path}` : step;
      const found = dom.all(root, path);
      if (found.length === 1 && found[0] === element) return path;
      at = dom.parent(at);
    }
    return '';
  }

  /** @param {Element} element */
  function nth(element) {
    const parent = dom.parent(element);
    if (!parent) return '';
    let at = 0;
    let all = 0;
    for (let child = dom.firstChild(parent); child; child = dom.next(child)) {
      if (!dom.isElement(child) || dom.tag(child) !== dom.tag(element)) continue;
      all += 1;
      if (child === element) at = all;
    }
    return all > 1 ? `:nth-of-type(${at})` : '';
  }

  /**
   * What a selector finds, everywhere.
   * @param {string} selector
   * @param {number} most
   */
  function query(selector, most) {
    /** @type {object[]} */
    const results = [];
    let count = 0;
    let acted = /** @type {Acted | null} */ (null);
    let scrub = (/** @type {string} */ text) => text;
    for (const root of dom.roots()) {
      let found;
      try {
        found = dom.all(root, selector);
      } catch (error) {
        if (error instanceof DOMException && error.name === 'SyntaxError') return { wrong: true };
        throw error;
      }
      count += found.length;
      for (let at = 0; at < found.length && results.length < most; at++) {
        if (!acted) {
          acted = new Acted();
          scrub = secret.scrubber();
        }
        results.push(row(/** @type {Element} */ (found[at]), acted, scrub));
      }
    }
    return { results, count };
  }

  /** @param {Element} element @param {Acted} acted @param {(text: string) => string} scrub */
  function row(element, acted, scrub) {
    const tag = dom.tag(element);
    const type = describe.type(element, tag);
    const isSecret = secret.hidesValue(element);
    const words = isSecret || CONTROLS.test(tag) ? '' : names.textOf(element, 400);
    const listed = acted.listed.has(element);
    const own = CONTROLS.test(tag) && !isSecret ? describe.value(element, tag, type, 400) : null;
    return {
      tag,
      id: dom.attr(element, 'id') || undefined,
      type: type || undefined,
      role: names.role(element) || undefined,
      label: listed ? scrub(describe.nameOf(element).name) : undefined,
      text: scrub(words) || undefined,
      href: scrub(dom.attr(element, 'href') ?? '') || undefined,
      value: own === null ? undefined : scrub(own),
      selected: tag === 'select' && !isSecret ? describe.choices(element, 0, 80).chosen.slice(0, 20) : undefined,
      state: describe.checkedState(element, tag, type) ?? undefined,
      secret: isSecret || undefined,
      hidden: element.checkVisibility({ visibilityProperty: true }) ? undefined : true,
      on: listed ? named(element) : undefined,
    };
  }

  /**
   * Brings the first place of a text into view.
   * @param {string} text
   * @returns {Element | null}
   */
  function first(text) {
    for (const { element } of places(text, new Acted())) return element;
    return null;
  }

  return { find, query, first, named, Acted };
})();

// The slot of the first element that a selector finds.
registry.define('slotOf', (/** @type {string} */ selector) => {
  try {
    const found = reading.find(selector);
    return { slot: found && registry.slotOf(found) };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'SyntaxError') return { wrong: true };
    throw error;
  }
});

// The slot of the element that shows the document of this one; nothing for the world's own document.
registry.defineFor('frameOf', (element) => {
  const frame = dom.frameOf(dom.documentOf(element));
  return frame && registry.slotOf(frame);
});

registry.define('findText', finding.find);
registry.define('queryDom', finding.query);

// What nodes of the accessibility tree are for the page view; texts that the browser made, without secrets.
registry.define('nodeFacts', (/** @type {string[]} */ texts, /** @type {...Node} */ ...nodes) => {
  const { listed } = new finding.Acted();
  const facts = nodes.map((node) => {
    const element = dom.isElement(node) ? node : dom.type(node) === 3 ? dom.flatParent(node) : null;
    if (!element) return {};
    let hides = false;
    for (let at = /** @type {Element | null} */ (element), up = 0; at && up < 6 && !hides; at = dom.flatParent(at), up++)
      hides = secret.hidesValue(at);
    return { on: element === node && listed.has(element) ? finding.named(element) : undefined, secret: hides };
  });
  return { facts, texts: texts.map(secret.scrubber()) };
});
