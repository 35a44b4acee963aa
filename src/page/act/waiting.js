/**
 * Whether something is in this document right now.
 * @param {{selector?: string, text?: string, attached?: boolean}} args `attached`: even if not drawn
 * @returns {{wrong?: boolean, present?: boolean}} `wrong`: not a selector
 */
function waiting(args) {
  if (args.selector !== undefined) {
    let found;
    try {
      found = everywhere(args.selector);
    } catch {
      return { wrong: true };
    }
    return { present: args.attached ? found.length > 0 : found.some(isDrawn) };
  }
  if (args.text === undefined) return { present: false };
  const want = args.text.replace(/\s+/g, ' ').trim().toLowerCase();
  const shown = (document.body?.innerText ?? '').replace(/\s+/g, ' ').toLowerCase().includes(want);
  return { present: shown || inRoots(document, want) };
}

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

/**
 * @param {Document | ShadowRoot} root
 * @param {string} want
 * @returns {boolean}
 */
function inRoots(root, want) {
  for (const el of root.querySelectorAll('*')) {
    if (!el.shadowRoot) continue;
    for (const child of el.shadowRoot.children) {
      if (isHtml(child) && isDrawn(child) && child.innerText.replace(/\s+/g, ' ').toLowerCase().includes(want)) return true;
    }
    if (inRoots(el.shadowRoot, want)) return true;
  }
  return false;
}
