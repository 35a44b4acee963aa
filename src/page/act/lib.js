// What the acting functions share. Put in front of each of them, inside one function, so nothing here is
// global in the page. Runs in Browy's isolated world: the page can neither see nor replace any of it.

const INTERACTIVE =
  'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=""],[contenteditable=true],' +
  '[role=button],[role=link],[role=checkbox],[role=radio],[role=switch],[role=tab],[role=menuitem],[role=option],' +
  '[role=combobox],[role=textbox]';

// What a node is, by its name and kind: a world reaches documents of several frames, whose classes differ.
/** @param {unknown} node @returns {node is Element} */
const isElement = node => dom.isElement(/** @type {Node | null} */ (node ?? null));
/** @param {unknown} node @returns {node is HTMLElement} */
const isHtml = node => isElement(node) && dom.isHtml(node);
/** @param {unknown} node @returns {node is Text} */
const isText = node => !!node && dom.type(/** @type {Node} */ (node)) === 3;
/** @param {unknown} node @returns {node is ShadowRoot} */
const isShadowRoot = node => !!node && dom.type(/** @type {Node} */ (node)) === 11 && 'host' in /** @type {object} */ (node);
/** @param {unknown} node @returns {node is HTMLInputElement} */
const isInput = node => isHtml(node) && dom.tag(node) === 'input';
/** @param {unknown} node @returns {node is HTMLTextAreaElement} */
const isTextArea = node => isHtml(node) && dom.tag(node) === 'textarea';
/** @param {unknown} node @returns {node is HTMLSelectElement} */
const isSelect = node => isHtml(node) && dom.tag(node) === 'select';
/** @param {unknown} node @returns {node is HTMLLabelElement} */
const isLabel = node => isHtml(node) && dom.tag(node) === 'label';
/** @param {unknown} node @returns {node is HTMLDetailsElement} */
const isDetails = node => isHtml(node) && dom.tag(node) === 'details';
/** @param {unknown} node @returns {node is HTMLOptGroupElement} */
const isOptGroup = node => isHtml(node) && dom.tag(node) === 'optgroup';

/**
 * Shadow hosts around a node with their roots, closed ones too: whoever holds a node can ask it for its root.
 * @param {Node} node
 * @returns {Map<Element, ShadowRoot>}
 */
function rootsOf(node) {
  const roots = new Map();
  let root = dom.rootOf(node);
  while (isShadowRoot(root)) {
    roots.set(root.host, root);
    root = dom.rootOf(root.host);
  }
  return roots;
}

/**
 * The parent as it is drawn: through slots and out of shadow roots.
 * @param {Node} node
 * @param {Map<Element, ShadowRoot>} roots
 * @returns {Node | null}
 */
function drawnParent(node, roots) {
  if (isElement(node)) {
    const slot = dom.slotOf(node);
    if (slot) return slot;
  } else if (isText(node) && node.assignedSlot) return node.assignedSlot;
  const parent = dom.parent(node);
  if (isShadowRoot(parent)) return parent.host;
  const root = isElement(parent) ? roots.get(parent) : undefined;
  if (root) {
    // `assignedSlot` is null for closed roots; their slots know what they show.
    for (const slot of root.querySelectorAll('slot')) {
      if (slot.assignedNodes().includes(/** @type {Element} */ (node))) return slot;
    }
  }
  return parent;
}

/**
 * The innermost element at a point of this frame's viewport.
 * @param {number} x
 * @param {number} y
 * @param {Map<Element, ShadowRoot>} roots
 * @returns {Element | null}
 */
function hitAt(x, y, roots) {
  let hit = Document.prototype.elementFromPoint.call(document, x, y);
  while (hit) {
    const root = roots.get(hit) ?? dom.shadow(hit);
    const inner = root ? root.elementFromPoint(x, y) : null;
    if (!inner || inner === hit || inner.getRootNode() !== root) return hit;
    hit = inner;
  }
  return hit;
}

/**
 * Whether `node` is drawn inside `target` (or is it).
 * @param {Node | null} node
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 */
function isDrawnInside(node, target, roots) {
  for (let at = node; at; at = drawnParent(at, roots)) if (at === target) return true;
  return false;
}

/**
 * Whether a press on `hit` is a press on `target`: inside it, or on the label that passes it on.
 * @param {Element | null} hit
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 */
function isPressOn(hit, target, roots) {
  if (!hit) return false;
  if (isDrawnInside(hit, target, roots)) return true;
  // The field of a combobox may leave the pointer to the whole box.
  const box = dom.style(target).pointerEvents === 'none' ? (target.parentElement?.closest('[role=combobox]') ?? null) : null;
  if (box && isDrawnInside(hit, box, roots)) return !controlBetween(hit, box, target, roots);
  const label = hit.closest('label');
  return !!label && label.control === target && !controlBetween(hit, label, target, roots);
}

