/**
 * Chooses in a native list: exactly the options asked for, all or none.
 * @this {Element}
 * @param {{values: string[]}} args labels or values
 */
function choose(args) {
  const list = fieldOf(this);
  if (!isSelect(list)) return { class: 'bad_argument', error: 'The element is not a list to choose from.' };
  if (isSecret(list)) return { class: 'not_allowed', error: 'This field is for a secret, which only the person enters. Call await_user and ask for it.' };
  // Some pages fill a list only when it gets the focus.
  list.focus({ preventScroll: true });
  const all = [...list.options];
  const options = all.filter(o => !isHiddenOption(o));
  const label = (/** @type {HTMLOptionElement} */ o) => oneLine(o.label || o.text, 200);
  const shown = options.slice(0, 50).map(o => (o.value === label(o) ? { label: label(o) } : { label: label(o), value: o.value.slice(0, 200) }));
  let asked = args.values;
  const [alone = ''] = asked;
  if (list.multiple && asked.length === 1 && !find(alone).length) {
    const parts = alone.split(/[,;\n]/).map(part => part.trim()).filter(Boolean);
    if (parts.length > 1 && parts.every(part => find(part).length === 1)) asked = parts;
  }
  if (!list.multiple && asked.length !== 1) {
    return { class: 'bad_argument', error: 'This list takes exactly one choice.' };
  }
  const chosen = new Set();
  for (const one of asked) {
    const found = find(one);
    const [option] = found;
    if (!option) {
      const more = options.length > shown.length ? ` (the first ${shown.length} of ${options.length} are listed)` : '';
      return { class: 'no_such_option', error: `There is no option ${JSON.stringify(oneLine(one))}; take one of those listed${more}.`, options: shown };
    }
    if (found.length > 1) {
      return {
        class: 'ambiguous',
        error: `${found.length} options are called ${JSON.stringify(oneLine(one))}; give the value of the one you mean.`,
        candidates: found.slice(0, 50).map(o => ({ label: label(o), value: o.value.slice(0, 200) })),
      };
    }
    const group = option.parentElement;
    if (option.disabled || (isOptGroup(group) && group.disabled)) {
      return { class: 'disabled', error: `The option ${JSON.stringify(label(option))} is disabled; take another one.`, options: shown };
    }
    chosen.add(option);
  }
  const before = all.map(o => o.selected);
  for (const option of all) if (option.selected !== chosen.has(option)) option.selected = chosen.has(option);
  const changed = all.some((o, i) => o.selected !== before[i]);
  if (changed) {
    list.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    list.dispatchEvent(new Event('change', { bubbles: true }));
  }
  return { changed, wanted: [...chosen].map(o => ({ label: label(o), value: o.value })) };

  /**
   * A label said exactly wins over a value, that over spelling.
   * @param {string} text
   */
  function find(text) {
    const exact = oneLine(text, 200), loose = exact.toLowerCase();
    for (const test of [
      (/** @type {HTMLOptionElement} */ o) => label(o) === exact,
      (/** @type {HTMLOptionElement} */ o) => o.value === text,
      (/** @type {HTMLOptionElement} */ o) => label(o).toLowerCase() === loose,
      (/** @type {HTMLOptionElement} */ o) => o.value.trim().toLowerCase() === loose,
    ]) {
      const hits = options.filter(test);
      if (hits.length) return hits;
    }
    return [];
  }
}

/**
 * The person never sees such an option, so it is none to choose.
 * @param {HTMLOptionElement} option
 */
function isHiddenOption(option) {
  const group = option.parentElement;
  return getComputedStyle(option).display === 'none' || (isOptGroup(group) && getComputedStyle(group).display === 'none');
}
