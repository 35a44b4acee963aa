// Accessible names, as the accname specification computes them, within bounds.

const names = (() => {
  const FROM_CONTENT =
    /^(button|cell|checkbox|columnheader|gridcell|heading|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|row|rowheader|switch|tab|tooltip|treeitem)$/;
  const CONTENT_TAGS = /^(a|button|summary|option|h[1-6]|label|legend|th|td)$/;
  const FIELD_TAGS = /^(input|select|textarea|meter|progress|output)$/;
  const SILENT =
    /^(script|style|noscript|template|head|title|datalist|select|textarea|svg|canvas|video|audio|object|iframe|frame)$/;
  /** Nodes that one text may look at. */
  const NODES = 400;

  const labelsOf = [
    'HTMLInputElement',
    'HTMLSelectElement',
    'HTMLTextAreaElement',
    'HTMLButtonElement',
    'HTMLMeterElement',
    'HTMLProgressElement',
    'HTMLOutputElement',
  ]
    .map((type) => /** @type {any} */ (globalThis)[type].prototype)
    .map((prototype) => Object.getOwnPropertyDescriptor(prototype, 'labels')?.get);

  /** @param {string} text */
  const squeeze = (text) => text.replace(/\s+/g, ' ').trim();

  const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  /** Of what counts as one character, in UTF-16 units; accents without end are cut. */
  const LONGEST = 64;

  /** Cut between characters, never inside one. @param {string} text @param {number} cap */
  function cut(text, cap) {
    if (text.length <= cap) return text.toWellFormed();
    // What is cut off a joined emoji or a syllable makes another one of it.
    const whole = graphemes.segment(text.slice(0, cap + LONGEST)).containing(cap)?.index ?? cap;
    return text.slice(0, whole > cap - LONGEST ? whole : cap).toWellFormed();
  }

  /** @param {Element} element @returns {Element[]} */
  function labels(element) {
    for (const get of labelsOf) {
      if (!get) continue;
      try {
        const list = get.call(element);
        return list ? [...list] : [];
      } catch {
        // Another kind of element: the next getter may fit.
      }
    }
    return [];
  }

  /**
   * What a reader sees inside an element: text, and the words that stand for pictures.
   * @param {Element} element
   * @param {number} cap characters
   * @param {(inner: Element) => boolean} [skip]
   * @param {boolean} [hidden] read an element that is not shown itself, as aria-labelledby does
   */
  function textOf(element, cap, skip, hidden = false) {
    /** @type {(Node | string)[]} */
    const stack = [];
    let text = '';
    let looked = 0;
    /** @param {Element} parent */
    const push = (parent) => {
      const at = stack.length;
      flat.children(parent, (child) => void stack.push(child));
      // The stack gives back the last first.
      for (let low = at, high = stack.length - 1; low < high; low++, high--) {
        const other = /** @type {Node} */ (stack[low]);
        stack[low] = /** @type {Node} */ (stack[high]);
        stack[high] = other;
      }
    };
    if (!secret.masks(dom.style(element))) push(element);
    while (stack.length > 0 && text.length < cap * 2 && looked < NODES) {
      const node = stack.pop();
      if (typeof node === 'string') {
        text += node;
        continue;
      }
      if (!node) continue;
      looked += 1;
      if (dom.type(node) === 3) {
        text += dom.data(node).slice(0, cap * 2);
        continue;
      }
      if (!dom.isElement(node)) continue;
      if (skip?.(node)) {
        text += ' ';
        continue;
      }
      const tag = dom.tag(node);
      if (tag === 'br') text += ' ';
      if (dom.attr(node, 'aria-hidden') === 'true') continue;
      const style = dom.style(node);
      if (style.display === 'none' || (!hidden && style.visibility !== 'visible') || secret.masks(style)) continue;
      const block = !style.display.startsWith('inline') && style.display !== 'contents';
      const label = tag === 'label' ? null : dom.attr(node, 'aria-label');
      const inner = label?.trim() ? label : picture(node, tag);
      if (inner !== null) text += ` ${inner} `;
      else if (!SILENT.test(tag)) {
        if (block) {
          text += ' ';
          stack.push(' ');
        }
        push(node);
      }
    }
    return cut(squeeze(text), cap);
  }

  /** @param {Element} element @param {string} tag @returns {string | null} */
  function picture(element, tag) {
    if (tag === 'img' || tag === 'area') return dom.attr(element, 'alt') ?? '';
    if (tag === 'input') {
      const type = (dom.attr(element, 'type') ?? '').toLowerCase();
      if (type === 'image') return dom.attr(element, 'alt') ?? '';
      if (type === 'button' || type === 'submit' || type === 'reset') return dom.attr(element, 'value') ?? '';
      return '';
    }
    if (tag === 'svg') {
      const own = dom.find(element, 'title');
      return own ? (own.textContent ?? '') : '';
    }
    return null;
  }

  /** @param {Element} element @param {string} attribute @param {number} cap */
  function referenced(element, attribute, cap) {
    const ids = dom.attr(element, attribute);
    if (!ids) return '';
    const parts = ids
      .trim()
      .split(/\s+/)
      .slice(0, 8)
      .map((id) => dom.byId(element, id))
      .filter((target) => target !== null)
      .map((target) => {
        const own = dom.attr(target, 'aria-label')?.trim();
        return own || textOf(target, cap, undefined, true);
      });
    return cut(squeeze(parts.join(' ')), cap);
  }

  /** The explicit role: its first word. @param {Element} element */
  function role(element) {
    const value = dom.attr(element, 'role');
    return value === null ? '' : (value.trim().toLowerCase().split(/\s+/, 1)[0] ?? '');
  }

  /**
   * The accessible name, and whether it is the element's own text.
   * @param {Element} element
   * @param {number} cap
   * @param {(inner: Element) => boolean} [skip]
   * @returns {{ name: string, content: boolean }}
   */
  function of(element, cap, skip) {
    const tag = dom.tag(element);
    const given =
      referenced(element, 'aria-labelledby', cap) || cut(squeeze(dom.attr(element, 'aria-label') ?? ''), cap);
    if (given) return { name: given, content: false };
    const type = tag === 'input' ? (dom.attr(element, 'type') ?? '').toLowerCase() : '';
    if (type === 'button' || type === 'submit' || type === 'reset') {
      const value = squeeze(dom.attr(element, 'value') ?? '');
      return {
        name: value || (type === 'submit' ? 'Submit' : type === 'reset' ? 'Reset' : title(element)),
        content: true,
      };
    }
    if (FIELD_TAGS.test(tag)) return { name: field(element, type, cap), content: false };
    if (tag === 'img' || tag === 'area')
      return { name: cut(squeeze(dom.attr(element, 'alt') ?? ''), cap) || title(element), content: false };
    if (tag === 'fieldset' || tag === 'table' || tag === 'details') {
      const part = dom.find(element, tag === 'fieldset' ? 'legend' : tag === 'table' ? 'caption' : 'summary');
      return { name: part ? textOf(part, cap) : title(element), content: false };
    }
    const explicit = role(element);
    if (explicit ? FROM_CONTENT.test(explicit) : CONTENT_TAGS.test(tag)) {
      const name = textOf(element, cap, skip);
      if (name) return { name, content: true };
      return { name: labelOf(element, cap) || title(element) || icon(element) || drawn(element), content: false };
    }
    const labelled = labelOf(element, cap);
    if (labelled) return { name: labelled, content: false };
    return {
      name: title(element) || (explicit === 'combobox' || explicit === 'textbox' ? nearby(element, 80) : ''),
      content: false,
    };
  }

  /** What its labels say. @param {Element} element @param {number} cap */
  function labelOf(element, cap) {
    const own = labels(element)
      .map((label) => textOf(label, cap, (inner) => inner === element))
      .filter(Boolean);
    return cut(own.join(' '), cap);
  }

  /** Words that only the style puts there. @param {Element} element */
  function drawn(element) {
    for (const part of [element, dom.firstElement(element)]) {
      for (const which of part ? ['::before', '::after'] : []) {
        const text = /^"(.*)"$/.exec(getComputedStyle(/** @type {Element} */ (part), which).content)?.[1] ?? '';
        // Fonts of icons have no letters.
        if (/\p{L}{2}/u.test(text)) return cut(squeeze(text), 80);
      }
    }
    return '';
  }

  /** @param {Element} element @param {string} type @param {number} cap */
  function field(element, type, cap) {
    const own = labelOf(element, cap);
    if (own) return own;
    if (type === 'image') return squeeze(dom.attr(element, 'alt') ?? '') || title(element) || 'Submit';
    return title(element) || squeeze(dom.attr(element, 'placeholder') ?? '') || nearby(element, 80);
  }

  /** @param {Element} element */
  function title(element) {
    return cut(squeeze(dom.attr(element, 'title') ?? ''), 200);
  }

  /** What an unnamed button's picture is called. @param {Element} element */
  function icon(element) {
    const use = dom.find(element, 'svg use, img, i[class], svg[class], [data-icon]');
    if (!use) return '';
    const hint =
      dom.attr(use, 'data-icon') ??
      dom.attr(use, 'href')?.split(/[#/]/).pop() ??
      dom
        .attr(use, 'src')
        ?.split(/[?#]/)[0]
        ?.split('/')
        .pop()
        ?.replace(/\.\w+$/, '') ??
      /(?:^|[\s_-])(?:icon|fa|bi|mdi)-([a-z][a-z-]*)/.exec(dom.attr(use, 'class') ?? '')?.[1];
    return hint && /^[\w-]{2,30}$/.test(hint) ? `${hint} icon` : '';
  }

  /**
   * The text that stands before a field without a label: beside it, or before its wrappers.
   * @param {Element} element @param {number} cap
   */
  function nearby(element, cap) {
    /** @type {Element} */
    let at = element;
    for (let level = 0; level < 3; level++) {
      const up = dom.parent(at);
      if (!up || !dom.isElement(up) || /^(form|body|fieldset|main|table|tbody)$/.test(dom.tag(up))) {
        if (level > 0 || !up) return '';
      }
      let text = '';
      for (let node = before(at); node; node = before(node)) {
        if (dom.isElement(node)) {
          if (
            dom.matches(node, 'input, select, textarea, button, form, fieldset') ||
            dom.find(node, 'input, select, textarea, button')
          )
            break;
          const own = textOf(node, cap + 1);
          if (own.length > cap) break;
          text = `${own} ${text}`.trim();
          if (text && dom.style(node).display !== 'inline') break;
        } else if (dom.type(node) === 3) {
          text = squeeze(`${dom.data(node).slice(-cap)} ${text}`);
        }
        if (text.length > cap) break;
      }
      if (text) return text.length <= cap ? cut(text, cap) : '';
      if (!up || !dom.isElement(up)) return '';
      at = up;
    }
    return '';
  }

  const previous = Object.getOwnPropertyDescriptor(Node.prototype, 'previousSibling')?.get;
  /** @param {Node} node @returns {Node | null} */
  const before = (node) => previous?.call(node) ?? null;

  return { of, textOf, role, referenced, labels, squeeze, cut, nearby };
})();
