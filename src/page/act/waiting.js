/** Everything but what has no text of its own: also texts in drawings and lists of choices can be waited for. */
const WORDLESS = /^(script|style|noscript|template|head|title|datalist|textarea|canvas|video|audio|object)$/;

/**
 * Whether something is in this document right now.
 * @param {{selector?: string, text?: string, attached?: boolean}} args `attached`: even if not drawn
 * @returns {{wrong?: boolean, present?: boolean, late?: boolean}} `wrong`: not a selector; `late`: not looked to the end
 */
function waiting(args) {
  const isOver = reading.deadline();
  if (args.selector !== undefined) {
    let found;
    try {
      found = everywhere(args.selector);
    } catch {
      return { wrong: true };
    }
    if (args.attached) return { present: found.length > 0 };
    for (const el of found) {
      if (isDrawn(el) && (FIELD.test(dom.tag(el)) || reading.isSeen(el))) return { present: true };
      if (isOver()) return { present: false, late: true };
    }
    return { present: false };
  }
  const root = dom.rootElement(document);
  if (args.text === undefined || !root) return { present: false };
  const want = args.text.replace(/\s+/g, ' ').trim().toLowerCase();
  const read = reading.visible(root, WORDLESS);
  const present = read.text.replace(/\s+/g, ' ').toLowerCase().includes(want);
  return { present, late: !present && read.cut };
}

/** Transparent fields lie over what a person sees of them. */
const FIELD = /^(input|select|textarea)$/;

/**
 * Matches of a selector, also inside open shadow roots.
 * @param {string} selector
 * @returns {Element[]}
 */
function everywhere(selector) {
  const found = /** @type {Element[]} */ ([]);
  const queue = /** @type {(Document | ShadowRoot)[]} */ ([document]);
  for (let root = queue.pop(); root; root = queue.pop()) {
    found.push(...root.querySelectorAll(selector));
    for (const el of root.querySelectorAll('*')) if (el.shadowRoot) queue.push(el.shadowRoot);
  }
  return found;
}
