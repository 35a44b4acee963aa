/**
 * Scrolls a box, the page, or this element into view, and tells where that leads.
 * @this {Element | null} null: the page
 * @param {{op: 'view' | 'by' | 'end' | 'read', dx?: number, dy?: number, pagesX?: number, pagesY?: number}} args
 *   `dx`, `dy`: CSS px; `pagesX`, `pagesY`: in sizes of the box.
 */
function scrollBox(args) {
  const sideways = !!(args.dx || args.pagesX) && !(args.dy || args.pagesY);
  const page = pageBox();
  if (args.op === 'view' && this) {
    if (!isDrawn(this) && !standIn(this)) {
      return { class: 'hidden', error: 'The element is in the page but not drawn. Open what contains it, then look again.' };
    }
    const before = [...scrollPositions(this, rootsOf(this)), ...(page ? [[page, page.scrollTop, page.scrollLeft]] : [])];
    this.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const moved = before.some(([box, top, left]) => /** @type {Element} */ (box).scrollTop !== top || /** @type {Element} */ (box).scrollLeft !== left);
    const { x, y, width, height } = this.getBoundingClientRect();
    return { ...place(page ?? this), moved, result: { x: Math.round(x), y: Math.round(y), w: Math.round(width), h: Math.round(height) } };
  }
  const box = this ? boxAround(this, sideways) : mainBox(sideways);
  if (!box) return { class: 'bad_argument', error: 'Nothing here can be scrolled.' };
  const { width, height } = sizeOf(box);
  if (args.op === 'by') {
    box.scrollBy({
      left: (args.dx ?? 0) + (args.pagesX ?? 0) * width,
      top: (args.dy ?? 0) + (args.pagesY ?? 0) * height,
      behavior: 'instant',
    });
  }
  if (args.op === 'end') box.scrollTo({ top: box.scrollHeight, left: box.scrollLeft, behavior: 'instant' });
  return place(box);
}

/** @returns {Element | null} */
function pageBox() {
  return dom.scroller(document) ?? document.documentElement;
}

/** @param {Element} box */
function sizeOf(box) {
  // The root's own client height is that of the document in old pages.
  return box === pageBox()
    ? { width: view.innerWidth, height: view.innerHeight }
    : { width: box.clientWidth, height: box.clientHeight };
}

/** @param {Element} box */
function place(box) {
  const { width, height } = sizeOf(box);
  const tall = Math.max(1, height), wide = Math.max(1, width);
  const round = (/** @type {number} */ pages) => Math.max(0, Math.round(pages * 10) / 10);
  return {
    scrollX: Math.round(box.scrollLeft),
    scrollY: Math.round(box.scrollTop),
    pagesAbove: round(box.scrollTop / tall),
    pagesBelow: round((box.scrollHeight - box.scrollTop - height) / tall),
    pagesLeft: round(Math.abs(box.scrollLeft) / wide),
    pagesRight: round((box.scrollWidth - Math.abs(box.scrollLeft) - width) / wide),
    height: box.scrollHeight,
    container: box === pageBox() ? null : inWords(box),
  };
}

/**
 * @param {Element} box
 * @param {boolean} sideways
 */
function canScroll(box, sideways) {
  const longer = sideways ? box.scrollWidth > box.clientWidth + 1 : box.scrollHeight > box.clientHeight + 1;
  if (!longer) return false;
  const style = getComputedStyle(box);
  const overflow = sideways ? style.overflowX : style.overflowY;
  // What hides its overflow is moved by its own buttons, not by a person's wheel.
  if (box === pageBox()) return overflow !== 'hidden' && overflow !== 'clip';
  return /^(auto|scroll|overlay)$/.test(overflow);
}

/**
 * The element itself if it scrolls, else the nearest box around it that does, else the page.
 * @param {Element} element
 * @param {boolean} sideways
 * @returns {Element | null}
 */
function boxAround(element, sideways) {
  const roots = rootsOf(element);
  for (let at = /** @type {Node | null} */ (element); at; at = drawnParent(at, roots)) {
    if (isElement(at) && at !== document.body && canScroll(at, sideways)) return at;
  }
  return pageBox();
}

/**
 * The page, or the largest box that scrolls in it when the page itself does not.
 * @param {boolean} sideways
 * @returns {Element | null}
 */
function mainBox(sideways) {
  const page = pageBox();
  if (!page || canScroll(page, sideways)) return page;
  let best = page, most = 0, looked = 0;
  for (const box of document.querySelectorAll('*')) {
    if (++looked > 20_000) break;
    const area = box.clientWidth * box.clientHeight;
    if (area > most && box !== document.body && canScroll(box, sideways) && isDrawn(box)) {
      best = box;
      most = area;
    }
  }
  return best;
}
