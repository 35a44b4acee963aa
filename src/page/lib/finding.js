// Where a text stands in the page, what a selector finds, and what of it can be acted on.

const finding = (() => {
  /** Characters around a match that the host may show. */
  const AROUND = 240;
  /** Matches that are counted at all. */
  const MOST = 500;
  /** Elements near a match that are told, and how far up they are looked for. */
  const NEAR = 5;
  const LEVELS = 6;
  const CONTROLS = /^(input|select|textarea)$/;
  const IGNORED = /[\u00ad\u200b-\u200d\u2060\ufeff]/;
  const SILENT =
    /^(script|style|noscript|template|head|title|datalist|select|textarea|canvas|video|audio|object|svg|math|meta|link)$/;
  /** Elements that begin a line of their own, unless a style says otherwise. */
  const BLOCKS =
    /^(address|article|aside|blockquote|body|br|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|html|iframe|legend|li|main|nav|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)$/;
  /** Where an element begins or ends inside a line: a space, or nothing. */
  const SEAM = '\0';
  /** Nodes that are read. */
  const NODES = 400_000;
  const range = new Range();

  /**
   * All text of the page in the order of the page, shown or not: asking every element for its style takes too long.
   * Every character stands where it stands in its node.
   * @returns {{ text: string, pieces: { at: number, node: Node }[], cut: boolean }}
   */
  function readAll() {
    /** @type {string[]} */
    const parts = [];
    /** @type {{ at: number, node: Node }[]} */
    const pieces = [];
    let length = 0;
    let last = '\n';
    /** @param {string} mark */
    const seam = (mark) => {
      if (last === '\n' || last === mark) return;
      parts.push(mark);
      length += 1;
      last = mark;
    };
    /** @type {(Node | string)[]} */
    const stack = [];
    const root = dom.rootElement(document);
    if (root) stack.push(root);
    let nodes = 0;
    for (let node = stack.pop(); node !== undefined && nodes < NODES; node = stack.pop()) {
      if (typeof node === 'string') {
        seam(node);
        continue;
      }
      nodes += 1;
      if (dom.type(node) === 3) {
        const data = dom.data(node).replace(/\s|\0/g, ' ');
        if (!data) continue;
        pieces.push({ at: length, node });
        parts.push(data);
        length += data.length;
        last = data.charAt(data.length - 1);
        continue;
      }
      if (!dom.isElement(node)) continue;
      const tag = dom.tag(node);
      if (SILENT.test(tag) || (dom.has(node, 'contenteditable') && secret.hidesValue(node))) continue;
      const mark = BLOCKS.test(tag) ? '\n' : SEAM;
      seam(mark);
      stack.push(mark);
      const inner = dom.shown(node);
      const innerRoot = inner && dom.rootElement(inner);
      if (innerRoot) stack.push(innerRoot);
      if (inner || tag === 'iframe' || tag === 'frame') continue;
      const at = stack.length;
      if (flat.folded(node) === undefined) flat.children(node, (child) => void stack.push(child));
      else for (let child = dom.firstChild(node); child; child = dom.next(child)) stack.push(child);
      // The stack gives back the last first.
      if (stack.length - at > 1) stack.push(...stack.splice(at).reverse());
    }
    return { text: parts.join(''), pieces, cut: nodes >= NODES };
  }

  /**
   * Whether a text can be seen: `secret` when it is drawn as dots.
   * @param {Node} node
   * @returns {'seen' | 'unseen' | 'secret'}
   */
  function sight(node) {
    const parent = dom.parent(node);
    let element = parent && dom.isElement(parent) ? parent : dom.flatParent(node);
    while (element && dom.style(element).display === 'contents') element = dom.flatParent(element);
    if (!element) return 'unseen';
    const style = dom.style(element);
    if (secret.masks(style)) return 'secret';
    if (flat.folded(element) !== undefined) return 'unseen';
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return 'unseen';
    return parseFloat(style.fontSize) >= 1 && reading.isSeen(element) ? 'seen' : 'unseen';
  }

  /**
   * A text in which spelling does not count: no capitals, one space for any white space, accents apart from their
   * letters; `at` leads from every character back to the text.
   * @param {string} text
   * @param {boolean} [spaced] seams are spaces
   */
  function fold(text, spaced = false) {
    /** @type {string[]} */
    const parts = [];
    /** @type {number[]} */
    const at = [];
    let space = true;
    for (let from = 0; from < text.length; ) {
      const char = String.fromCodePoint(/** @type {number} */ (text.codePointAt(from)));
      if (char === SEAM && !spaced) {
        // Nothing.
      } else if (char === SEAM || /\s/.test(char)) {
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
   * Where the text stands in what was read: beginnings with ends.
   * @param {string} want folded
   * @param {string} text
   * @returns {[number, number][]}
   */
  function spans(want, text) {
    /** @type {Map<number, number>} */
    const found = new Map();
    for (const spaced of [false, true]) {
      const folded = fold(text, spaced);
      let from = folded.text.indexOf(want);
      for (; from >= 0 && found.size < MOST * 2; from = folded.text.indexOf(want, from + want.length)) {
        const last = /** @type {number} */ (folded.at[from + want.length - 1]);
        const end = last + String.fromCodePoint(/** @type {number} */ (text.codePointAt(last))).length;
        found.set(/** @type {number} */ (folded.at[from]), end);
      }
    }
    return [...found].sort((one, other) => one[0] - other[0]);
  }

  /**
   * @param {string} want folded
   * @param {{ text: string, pieces: { at: number, node: Node }[] }} read
   * @param {{ unseen: number }} count of the places that cannot be seen
   * @returns {Generator<Match, void>}
   */
  function* inText(want, read, count) {
    const plain = (/** @type {number} */ from, /** @type {number} */ to) =>
      names.cut(read.text.slice(Math.max(0, from), to).replaceAll(SEAM, ''), AROUND);
    for (const [start, end] of spans(want, read.text)) {
      const first = placeOf(read, start);
      const second = placeOf(read, end - 1);
      const seen = first.node === second.node ? sight(first.node) : worse(sight(first.node), sight(second.node));
      const element = holding(first.node, second.node);
      if (seen !== 'seen' || !element) {
        if (seen === 'unseen') count.unseen += 1;
        continue;
      }
      yield {
        element,
        before: plain(start - AROUND, start),
        match: plain(start, end),
        after: plain(end, end + AROUND),
        in: 'text',
        box: () => boxOf(first, second, element),
      };
    }
  }

  /** @param {'seen' | 'unseen' | 'secret'} one @param {'seen' | 'unseen' | 'secret'} other */
  const worse = (one, other) => (one === 'secret' || other === 'secret' ? 'secret' : one === 'seen' ? other : one);

  /**
   * The node in which a position of the text stands, and where in it.
   * @param {{ pieces: { at: number, node: Node }[] }} read
   * @param {number} position
   */
  function placeOf({ pieces }, position) {
    let low = 0;
    for (let high = pieces.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if (/** @type {{ at: number }} */ (pieces[middle]).at <= position) low = middle;
      else high = middle - 1;
    }
    const piece = /** @type {{ at: number, node: Node }} */ (pieces[low]);
    return { node: piece.node, offset: Math.min(position - piece.at, Math.max(0, dom.data(piece.node).length - 1)) };
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
   * @param {Set<Element | null>} told whose text was found already
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
        if (found && dom.rect(image).width > 1 && !told.has(acted.holder(image) ?? image)) yield found;
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
   * @param {{ text: string, tag: string, most: number, paths: boolean }} options `tag`: only inside such an element;
   *   `paths`: with a selector for each
   */
  function find({ text, tag, most, paths }) {
    const want = wanted(text);
    const read = readAll();
    const count = { seen: 0, unseen: 0 };
    const acted = new Acted();
    const scrub = secret.scrubber();
    /** @type {Set<Element | null>} */
    const told = new Set();
    /** @type {object[]} */
    const matches = [];
    const take = (/** @type {Match} */ match) => {
      const element = tag ? upTo(match.element, tag) : match.element;
      if (!element) return;
      const holder = acted.holder(match.element);
      told.add(holder);
      count.seen += 1;
      if (matches.length < most) matches.push(placeTold(match, element, holder, acted, scrub, paths));
    };
    for (const match of inText(want, read, count)) {
      if (count.seen >= MOST) break;
      take(match);
    }
    for (const match of inFields(want, acted, new Set(told))) {
      if (count.seen >= MOST) break;
      take(match);
    }
    return { matches, count: count.seen, unseen: count.unseen, more: count.seen >= MOST || read.cut };
  }

  /**
   * @param {Match} match @param {Element} element @param {Element | null} holder @param {Acted} acted
   * @param {(text: string) => string} scrub @param {boolean} paths
   */
  function placeTold(match, element, holder, acted, scrub, paths) {
    const box = match.box();
    const view = dom.view(dom.documentOf(match.element));
    return {
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
    };
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

  return { find, query, named, Acted };
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

// What a selector means for somebody who acts on one element: of several the only file field, or the only one shown.
registry.define('findOne', (/** @type {string} */ selector, /** @type {boolean} */ files) => {
  /** @type {Element[]} */
  const found = [];
  try {
    for (const root of dom.roots()) found.push(...dom.all(root, selector));
  } catch {
    return { wrong: true, total: 0, found: [] };
  }
  const better = found.filter((element) =>
    files ? dom.matches(element, 'input[type=file]') : element.checkVisibility({ visibilityProperty: true }),
  );
  const meant = better.length === 1 ? better : found;
  return { wrong: false, total: meant.length, found: meant.slice(0, 3).map(finding.named) };
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
  const listed = snapshot.listed();
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
