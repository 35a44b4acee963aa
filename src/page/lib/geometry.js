// Boxes, clips and hit tests, in CSS px of the viewport of the world's own document.

const geometry = (() => {
  const EVERYWHERE = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  const NOWHERE = { left: 0, top: 0, right: 0, bottom: 0 };
  const fromPoint = Document.prototype.elementFromPoint;
  const fromPointIn = ShadowRoot.prototype.elementFromPoint;

  /** @param {Edges} a @param {Edges} b @returns {Edges} */
  const meet = (a, b) => ({
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  });
  /** @param {Edges} a */
  const isEmpty = (a) => !(a.right - a.left >= 1 && a.bottom - a.top >= 1);

  /** @param {Pick<Place, 'x' | 'y'>} place @param {DOMRect} rect @returns {Edges} */
  const placed = (place, rect) => ({
    left: rect.left + place.x,
    top: rect.top + place.y,
    right: rect.right + place.x,
    bottom: rect.bottom + place.y,
  });

  /**
   * The box of an element; of what is inside it when it has none of its own (floats, `display: contents`).
   * @param {Pick<Place, 'x' | 'y'>} place @param {Element} element @returns {Edges}
   */
  function box(place, element) {
    const own = dom.rect(element);
    if (own.width >= 1 && own.height >= 1) return placed(place, own);
    /** @type {Edges | null} */
    let all = null;
    let left = 16;
    /** @type {Node[]} */
    const queue = [];
    flat.children(element, (child) => void queue.push(child));
    for (let next = 0; next < queue.length && left > 0; next++) {
      const node = queue[next];
      if (!node || !dom.isElement(node)) continue;
      left -= 1;
      const rect = dom.rect(node);
      if (rect.width >= 1 && rect.height >= 1) {
        const edges = placed(place, rect);
        all = all
          ? {
              left: Math.min(all.left, edges.left),
              top: Math.min(all.top, edges.top),
              right: Math.max(all.right, edges.right),
              bottom: Math.max(all.bottom, edges.bottom),
            }
          : edges;
      } else flat.children(node, (child) => void queue.push(child));
    }
    return all ?? placed(place, own);
  }

  /**
   * What an element with `overflow` other than visible does to what is inside it.
   * @param {Clip} clip
   * @param {Edges} edges
   * @param {Element} element
   * @param {string} x
   * @param {string} y
   * @param {boolean} rtl
   * @returns {Clip}
   */
  function clipped(clip, edges, element, x, y, rtl) {
    const scrolls = x === 'auto' || x === 'scroll' || y === 'auto' || y === 'scroll';
    const inside = meet(clip.reach, edges);
    if (!scrolls || isEmpty(inside)) {
      return { seen: meet(clip.seen, edges), reach: isEmpty(inside) ? NOWHERE : inside };
    }
    const start = {
      left: rtl ? -Infinity : edges.left - scrollLeft(element),
      top: edges.top - scrollTop(element),
      right: Infinity,
      bottom: Infinity,
    };
    return { seen: meet(clip.seen, edges), reach: start };
  }
  const leftOf = Object.getOwnPropertyDescriptor(Element.prototype, 'scrollLeft')?.get;
  const topOf = Object.getOwnPropertyDescriptor(Element.prototype, 'scrollTop')?.get;
  /** @param {Element} element @returns {number} */
  const scrollLeft = (element) => leftOf?.call(element) ?? 0;
  /** @param {Element} element @returns {number} */
  const scrollTop = (element) => topOf?.call(element) ?? 0;

  /**
   * Where a frame's own viewport begins, relative to the document that shows it, and its scale.
   * @param {Element} frame
   */
  function inset(frame) {
    const rect = dom.rect(frame);
    const style = dom.style(frame);
    const width = dom.offsetWidth(frame);
    const scale = width > 0 && rect.width > 0 ? rect.width / width : 1;
    const x = rect.left + (dom.clientLeft(frame) + (parseFloat(style.paddingLeft) || 0)) * scale;
    const y = rect.top + (dom.clientTop(frame) + (parseFloat(style.paddingTop) || 0)) * scale;
    return { x, y, scale, rect };
  }

  /**
   * The innermost element at a point of a document's own viewport.
   * @param {Document} document
   * @param {number} x
   * @param {number} y
   * @returns {Element | null}
   */
  function at(document, x, y) {
    let hit = fromPoint.call(document, x, y);
    for (let depth = 0; hit && depth < 50; depth++) {
      const root = dom.shadow(hit);
      const inner = root ? fromPointIn.call(root, x, y) : null;
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  }

  const controlOf = Object.getOwnPropertyDescriptor(HTMLLabelElement.prototype, 'control')?.get;
  /** @param {Element} label @returns {Element | null} */
  const control = (label) => controlOf?.call(label) ?? null;

  /**
   * Whether a click on `hit` is a click on `element`: it is inside it, or inside its label.
   * @param {Element} element @param {Element | null} hit
   */
  function reaches(element, hit) {
    for (let node = hit; node; node = dom.flatParent(node)) {
      if (node === element) return true;
      if (dom.tag(node) === 'label' && control(node) === element) return true;
    }
    // A click on the host of a closed root that nobody opened may be a click inside it.
    return hit !== null && dom.tag(hit).includes('-') && !dom.shadow(hit) && dom.holds(hit, element);
  }

  /** Whether an element hides what is behind it. @param {Element} element @param {Element} behind */
  function isOpaque(element, behind) {
    for (
      let node = /** @type {Element | null} */ (element);
      node && !dom.holds(node, behind);
      node = dom.flatParent(node)
    ) {
      if (/^(img|video|canvas|iframe|embed|object)$/.test(dom.tag(node))) return true;
      const style = dom.style(node);
      const alpha = /^rgba\(.*,\s*([\d.]+)\)$/.exec(style.backgroundColor);
      if (Number(style.opacity) > 0.9 && (!alpha || Number(alpha[1]) > 0.9)) return true;
    }
    return false;
  }

  /** A few words for what lies at a point. @param {Element} hit @param {Element} instead_of */
  function describe(hit, instead_of) {
    let shown = hit;
    // The outermost box that does not hold the element says more than a span inside it.
    for (let node = dom.flatParent(hit); node && !dom.holds(node, instead_of); node = dom.flatParent(node))
      shown = node;
    const id = dom.attr(shown, 'id');
    const role = names.role(shown);
    const name = names.of(shown, 60).name || names.textOf(shown, 60);
    return `<${dom.tag(shown)}${id ? ` id=${id}` : ''}${role ? ` role=${role}` : ''}>${name ? ` ${name}` : ''}`;
  }

  return { EVERYWHERE, NOWHERE, meet, isEmpty, placed, box, clipped, inset, at, reaches, control, isOpaque, describe };
})();
