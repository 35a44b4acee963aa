/**
 * Finds a point of this element that a press would really reach, scrolling only if it must.
 * Called again right before the press with `scroll: false`, which only looks.
 * @this {Element}
 * @param {{offset?: {x: number, y: number}, scroll?: boolean, option?: string}} args
 *   `offset`: CSS px from the element's top left; `option`: aim at that option of this custom list instead.
 */
function aim(args) {
  const asked = args.option === undefined ? this : optionOf(this, args.option);
  if (!asked || !asked.isConnected) return { class: 'gone', error: 'The element is not in the page any more.' };
  const idle = standstill(asked);
  if (idle) {
    return {
      class: 'disabled',
      error: idle === 'inert'
        ? 'The element is in a part of the page that is switched off (inert). Look for what has to be done first.'
        : 'The element is disabled. Fill in or do what the page still asks for, then look again.',
    };
  }
  let target = asked;
  if (!isDrawn(asked)) {
    const proxy = standIn(asked);
    if (!proxy) return { class: 'hidden', error: 'The element is in the page but not drawn. Open what contains it, then look again.' };
    target = proxy;
  } else if (getComputedStyle(asked).pointerEvents === 'none') {
    // The field of a combobox that leaves the pointer to the whole box.
    target = asked.parentElement?.closest('[role=combobox]') ?? asked;
  }
  const roots = rootsOf(target);
  const found = (/** @type {{x: number, y: number}} */ at, /** @type {boolean} */ scrolled) => ({
    x: at.x,
    y: at.y,
    scrolled,
    tag: asked.localName,
    via: target === asked ? null : 'label',
  });
  let look = freePoint(target, asked, roots, args.offset);
  if (look.at) return found(look.at, false);
  if (args.scroll === false) return refusal(look, target, roots);
  const before = scrollPositions(target, roots);
  let first = null;
  for (const block of /** @type {const} */ (['center', 'end', 'start'])) {
    target.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
    look = freePoint(target, asked, roots, args.offset);
    if (look.at) return found(look.at, true);
    first ??= look;
  }
  for (const [box, top, left] of before) box.scrollTo({ top, left, behavior: 'instant' });
  return refusal(first ?? look, target, roots);
}

/**
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 * @returns {[Element, number, number][]}
 */
function scrollPositions(target, roots) {
  const all = /** @type {[Element, number, number][]} */ ([]);
  for (let at = /** @type {Node | null} */ (target); at; at = drawnParent(at, roots)) {
    if (isElement(at) && (at.scrollTop || at.scrollLeft || at.scrollHeight > at.clientHeight)) {
      all.push([at, at.scrollTop, at.scrollLeft]);
    }
  }
  return all;
}

/**
 * @param {Element} target what is pressed
 * @param {Element} asked what was asked for (differs when a label stands in)
 * @param {Map<Element, ShadowRoot>} roots
 * @param {{x: number, y: number} | undefined} offset
 * @returns {{at?: {x: number, y: number}, cover?: Element, outside?: boolean}}
 */
function freePoint(target, asked, roots, offset) {
  const width = document.documentElement.clientWidth || view.innerWidth;
  const height = Math.min(view.innerHeight, document.documentElement.clientHeight || view.innerHeight) || view.innerHeight;
  const points = offset ? [offsetPoint(target, offset)] : spread(target, width, height);
  let cover = /** @type {Element | undefined} */ (undefined);
  let loose = /** @type {{x: number, y: number} | undefined} */ (undefined);
  for (const at of points) {
    if (at.x < 0 || at.y < 0 || at.x >= width || at.y >= height) continue;
    const hit = hitAt(at.x, at.y, roots);
    if (!hit) continue;
    if (!isPressOn(hit, target, roots)) {
      cover ??= hit;
      continue;
    }
    if (offset || !isDrawnInside(hit, target, roots) || !controlBetween(hit, target, asked, roots)) return { at };
    // A card filled by its own button is better pressed there than not at all; a label's link is not.
    if (target === asked) loose ??= at;
  }
  if (loose) return { at: loose };
  return cover ? { cover } : { outside: true };
}

/**
 * @param {Element} target
 * @param {{x: number, y: number}} offset
 */
function offsetPoint(target, offset) {
  const box = target.getBoundingClientRect();
  return { x: box.left + offset.x, y: box.top + offset.y };
}

/**
 * Points to try, best first: centres of the largest visible boxes, then a grid inside them.
 * @param {Element} target
 * @param {number} width
 * @param {number} height
 */
function spread(target, width, height) {
  const parts = [];
  for (const box of boxesOf(target)) {
    const left = Math.max(0, box.left), right = Math.min(width, box.right);
    const top = Math.max(0, box.top), bottom = Math.min(height, box.bottom);
    if (right - left >= 1 && bottom - top >= 1) parts.push({ left, top, w: right - left, h: bottom - top });
  }
  parts.sort((a, b) => b.w * b.h - a.w * a.h);
  const grid = /** @type {[number, number][]} */ ([[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.5], [0.9, 0.5],
    [0.1, 0.15], [0.9, 0.15], [0.1, 0.85], [0.9, 0.85], [0.5, 0.08], [0.5, 0.92], [0.03, 0.5], [0.97, 0.5]]);
  const points = [];
  for (const part of parts.slice(0, 6)) points.push({ x: part.left + part.w / 2, y: part.top + part.h / 2 });
  for (const part of parts.slice(0, 6)) {
    for (const [fx, fy] of grid.slice(1)) points.push({ x: part.left + part.w * fx, y: part.top + part.h * fy });
  }
  return points;
}

/**
 * @param {{cover?: Element, outside?: boolean}} look
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 */
function refusal(look, target, roots) {
  if (!look.cover && !view.innerWidth) {
    return { class: 'hidden', error: 'The tab lies behind another one and has no size yet. Bring it to the front with switch_tab.' };
  }
  if (!look.cover) {
    return { class: 'hidden', error: 'The element cannot be brought into view: nothing of it lies inside the window.' };
  }
  const by = describeCover(look.cover, target, roots);
  return {
    class: 'covered',
    by,
    error: `A press would land on ${by}. Close or finish what lies on top, or scroll, then try again.`,
  };
}
