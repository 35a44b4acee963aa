// Where things are drawn, for pictures: elements, and everything that no picture may show.

const places = (() => {
  const FIELDS = 'input, textarea, select, [contenteditable], [role=textbox], [role=searchbox], [role=combobox]';

  /**
   * A box of an element's own viewport in the viewport of the world's own document.
   * @param {Element} element @param {Edges} edges
   */
  function outer(element, { left, top, right, bottom }) {
    const [x1 = 0, y1 = 0] = outerPoint(element, left, top);
    const [x2 = 0, y2 = 0] = outerPoint(element, right, bottom);
    return [x1, y1, x2, y2];
  }

  /**
   * What the boxes around an element leave of it. Boxes that may not clip it count as ones that do not: too much is
   * painted over rather than too little.
   * @param {Element} element @param {Edges} edges
   */
  function clipped(element, edges) {
    let { position } = dom.style(element);
    for (let up = dom.flatParent(element); up && position !== 'fixed'; up = dom.flatParent(up)) {
      if (dom.documentOf(up) !== dom.documentOf(element)) break;
      const style = dom.style(up);
      if (position === 'absolute' && style.position === 'static') continue;
      ({ position } = style);
      if (/^(body|html)$/.test(dom.tag(up))) continue;
      const all = geometry.EVERYWHERE;
      const { left, top, right, bottom } = dom.rect(up);
      const [x, y] = [style.overflowX !== 'visible', style.overflowY !== 'visible'];
      edges = geometry.meet(edges, {
        left: x ? left : all.left,
        top: y ? top : all.top,
        right: x ? right : all.right,
        bottom: y ? bottom : all.bottom,
      });
    }
    return edges;
  }

  /** @param {Element} element @returns {Edges} */
  const drawn = (element) => dom.rect(element);

  /**
   * Boxes of secret fields, and of the frames that this world cannot look into: slot, left, top, right, bottom. The
   * host paints over a frame that it cannot look into either.
   */
  function secrets() {
    const boxes = [];
    const frames = [];
    for (const root of dom.roots()) {
      for (const field of dom.all(root, FIELDS)) {
        const edges = clipped(field, drawn(field));
        if (geometry.isEmpty(edges) || !secret.hidesValue(field)) continue;
        boxes.push([registry.slotOf(field), ...outer(field, edges)]);
      }
      for (const frame of dom.all(root, 'iframe, frame')) {
        const edges = clipped(frame, drawn(frame));
        if (geometry.isEmpty(edges) || dom.shown(frame)) continue;
        frames.push([registry.slotOf(frame), ...outer(frame, edges)]);
      }
    }
    return { boxes, frames };
  }

  const held = ['input', 'textarea', 'select'].map((tag) => {
    const { prototype } = /** @type {any} */ ({ input: HTMLInputElement, textarea: HTMLTextAreaElement, select: HTMLSelectElement })[tag];
    return [tag, Object.getOwnPropertyDescriptor(prototype, 'value')?.get];
  });
  const values = new Map(/** @type {[string, (() => string) | undefined][]} */ (held));

  /** Whether a secret field, in view or not, holds anything. */
  function filled() {
    for (const root of dom.roots()) {
      for (const field of dom.all(root, FIELDS)) {
        const get = values.get(dom.tag(field));
        const value = get ? get.call(field) : (field.textContent ?? '');
        if (value !== '' && secret.hidesValue(field)) return true;
      }
    }
    return false;
  }

  return { outer, drawn, secrets, filled };
})();

registry.define('secretPlaces', places.secrets);
registry.define('holdsSecrets', places.filled);

// The whole box of an element, in the viewport of the world's own document.
registry.defineFor('placeOf', (element) => places.outer(element, geometry.box({ x: 0, y: 0 }, element)));

// Two frames later everything stands where a new size of the window puts it; tabs behind others draw none.
registry.define('drawnAgain', async () => {
  const drawn = new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.race([drawn, new Promise((done) => setTimeout(done, 500))]);
  return null;
});

// Puts the page back to where it was scrolled.
registry.define('scrollBack', (/** @type {number} */ left, /** @type {number} */ top) => {
  scrollTo({ left, top, behavior: 'instant' });
  return null;
});
