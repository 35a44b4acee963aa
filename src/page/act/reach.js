/**
 * Carries a point of a frame's viewport out into the viewport of the document that holds the frame.
 * @this {Element} the frame element (iframe, frame, object)
 * @param {{x: number, y: number, scroll: boolean}} args
 */
function reach(args) {
  if (!this.isConnected) return { class: 'gone', error: 'The frame of the element is not in the page any more.' };
  const roots = rootsOf(this);
  const place = () => {
    const box = this.getBoundingClientRect();
    const style = getComputedStyle(this);
    const html = /** @type {HTMLElement} */ (this);
    // A transformed frame is drawn larger or smaller than its layout.
    const scaleX = html.offsetWidth ? box.width / html.offsetWidth : 1;
    const scaleY = html.offsetHeight ? box.height / html.offsetHeight : 1;
    return {
      x: box.left + (this.clientLeft + parseFloat(style.paddingLeft) + args.x) * scaleX,
      y: box.top + (this.clientTop + parseFloat(style.paddingTop) + args.y) * scaleY,
    };
  };
  const seen = (/** @type {{x: number, y: number}} */ at) =>
    at.x >= 0 && at.y >= 0 && at.x < view.innerWidth && at.y < view.innerHeight ? hitAt(at.x, at.y, roots) : null;
  let at = place();
  let hit = seen(at);
  if (hit === this) return { ...at, scrolled: false };
  let cover = hit;
  if (args.scroll) {
    for (const share of [0.5, 0.75, 0.25]) {
      this.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      at = place();
      // Frames taller than the window: bring the point itself into view.
      scrollBy({ top: at.y - view.innerHeight * share, left: at.x < 0 || at.x >= view.innerWidth ? at.x - view.innerWidth / 2 : 0, behavior: 'instant' });
      at = place();
      hit = seen(at);
      if (hit === this) return { ...at, scrolled: true };
      cover ??= hit;
    }
  }
  if (!cover) return { class: 'hidden', error: 'The frame of the element cannot be brought into view.' };
  const by = describeCover(cover, this, roots);
  return { class: 'covered', by, error: `A press would land on ${by}, which lies over the frame of the element.` };
}
