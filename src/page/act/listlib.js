// Finding the options of a list that a page draws itself. Shared by `list`, `aim` and `watch`.

/**
 * @param {Element} box
 * @returns {HTMLInputElement | null}
 */
function inputOf(box) {
  if (isInput(box)) return box;
  return box.querySelector('input:not([type=hidden])');
}

/**
 * The popups that belong to a box: those it names, else those it holds, else the ones open right now.
 * @param {Element} box
 * @returns {Element[]}
 */
function listsOf(box) {
  const popup = '[role=listbox],[role=menu],[role=tree],[role=grid]';
  const named = [];
  for (const owner of [box, ...box.querySelectorAll('[aria-controls],[aria-owns]'), box.closest('[role=combobox]')]) {
    if (!owner) continue;
    const root = /** @type {Document | ShadowRoot} */ (owner.getRootNode());
    for (const attribute of ['aria-controls', 'aria-owns']) {
      for (const id of (owner.getAttribute(attribute) ?? '').split(/\s+/)) {
        const list = id ? (root.getElementById(id) ?? document.getElementById(id)) : null;
        if (list) named.push(list);
      }
    }
  }
  if (named.length) return named;
  if (box.matches(popup)) return [box];
  const inner = [...box.querySelectorAll(popup)];
  if (inner.length) return inner;
  const root = /** @type {Document | ShadowRoot} */ (box.getRootNode());
  // A list that another box names is that box's.
  const taken = new Set();
  for (const other of root.querySelectorAll('[aria-controls],[aria-owns]')) {
    for (const id of `${other.getAttribute('aria-controls') ?? ''} ${other.getAttribute('aria-owns') ?? ''}`.split(/\s+/)) taken.add(id);
  }
  const free = [...root.querySelectorAll(popup), ...(root === document ? [] : document.querySelectorAll(popup))];
  const old = standing.get(box);
  return free.filter(list => isDrawn(list) && !(list.id && taken.has(list.id)) && old?.get(list) !== contentOf(list));
}

/**
 * Lists that stood in the page before a box was opened, with their content then: they are no popups of it.
 * @type {WeakMap<Element, Map<Element, string>>}
 */
const standing = new WeakMap();

/** @param {Element} list */
function contentOf(list) {
  return oneLine(list.textContent, 2000);
}

/**
 * Tells what appears because a box is opened from what is there already.
 * @param {Element} box
 */
function startOpening(box) {
  const last = standing.get(box);
  standing.delete(box);
  // The popup of a box that is open already, or has the cursor, may be among those that are drawn.
  const open = box.getAttribute('aria-expanded') === 'true' || focusedElement(rootsOf(box)) === box;
  const old = new Map();
  for (const list of listsOf(box)) {
    const own = list === box || box.contains(list) || (open && isFloating(list));
    // What came when it was opened the last time is still its popup.
    const came = open && last && last.get(list) !== contentOf(list);
    if (!own && !came) old.set(list, contentOf(list));
  }
  standing.set(box, old);
}

/**
 * Drawn over the page rather than as a part of it.
 * @param {Element} el
 */
function isFloating(el) {
  for (let at = /** @type {Element | null} */ (el); at && at !== document.body; at = at.parentElement) {
    if (/^(absolute|fixed)$/.test(getComputedStyle(at).position)) return true;
  }
  return false;
}

const OPTION = '[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=treeitem]';

/**
 * A list that is there for screen readers alone.
 * @param {Element} list
 */
function isFolded(list) {
  const box = list.getBoundingClientRect();
  return (box.width < 1 || box.height < 1) && getComputedStyle(list).overflow === 'hidden' && isHtml(list) && list.childElementCount > 0;
}

/**
 * What is drawn beside such a list: elements that are called options by their class.
 * @param {Element} list
 * @returns {Element[]}
 */
function twinsOf(list) {
  const all = list.parentElement?.querySelectorAll('[class*=option]') ?? [];
  const named = [...all].filter(el => [...el.classList].some(name => /(^|[-_])option$/.test(name)) && !list.contains(el) && isDrawn(el));
  return named.filter(el => !named.some(other => other !== el && other.contains(el)));
}

/** @param {Element} option */
function isTaken(option) {
  const said = option.getAttribute('aria-selected') ?? option.getAttribute('aria-checked');
  return said === null ? [...option.classList].some(name => /(^|[-_])option-selected$/.test(name)) : said === 'true';
}

/**
 * The part of the page that a box has for itself: its choice may be drawn there, beside the field.
 * @param {Element} box
 * @returns {Element | null}
 */
function surroundOf(box) {
  let at = box.parentElement;
  for (let level = 0; at && level < 2; level++) {
    const up = at.parentElement;
    if (!up || /^(body|form|fieldset|main|label)$/.test(up.localName)) break;
    const others = [...up.querySelectorAll('input:not([type=hidden]),select,textarea,[role=combobox]')];
    if (others.some(el => el !== box && !el.contains(box) && !box.contains(el) && el.getAttribute('aria-hidden') !== 'true')) break;
    at = up;
  }
  return at;
}

/**
 * The drawn options of a box.
 * @param {Element} box
 * @returns {Element[]}
 */
