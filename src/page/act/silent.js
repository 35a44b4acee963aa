/** Fields whose content is compared before and after an act; those of the target's own form first. */
const MOST_FIELDS = 500;
/** How long finding them may take, in milliseconds: whether a field holds a secret takes reading its labels. */
const FIELDS_TIME = 25;
/** A panel elsewhere scrolls because of the act when it begins within two frames after it, and this soon, in ms. */
const FOLLOWS = 300;

/**
 * What an act changes without any mutation of the page: the content of other fields, scroll positions and the focus.
 * @param {Element} target what is pressed
 * @param {Element} aimed what was meant (its own content is its state)
 * @param {Element[]} region
 * @param {Map<Element, ShadowRoot>} roots
 * @param {Node[]} scopes documents and shadow roots that can be seen from here
 */
function silentOf(target, aimed, region, roots, scopes) {
  const fields = fieldsNear(target, scopes).filter(field => field !== aimed);
  /** Content before the act. @type {Map<Element, string | null>} */
  let held = new Map(fields.map(field => [field, heldBy(field)]));
  const boxes = scrollersOf(target, roots, scopes);
  let places = new Map(boxes.map(box => [box, placeOf(box)]));
  /** How often boxes moved by themselves before the act. @type {Map<Element, number>} */
  const early = new Map();
  let focus = focusedElement(roots);
  let armed = false, actedAt = -Infinity, following = 0, scrolls = 0, fieldsChanged = false;

  const isNear = (/** @type {Element} */ el) => region.some(part => part.contains(el));
  const compare = (/** @type {boolean} */ hot) => {
    if (fieldsChanged) return;
    for (const [field, before] of held) {
      const now = heldBy(field);
      if (now === before) continue;
      held.set(field, now);
      if (hot || isNear(field) || lettersOf(now) !== lettersOf(before)) fieldsChanged = true;
    }
  };
  const scrolled = (/** @type {Event} */ event) => {
    const at = /** @type {Node} */ (event.target);
    const box = isElement(at) ? at : dom.scroller(/** @type {Document} */ (at));
    if (!box) return;
    const before = places.get(box);
    // Told late: it was scrolled into view before the act.
    if (before === placeOf(box)) return;
    if (!armed) early.set(box, (early.get(box) ?? 0) + 1);
    else if (before !== undefined || isNear(box) || (following > 0 && performance.now() - actedAt < FOLLOWS)) moved(box);
  };
  const moved = (/** @type {Element} */ box) => {
    if ((early.get(box) ?? 0) >= 2 || restless.scrolls(box)) return;
    scrolls++;
    places.set(box, placeOf(box));
  };
  const listening = { capture: true, passive: true };
  for (const scope of scopes) scope.addEventListener('scroll', scrolled, listening);

  return {
    /** From now on changes are the act's. */
    arm() {
      held = new Map(fields.filter(field => heldBy(field) === held.get(field)).map(field => [field, heldBy(field)]));
      places = new Map(boxes.map(box => [box, placeOf(box)]));
      focus = focusedElement(roots);
      armed = true;
    },
    /** An event of the act is on its way to the page's own handlers. */
    acting() {
      compare(false);
      actedAt = performance.now();
      following++;
      requestAnimationFrame(() => requestAnimationFrame(() => following--));
    },
    /** They have just run. */
    acted() {
      compare(true);
    },
    read() {
      if (armed) {
        compare(false);
        // A tab in the background tells of no scrolling.
        for (const [box, before] of places) if (placeOf(box) !== before) moved(box);
      }
      const now = focusedElement(roots);
      const inFrame = armed && now !== focus && isElement(now) && /^(iframe|frame|object|embed)$/.test(dom.tag(now)) &&
        !isDrawnInside(target, now, roots);
      return {
        scrolls,
        fieldsChanged,
        focusMoved: armed && focusWent(focus, now, target, aimed, roots),
        // A press in a frame gives it the focus: the only trace of one that went there, when its site is another.
        inFrame: inFrame ? inWords(now) : null,
      };
    },
    end() {
      for (const scope of scopes) scope.removeEventListener('scroll', scrolled, listening);
    },
  };
}

/**
 * Whether the focus went somewhere that a person would notice: into a field, or away to something that was not
 * pressed. That a pressed button has it afterwards says nothing.
 * @param {Element | null} before
 * @param {Element | null} now
 * @param {Element} target
 * @param {Element} aimed
 * @param {Map<Element, ShadowRoot>} roots
 */
function focusWent(before, now, target, aimed, roots) {
  const whole = [/** @type {Element | null} */ (document.body), document.documentElement];
  if (!now || now === before || whole.includes(now)) return false;
  // Keys that went to no element in particular.
  if (whole.includes(target)) return true;
  if (isDrawnInside(now, target, roots) || now === aimed) return isTyped(now);
  return !isDrawnInside(target, now, roots);
}

/** @param {Element} el */
function isTyped(el) {
  if (isInput(el)) return !/^(button|submit|reset|image|file|checkbox|radio|color|range)$/.test(el.type);
  return isTextArea(el) || (isHtml(el) && dom.editable(el));
}

/**
 * @param {Element} target
 * @param {Node[]} scopes
 * @returns {Element[]}
 */
function fieldsNear(target, scopes) {
  const until = performance.now() + FIELDS_TIME;
  const found = /** @type {Set<Element>} */ (new Set());
  const form = target.closest('form,[role=form],fieldset,dialog,[role=dialog]');
  for (const root of form ? [form, ...scopes] : scopes) {
    const all = isElement(root) ? dom.findAll(root, FIELDS) : dom.all(root, FIELDS);
    for (const field of all) {
      if (found.size >= MOST_FIELDS || performance.now() > until) return [...found];
      if (!found.has(field) && !isSecret(field)) found.add(field);
    }
  }
  return [...found];
}

const FIELDS = 'input:not([type=hidden],[type=button],[type=submit],[type=reset],[type=image],[type=password]),textarea,select';

/**
 * What a field holds, as one text to compare; null for whatever is no field. Not for secrets.
 * @param {Element} el
 * @returns {string | null}
 */
function heldBy(el) {
  if (isInput(el) && /^(checkbox|radio)$/.test(el.type)) return el.checked ? 'on' : el.indeterminate ? 'between' : 'off';
  if (isInput(el) && el.type === 'file') return String(el.files?.length ?? 0);
  if (!isInput(el) && !isTextArea(el) && !isSelect(el)) return null;
  // A page may make a secret of a field meanwhile.
  if (isInput(el) && el.type === 'password') return null;
  return isSelect(el) ? [...el.selectedOptions].map(o => o.label + '\n' + o.value).join('\n') : el.value;
}

/**
 * What holds the target, and every document's own scroller.
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 * @param {Node[]} scopes
 * @returns {Element[]}
 */
function scrollersOf(target, roots, scopes) {
  const boxes = /** @type {Set<Element>} */ (new Set());
  for (const box of boxesAround(target, roots)) if (isElement(box)) boxes.add(box);
  for (const scope of scopes) {
    const box = dom.type(scope) === 9 ? dom.scroller(/** @type {Document} */ (scope)) : null;
    if (box) boxes.add(box);
  }
  return [...boxes];
}

/** @param {Element} box */
const placeOf = box => `${Math.round(box.scrollLeft)} ${Math.round(box.scrollTop)}`;
