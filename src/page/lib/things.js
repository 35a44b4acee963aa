// Which boxes are one thing to act on, and which are only a part of one or a frame around several.

const things = (() => {
  /** Controls inside a card; a box with more is a part of the page. */
  const MOST_INSIDE = 6;
  /** Around a label, up to what holds its field. */
  const LEVELS = 4;

  /**
   * Whether a box with a listener is something to click, or just where clicks of what is inside it arrive.
   * @param {Candidate} candidate
   */
  function isOne(candidate) {
    const { element, tag, role, box, inner } = candidate;
    if (inner > MOST_INSIDE || !box) return false;
    const name = describe.nameOf(element);
    const words = name.content ? name.name : '';
    const width = box.right - box.left;
    const height = box.bottom - box.top;
    const picture = /^(canvas|video|img|svg|embed|object)$/.test(tag);
    if (inner > 0 && (words === '' || words.length > 150)) return false;
    // The roots of frameworks listen to everything.
    if (inner > 1 && isBare(candidate) && dom.style(element).cursor !== 'pointer') return false;
    if (inner === 0 && !name.name && !picture && (isPart(candidate) || isBlank(candidate))) return false;
    if (inner === 0 && !name.name && !picture && (width > 120 || height > 120)) {
      if (!dom.find(element, 'img, svg, canvas, video')) return false;
    }
    if (role || picture || tag === 'a') return true;
    const { place } = candidate.inherited;
    return !(width > place.width * 0.6 && height > place.height * 0.6) && words.length < describe.NAME - 1;
  }

  /** Nothing but a listener tells that it can be acted on. @param {Candidate} candidate */
  const isBare = ({ element, role, kind }) =>
    kind === 'handler' &&
    (!role || role === 'presentation' || role === 'none') &&
    !dom.has(element, 'onclick') &&
    !(Number(dom.attr(element, 'tabindex') ?? -1) >= 0);

  /** A listener on a place where there is nothing to be seen. @param {Candidate} candidate */
  function isBlank(candidate) {
    const { element, role } = candidate;
    if (!isBare(candidate)) return false;
    // The page says itself that it is nothing.
    if (role) return true;
    let at = dom.flatParent(element);
    for (let level = 0; at && level < LEVELS; level++, at = dom.flatParent(at)) {
      if (dom.attr(at, 'aria-hidden') === 'true') return true;
    }
    const style = dom.style(element);
    if (!/^(auto|default|text)$/.test(style.cursor) || style.backgroundImage !== 'none') return false;
    if (!/^rgba\(.*, 0\)$/.test(style.backgroundColor) || dom.find(element, '*')) return false;
    return ['::before', '::after'].every((part) => /^(none|normal)$/.test(getComputedStyle(element, part).content));
  }

  /**
   * What is drawn of another control: the track of a switch, the surface of a combobox.
   * @param {Candidate} candidate without words and without controls inside
   */
  function isPart({ element, box, owner, kind, role }) {
    if (role || !box || Number(dom.attr(element, 'tabindex') ?? -1) >= 0) return false;
    if (owner?.role === 'combobox' && owner.box) {
      const share = (box.right - box.left) * (box.bottom - box.top);
      const whole = (owner.box.right - owner.box.left) * (owner.box.bottom - owner.box.top);
      if (share > whole * 0.5) return true;
    }
    const parent = dom.parent(element);
    const boxes = kind !== 'weak' && parent && dom.isElement(parent) ? dom.findAll(parent, 'input') : [];
    return boxes.length === 1 && dom.matches(/** @type {Element} */ (boxes[0]), '[type=checkbox], [type=radio]');
  }

  /**
   * A control that another one stands for.
   * @param {Candidate} candidate
   */
  function isTwin({ element, tag, role, owner, inner }) {
    if (role === 'combobox' && tag !== 'input' && inner > 0) return dom.find(element, 'input[role=combobox]') !== null;
    // The text that a combobox shows.
    if (role === 'textbox' && owner?.role === 'combobox' && !describe.isEditor(element))
      return dom.attr(element, 'aria-readonly') === 'true';
    if (role !== 'button' || dom.attr(element, 'aria-hidden') !== 'true') return false;
    if (!(Number(dom.attr(element, 'tabindex') ?? 0) < 0) || describe.nameOf(element).name) return false;
    // The arrow of a combobox, kept from the keyboard and from screen readers.
    let at = dom.flatParent(element);
    for (let level = 0; at && level < LEVELS; level++, at = dom.flatParent(at)) {
      if (dom.find(at, '[role=combobox]')) return true;
    }
    return false;
  }

  /**
   * Drops labels that no control belongs to, as the browser sees it, but that say the name of one right beside them.
   * @param {Candidate[]} candidates measured
   */
  function dropLabels(candidates) {
    const labels = candidates.filter(({ tag, kind, dropped }) => tag === 'label' && kind === 'handler' && !dropped);
    if (labels.length === 0) return;
    /** @type {Map<string, Element[]>} */
    const named = new Map();
    for (const { element, tag, kind, dropped, role } of candidates) {
      if (dropped || tag === 'label') continue;
      if (kind !== 'control' && !(kind === 'text' && /group$|^$/.test(role) && !/^h\d$/.test(tag))) continue;
      const { name } = names.of(element, describe.NAME);
      if (name) named.set(name, [...(named.get(name) ?? []), element]);
    }
    for (const label of labels) {
      const same = named.get(names.textOf(label.element, describe.NAME)) ?? [];
      let at = dom.flatParent(label.element);
      for (let level = 0; at && level < LEVELS && !label.dropped; level++, at = dom.flatParent(at)) {
        const around = at;
        label.dropped = same.some((element) => dom.holds(around, element));
      }
    }
  }

  return { isOne, isTwin, dropLabels };
})();
