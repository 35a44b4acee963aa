/**
 * Where an element stands before it is dragged, and what became of it.
 * @this {Element}
 * @param {{op: 'before' | 'after'}} args
 */
function dragging(args) {
  if (args.op === 'before') {
    drags.get(this)?.end();
    drags.set(this, beginDrag(this));
    const carried = this.closest('[draggable=true],a[href],img');
    return { carried: carried !== null && carried.getAttribute('draggable') !== 'false' };
  }
  const begun = drags.get(this);
  if (!begun) return {};
  begun.end();
  drags.delete(this);
  const box = dom.rect(this);
  const moved = [Math.round(box.left - begun.box.left), Math.round(box.top - begun.box.top)];
  return {
    moved: this.isConnected && (moved[0] || moved[1]) ? moved : null,
    place: placeNow(this, begun.places),
    effect: begun.seen.effect,
    dropped: begun.seen.dropped,
  };
}

/** @type {WeakMap<Element, ReturnType<typeof beginDrag>>} */
const drags = new WeakMap();

/** @param {Element} el */
function beginDrag(el) {
  const seen = { effect: /** @type {string | null} */ (null), dropped: false };
  const ended = (/** @type {Event} */ event) => {
    seen.effect = /** @type {DragEvent} */ (event).dataTransfer?.dropEffect ?? null;
  };
  const dropped = (/** @type {Event} */ event) => {
    // Once the page's own handlers have spoken.
    setTimeout(() => { seen.dropped ||= event.defaultPrevented; }, 0);
  };
  addEventListener('dragend', ended, true);
  addEventListener('drop', dropped, true);
  const end = () => {
    removeEventListener('dragend', ended, true);
    removeEventListener('drop', dropped, true);
  };
  setTimeout(end, 60_000);
  return { seen, box: dom.rect(el), places: placesOf(el), end };
}

/**
 * The element and what it is a part of: a handle moves its row.
 * @param {Element} el
 */
function placesOf(el) {
  const places = [];
  for (let at = /** @type {Element | null} */ (el); at && at !== document.body && places.length < 4; at = at.parentElement) {
    places.push({ element: at, parent: at.parentElement, before: at.previousElementSibling });
  }
  return places;
}

/**
 * @param {Element} el
 * @param {ReturnType<typeof placesOf>} before
 */
function placeNow(el, before) {
  for (const { element, parent, before: neighbour } of before) {
    const now = element.parentElement;
    if (!el.isConnected || !now || (now === parent && element.previousElementSibling === neighbour)) continue;
    const all = [...now.children];
    return { at: all.indexOf(element) + 1, of: all.length, into: now === parent ? null : inWords(now) };
  }
  return null;
}
