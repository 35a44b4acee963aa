// Points through frames, and what lies at them.

/**
 * A point of an element's own viewport in the viewport of the world's own document.
 * @param {Element} element
 * @param {number} x
 * @param {number} y
 */
function outerPoint(element, x, y) {
  for (let frame = dom.frameOf(dom.documentOf(element)); frame; frame = dom.frameOf(dom.documentOf(frame))) {
    const inset = geometry.inset(frame);
    x = inset.x + x * inset.scale;
    y = inset.y + y * inset.scale;
  }
  return [x, y];
}

registry.defineFor('toOuter', (element, x, y) => outerPoint(element, x, y));

// A point inside the frame that `frame` shows, in the viewport of this world's own document.
registry.defineFor('throughFrame', (frame, x, y) => {
  const inset = geometry.inset(frame);
  return outerPoint(frame, inset.x + x * inset.scale, inset.y + y * inset.scale);
});

/**
 * What a click at a point would hit instead, up through the frames of this world; `null` when it reaches.
 * @param {Element} element @param {number} x @param {number} y in the element's own viewport
 * @returns {string | null}
 */
function coveredBy(element, x, y) {
  let target = element;
  for (;;) {
    const document = dom.documentOf(target);
    const hit = geometry.at(document, x, y);
    if (!hit) return 'nothing: the point is outside what can be seen';
    if (!geometry.reaches(target, hit)) return geometry.describe(hit, target);
    const frame = dom.frameOf(document);
    if (!frame) return null;
    const inset = geometry.inset(frame);
    x = inset.x + x * inset.scale;
    y = inset.y + y * inset.scale;
    target = frame;
  }
}

registry.defineFor('coveredBy', coveredBy);

// The same for a frame of another world, with a point of the world's own viewport.
registry.defineFor('coveredAtOuter', (frame, x, y) => {
  let offset = [0, 0];
  if (dom.documentOf(frame) !== document) offset = outerPoint(frame, 0, 0);
  return coveredBy(frame, x - (offset[0] ?? 0), y - (offset[1] ?? 0));
});