/**
 * A control of its own between the pressed element and the target: the press would be its, not the target's.
 * @param {Element} hit
 * @param {Element} outer
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 */
function controlBetween(hit, outer, target, roots) {
  for (let at = /** @type {Node | null} */ (hit); at && at !== outer; at = drawnParent(at, roots)) {
    if (at !== target && isElement(at) && at.matches(INTERACTIVE)) return true;
  }
  return false;
}

/**
 * Text of an element on one line.
 * @param {string | null | undefined} text
 * @param {number} [cap]
 */
function oneLine(text, cap = 60) {
  const line = (text ?? '').slice(0, cap * 20).replace(/\s+/g, ' ').trim();
  return line.length > cap ? line.slice(0, cap - 1) + '…' : line;
}

/**
 * How an element is named to the model: `div#consent-banner (region "Cookie consent")`.
 * @param {Element} el
 */
function inWords(el) {
  let out = el.localName;
  if (el.id) out += '#' + oneLine(el.id, 40);
  else if (el.classList.length) out += '.' + oneLine([...el.classList].slice(0, 2).join('.'), 40);
  const role = el.getAttribute('role');
  const name = oneLine(
    el.getAttribute('aria-label') || el.getAttribute('title') || (isHtml(el) && !isSecret(el) ? el.innerText : ''),
  );
  const more = [role ? oneLine(role, 20) : '', name ? JSON.stringify(name) : ''].filter(Boolean).join(' ');
  return more ? `${out} (${more})` : out;
}

/**
 * What covers the target: the outermost box around `hit` that does not also hold the target.
 * @param {Element} hit
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 */
function describeCover(hit, target, roots) {
  let cover = hit;
  for (let at = drawnParent(hit, roots); isElement(at); at = drawnParent(at, roots)) {
    if (at === document.body || at === document.documentElement || isDrawnInside(target, at, roots)) break;
    cover = at;
  }
  if (isDrawnInside(target, cover, roots)) {
    return getComputedStyle(target).pointerEvents === 'none'
      ? `${inWords(cover)}, because the element itself ignores the pointer`
      : inWords(cover);
  }
  return inWords(cover);
}

/**
 * Whether anything of the element is drawn. `opacity: 0` counts as drawn: it can be pressed.
 * @param {Element} el
 * @returns {boolean}
 */
function isDrawn(el) {
  const style = getComputedStyle(el);
  if (style.display === 'contents') {
    return [...el.children].some(isDrawn) || boxesOf(el).length > 0;
  }
  return style.visibility === 'visible' && el.checkVisibility() && boxesOf(el).length > 0;
}

/**
 * The element's boxes in this frame's viewport: one per line for wrapped links, those of the content for
 * elements without a box of their own.
 * @param {Element} el
 * @returns {DOMRect[]}
 */
function boxesOf(el) {
  const visible = (/** @type {DOMRect} */ box) => box.width >= 1 && box.height >= 1;
  const own = [...el.getClientRects()].filter(visible);
  if (own.length || isInput(el)) return own;
  const range = document.createRange();
  range.selectNodeContents(el);
  return [...range.getClientRects()].filter(visible);
}

/**
 * Why an element does not take part: `disabled`, `inert`, or null.
 * @param {Element} el
 * @returns {'disabled' | 'inert' | null}
 */
function standstill(el) {
  if (el.matches(':disabled') || el.getAttribute('aria-disabled') === 'true') return 'disabled';
  const roots = rootsOf(el);
  for (let at = /** @type {Node | null} */ (el); at; at = drawnParent(at, roots)) {
    if (isElement(at) && dom.has(at, 'inert')) return 'inert';
  }
  return null;
}

/**
 * What a press must go to instead of a control that has no box: its label, or the drawn wrapper that holds
 * this control alone.
 * @param {Element} el
 * @returns {Element | null}
 */
function standIn(el) {
  const labels = /** @type {{labels?: NodeListOf<HTMLLabelElement> | null}} */ (/** @type {unknown} */ (el)).labels;
  for (const label of labels ?? []) if (isDrawn(label)) return label;
  if (dom.editContext(el) && el.parentElement && isDrawn(el.parentElement)) return el.parentElement;
  if (!isInput(el) || !['checkbox', 'radio'].includes(el.type)) return null;
  let at = el.parentElement;
  for (let level = 0; at && at !== document.body && level < 3; level++, at = at.parentElement) {
    if (at.querySelectorAll('input,select,textarea,button,a[href]').length > 1) return null;
    if (isDrawn(at)) return at;
  }
  return null;
}

/**
 * Fields whose content is between the person and the page: never read, never written.
 * @param {Element} el
 */
function isSecret(el) {
  return secret.hidesValue(el);
}

/**
 * The element that has the focus in this frame, looked up through shadow roots.
 * @param {Map<Element, ShadowRoot>} roots
 * @returns {Element | null}
 */
function focusedElement(roots) {
  let at = document.activeElement;
  while (at) {
    const root = roots.get(at) ?? dom.shadow(at);
    if (!root?.activeElement) return at;
    at = root.activeElement;
  }
  return at;
}
