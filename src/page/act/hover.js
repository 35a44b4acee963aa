/**
 * What comes up because the mouse rests on an element: menus and tooltips, also those that the style alone shows,
 * which no change of the document tells of.
 * @this {Element}
 * @param {{op: 'before' | 'after'}} args
 */
function hover(args) {
  if (args.op === 'before') {
    hovers.get(this)?.end();
    hovers.set(this, beginHover(this));
    return {};
  }
  const begun = hovers.get(this);
  const over = this.matches(':hover') || (begun?.touched() ?? false);
  const tops = begun ? newlyShown(begun.shown) : [];
  const title = this.closest('[title]')?.getAttribute('title');
  const drawn = begun && tooltipOf(this);
  return {
    over,
    appeared: tops.length > 0 ? described(tops.slice(0, 5)) : [],
    tooltip: (drawn && drawn !== begun.tooltip && drawn) || (title ? oneLine(title, 200) : null),
  };
}

/** @type {WeakMap<Element, ReturnType<typeof beginHover>>} */
const hovers = new WeakMap();

/** @param {Element} target */
function beginHover(target) {
  let touched = false;
  const moved = (/** @type {Event} */ event) => {
    touched ||= event.isTrusted && event.composedPath().includes(target);
  };
  const end = () => removeEventListener('mousemove', moved, true);
  addEventListener('mousemove', moved, true);
  setTimeout(end, 10_000);
  return { shown: new WeakSet(shownNow()), tooltip: tooltipOf(target), touched: () => touched, end };
}

/**
 * Everything that can be seen somewhere on the page.
 * @returns {Element[]}
 */
function shownNow() {
  const shown = [];
  const roots = /** @type {(Document | ShadowRoot)[]} */ ([document]);
  for (let root = roots.pop(); root; root = roots.pop()) {
    for (const el of dom.all(root, '*')) {
      const inner = dom.shadow(el);
      if (inner) roots.push(inner);
      if (!el.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const box = dom.rect(el);
      if (box.width >= 2 && box.height >= 2 && box.right + view.scrollX > 0 && box.bottom + view.scrollY > 0) shown.push(el);
    }
  }
  return shown;
}

/**
 * The outermost of the elements that were not shown before.
 * @param {WeakSet<Element>} before
 */
function newlyShown(before) {
  const fresh = new Set(shownNow().filter(el => !before.has(el)));
  return [...fresh].filter(el => {
    const parent = dom.flatParent(el);
    return !parent || !fresh.has(parent);
  });
}

/**
 * What a style alone writes beside an element.
 * @param {Element} el
 */
function tooltipOf(el) {
  for (const part of ['::after', '::before']) {
    const style = view.getComputedStyle(el, part);
    const text = /^"(.*)"$/s.exec(style.content)?.[1] ?? '';
    if (/[\p{L}\p{N}]/u.test(text) && style.visibility === 'visible' && style.opacity !== '0' && style.display !== 'none') {
      return oneLine(text.replaceAll('\\"', '"'), 200);
    }
  }
  return null;
}

/** @param {Element[]} tops */
function described(tops) {
  const acted = new finding.Acted();
  const scrub = secret.scrubber();
  return tops.map(top => {
    const inside = [...acted.listed.keys()].filter(el => dom.holds(top, el)).slice(0, 12);
    return {
      what: scrub(inWords(top)),
      text: scrub(names.textOf(top, 300)),
      inside: inside.map(finding.named),
    };
  });
}
