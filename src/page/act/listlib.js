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
  return free.filter(list => isDrawn(list) && !(list.id && taken.has(list.id)));
}

/**
 * The drawn options of a box.
 * @param {Element} box
 * @returns {Element[]}
 */
function optionsOf(box) {
  const found = new Set();
  for (const list of listsOf(box)) {
    for (const option of list.querySelectorAll('[role=option],[role=menuitem],[role=menuitemradio],[role=menuitemcheckbox],[role=treeitem]')) {
      if (isDrawn(option)) found.add(option);
    }
  }
  return [...found];
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
