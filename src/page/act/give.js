/**
 * What a file for this element goes to: the file field that it is, that it labels or that is inside it; else
 * nothing but the element itself, to be pressed or dropped on.
 * @this {Element}
 * @returns {object}
 */
function give() {
  const field = fileFieldOf(this);
  const where = isHtml(this) ? this.closest('a[href],area[href]') : null;
  return {
    slot: field ? registry.slotOf(field) : null,
    leaves: !field && where !== null && leavesPage(/** @type {HTMLAnchorElement} */ (where)),
    standstill: standstill(field ?? this),
  };
}

/** @param {Element | null | undefined} el @returns {el is HTMLInputElement} */
const isFileField = el => !!el && isInput(el) && el.type === 'file';

/**
 * @param {Element} el
 * @returns {HTMLInputElement | null}
 */
function fileFieldOf(el) {
  if (isFileField(el)) return el;
  if (isElement(el) && /^(html|body)$/.test(dom.tag(el))) return null;
  const label = isLabel(el) ? el : /** @type {HTMLLabelElement | null} */ (el.closest('label'));
  if (label && isFileField(label.control) && (label === el || !el.matches(INTERACTIVE))) return label.control;
  const inside = [el, ...rootsInside(el)].flatMap(root => [...root.querySelectorAll('input[type=file]')]);
  const [only] = inside;
  return inside.length === 1 && isFileField(only) ? only : null;
}

/**
 * The shadow root of an element and of those inside it, closed ones that the host found too.
 * @param {Element} el
 * @returns {ShadowRoot[]}
 */
function rootsInside(el) {
  const roots = [];
  const open = [dom.shadow(el)];
  for (const inner of el.querySelectorAll('*')) open.push(dom.shadow(inner));
  for (const root of open) if (root) roots.push(root);
  return roots;
}

/**
 * Whether following the link shows another document.
 * @param {HTMLAnchorElement} link
 */
function leavesPage(link) {
  const href = link.getAttribute('href') ?? '';
  if (/^\s*(#|javascript:|$)/i.test(href) || link.hasAttribute('download')) return false;
  return link.href.split('#')[0] !== location.href.split('#')[0];
}