function optionsOf(box) {
  const found = new Set();
  for (const list of listsOf(box)) {
    if (isFolded(list)) {
      for (const option of twinsOf(list)) found.add(option);
      continue;
    }
    const parts = [...list.querySelectorAll(OPTION)];
    // Web components take their options from the page around them.
    for (const slot of list.querySelectorAll('slot')) {
      for (const part of slot.assignedElements({ flatten: true })) parts.push(part, ...part.querySelectorAll(OPTION));
    }
    for (const option of parts) if (option.matches(OPTION) && isDrawn(option)) found.add(option);
  }
  return [...found];
}

/**
 * Long lists hold only the options around what is seen; more come when they are scrolled.
 * @param {Element} box
 * @param {'start' | 'further' | 'end'} where
 * @returns {boolean} whether anything moved
 */
function scrollList(box, where) {
  for (const list of listsOf(box)) {
    const around = [];
    for (let at = list.parentElement; at && at !== document.body && around.length < 3 && !at.contains(box); at = at.parentElement) around.push(at);
    for (const part of [list, ...[...list.querySelectorAll('*')].slice(0, 200), ...around]) {
      if (!canScroll(part, false)) continue;
      const before = part.scrollTop;
      const further = where === 'end' ? part.scrollHeight : before + Math.max(20, part.clientHeight * 0.8);
      part.scrollTo({ top: where === 'start' ? 0 : further, behavior: 'instant' });
      if (part.scrollTop !== before) return true;
    }
  }
  return false;
}

/** @param {Element} option */
function nameOf(option) {
  return oneLine(option.getAttribute('aria-label') || (isHtml(option) ? option.innerText : option.textContent), 200);
}

/**
 * @param {Element[]} options
 * @param {string} text
 * @returns {Element[]}
 */
function matching(options, text) {
  const exact = oneLine(text, 200), loose = exact.toLowerCase();
  for (const test of [
    (/** @type {Element} */ o) => nameOf(o) === exact,
    (/** @type {Element} */ o) => o.getAttribute('data-value') === text,
    (/** @type {Element} */ o) => nameOf(o).toLowerCase() === loose,
  ]) {
    const hits = options.filter(test);
    if (hits.length) return hits;
  }
  return [];
}

/**
 * @param {Element} box
 * @param {string} text
 * @returns {Element | null}
 */
function optionOf(box, text) {
  const [first, ...others] = matching(optionsOf(box), text);
  return first && !others.length ? first : null;
}

/**
 * The texts drawn in a part of the page, outside of the given lists: each piece, and the lines that pieces make up.
 * @param {Element | null} part
 * @param {Element[]} lists
 * @returns {string[]}
 */
function textsIn(part, lists) {
  const texts = new Set();
  if (!part) return [];
  const walker = document.createTreeWalker(part, 4 /* text */);
  for (let node = walker.nextNode(), count = 0; node && count < 400; node = walker.nextNode(), count++) {
    const holder = node.parentElement;
    if (!holder || lists.some(list => list.contains(holder)) || !oneLine(node.textContent) || !isDrawn(holder)) continue;
    texts.add(oneLine(node.textContent, 200));
    for (const box of [holder, holder.parentElement]) {
      if (box && isHtml(box) && part.contains(box) && !lists.some(list => box.contains(list))) texts.add(oneLine(box.innerText, 200));
    }
  }
  return [...texts].slice(0, 100);
}

/**
 * Makes a text that was typed tell apart from the same text put in by the page: a choice puts it in anew, without
 * the space that is added here. No event tells the page.
 * @param {Element} box
 * @param {boolean} on
 */
function markTyped(box, on) {
  const input = inputOf(box);
  if (!input) return;
  const mark = marks.get(input);
  marks.delete(input);
  if (mark !== undefined && input.value === mark) input.value = mark.slice(0, -1);
  if (!on) return;
  const typed = input.value;
  input.value = typed + ' ';
  // Some kinds of fields drop the space: they cannot be asked this way.
  if (input.value === typed + ' ') marks.set(input, input.value);
}

/** @type {WeakMap<HTMLInputElement, string>} */
const marks = new WeakMap();

/** @param {Element} box */
function hasMark(box) {
  const input = inputOf(box);
  return input !== null && marks.has(input) && marks.get(input) === input.value;
}

/**
 * What the browser itself suggests for a text field (`list=`).
 * @param {Element} box
 * @param {string} [text]
 * @returns {{options: string[], value: string | null} | null}
 */
function offersOf(box, text) {
  const field = fieldOf(box);
  const data = isInput(field) ? field.list : null;
  if (!data) return null;
  const options = [...data.querySelectorAll('option')].filter(o => !o.disabled && o.value !== '');
  const label = (/** @type {HTMLOptionElement} */ o) => oneLine(o.label || o.text, 200);
  const exact = oneLine(text, 200), loose = exact.toLowerCase();
  const tests = [
    (/** @type {HTMLOptionElement} */ o) => o.value === text,
    (/** @type {HTMLOptionElement} */ o) => label(o) === exact,
    (/** @type {HTMLOptionElement} */ o) => o.value.trim().toLowerCase() === loose,
    (/** @type {HTMLOptionElement} */ o) => label(o).toLowerCase() === loose,
  ];
  const test = text === undefined ? undefined : tests.find(one => options.some(one));
  return {
    options: options.slice(0, 50).map(o => (label(o) && label(o) !== o.value ? `${oneLine(o.value, 200)} (${label(o)})` : oneLine(o.value, 200))),
    value: (test && options.find(test)?.value) ?? null,
  };
}
