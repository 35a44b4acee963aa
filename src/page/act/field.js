/**
 * One form field: what it is, taking the focus, being set, what it holds.
 * @this {Element}
 * @param {{op: 'look' | 'give' | 'focused' | 'focus' | 'select' | 'set' | 'read' | 'drawn', clear?: boolean, value?: string}} args
 */
function field(args) {
  const el = fieldOf(this);
  const kind = kindOf(el);
  if (args.op === 'look') {
    return {
      kind,
      tag: el.localName,
      type: isInput(el) ? el.type : null,
      secret: isSecret(el),
      standstill: standstill(el),
      drawn: isDrawn(el) || standIn(el) !== null,
      readonly: /** @type {HTMLInputElement} */ (el).readOnly === true || el.getAttribute('aria-readonly') === 'true',
      combobox: kind === 'text' && (el.getAttribute('role') === 'combobox' || el.getAttribute('aria-haspopup') === 'listbox'),
      selfDrawn: dom.editContext(el) !== null,
      connected: true,
      ...held(el, kind),
    };
  }
  if (!el.isConnected) return { connected: false };
  if (args.op === 'drawn') {
    // Two frames, so that the page has taken note of what its keys did; none come in a tab that is not shown.
    return new Promise(done => {
      const look = () => done({ connected: el.isConnected, focused: hasFocus(el) });
      requestAnimationFrame(() => requestAnimationFrame(look));
      setTimeout(look, 300);
    });
  }
  if (args.op === 'give') {
    bringIntoView(el);
    /** @type {HTMLElement} */ (el).focus({ preventScroll: true });
  }
  if (args.op === 'give' || args.op === 'focused') return { connected: true, focused: hasFocus(el) };
  if (isSecret(el)) return { connected: true, secret: true };
  if (args.op === 'focus') {
    bringIntoView(el);
    /** @type {HTMLElement} */ (el).focus({ preventScroll: true });
  }
  if (args.op === 'select' || args.op === 'focus') selectContent(el, kind, args.clear !== false);
  if (args.op === 'set') {
    const set = setDirectly(/** @type {HTMLInputElement} */ (el), args.value ?? '');
    if (set.wrong !== undefined) return { connected: true, wrong: set.wrong };
    return { connected: el.isConnected, focused: hasFocus(el), wanted: set.wanted, ...held(el, kind) };
  }
  return { connected: el.isConnected, focused: hasFocus(el), ...held(el, kind) };
}

/**
 * The field that a number stands for: a label's control, the one input inside a wrapper.
 * @param {Element} el
 * @returns {Element}
 */
function fieldOf(el) {
  if (isLabel(el) && el.control) return el.control;
  if (kindOf(el) === 'none' || (kindOf(el) === 'list' && !isInput(el))) {
    const inner = el.querySelectorAll('input:not([type=hidden]),textarea,select,[contenteditable=""],[contenteditable=true]');
    if (inner[0] && inner.length === 1 && kindOf(el) === 'none') return inner[0];
  }
  if (isHtml(el) && el.isContentEditable) {
    // Editing happens in the outermost editable element, whatever part of it was listed.
    let host = el;
    while (host.parentElement?.isContentEditable) host = host.parentElement;
    return host;
  }
  return el;
}

/**
 * @param {Element} el
 * @returns {'text' | 'set' | 'check' | 'radio' | 'select' | 'multi' | 'editable' | 'list' | 'file' | 'button' | 'none'}
 */
function kindOf(el) {
  if (isTextArea(el)) return 'text';
  if (isSelect(el)) return el.multiple ? 'multi' : 'select';
  if (isInput(el)) {
    if (el.type === 'checkbox') return 'check';
    if (el.type === 'radio') return 'radio';
    if (/^(date|time|datetime-local|month|week|color|range)$/.test(el.type)) return 'set';
    if (/^(button|submit|reset|image|hidden)$/.test(el.type)) return 'button';
    if (el.type === 'file') return 'file';
    return 'text';
  }
  if (isHtml(el) && (el.isContentEditable || dom.editContext(el))) return 'editable';
  const [role = ''] = (el.getAttribute('role') ?? '').trim().toLowerCase().split(/\s+/);
  if (role === 'radio' || role === 'menuitemradio') return 'radio';
  if (/^(checkbox|switch|menuitemcheckbox)$/.test(role)) return 'check';
  if (role === 'combobox' || role === 'listbox') return 'list';
  if (/^(listbox|true|menu)$/.test(el.getAttribute('aria-haspopup') ?? '')) return 'list';
  if (el.hasAttribute('aria-pressed')) return 'check';
  if (el.localName === 'button' || role === 'button') return 'button';
  return 'none';
}

/**
 * What the field holds, in the words of results.
 * @param {Element} el
 * @param {ReturnType<typeof kindOf>} kind
 */
function held(el, kind) {
  /** @type {{value?: string, checked?: boolean | 'mixed', selected?: string[], invalid?: string}} */
  const out = {};
  if (isSecret(el)) return out;
  if (kind === 'text' || kind === 'set') out.value = /** @type {HTMLInputElement} */ (el).value;
  if (kind === 'editable') out.value = dom.editContext(el)?.text ?? /** @type {HTMLElement} */ (el).innerText;
  if (kind === 'check' || kind === 'radio') out.checked = checkedOf(el);
  if (isSelect(el)) {
    out.value = el.value;
    out.selected = [...el.selectedOptions].map(o => oneLine(o.label || o.text, 200));
  }
  if (kind === 'list') {
    out.value = oneLine(isInput(el) ? el.value : /** @type {HTMLElement} */ (el).innerText, 200);
  }
  const input = /** @type {HTMLInputElement} */ (el);
  if (input.willValidate && input.validity && !input.validity.valid) out.invalid = oneLine(input.validationMessage, 160);
  return out;
}

/**
 * @param {Element} el
 * @returns {boolean | 'mixed'}
 */
function checkedOf(el) {
  if (isInput(el)) return el.indeterminate ? 'mixed' : el.checked;
  const said = el.getAttribute('aria-checked') ?? el.getAttribute('aria-pressed');
  return said === 'mixed' ? 'mixed' : said === 'true';
}

/** @param {Element} el */
function bringIntoView(el) {
  const box = el.getBoundingClientRect();
  const outside = box.bottom <= 0 || box.top >= view.innerHeight || box.right <= 0 || box.left >= view.innerWidth;
  if (outside) el.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
}

/** @param {Element} el */
function hasFocus(el) {
  return document.hasFocus() && focusedElement(rootsOf(el)) === el;
}

/**
 * @param {Element} el
 * @param {string} kind
 * @param {boolean} all the whole content, or only the place behind it
 */
function selectContent(el, kind, all) {
  // What the page draws itself, only its own keys select.
  if (dom.editContext(el)) return;
  if (kind === 'editable') {
    document.execCommand('selectAll');
    if (!all) getSelection()?.collapseToEnd();
    return;
  }
  if (!(isInput(el) || isTextArea(el))) return;
  if (all) {
    el.select();
    return;
  }
  try {
    el.setSelectionRange(el.value.length, el.value.length);
  } catch {
    // E-mail and number fields have no caret to set; the focus leaves it at the end after this.
    const value = el.value;
    el.value = '';
    el.value = value;
  }
}

/**
 * For fields whose parts a keyboard fills one by one in an order that depends on the language.
 * @param {HTMLInputElement} el
 * @param {string} asked
 * @returns {{wanted: string, wrong?: undefined} | {wrong: string}} the value as such a field writes it, or what is
 *   wrong with it
 */
function setDirectly(el, asked) {
  let value = asked.trim();
  if (el.type === 'datetime-local') value = value.replace(' ', 'T');
  if (el.type === 'color' && value) {
    const brush = document.createElement('canvas').getContext('2d');
    if (brush) {
      brush.fillStyle = '#010203';
      brush.fillStyle = value;
      value = brush.fillStyle === '#010203' && value.toLowerCase() !== '#010203' ? 'none' : brush.fillStyle;
    }
  }
  const form = /** @type {Record<string, string>} */ ({
    date: '2031-04-09', time: '17:45', 'datetime-local': '2031-04-08T17:45', month: '2031-04', week: '2031-W15',
    color: '#3366ff', range: '35', number: '35',
  })[el.type];
  // The browser drops what it cannot read: tried on a field of the same type outside the page.
  const trial = document.createElement('input');
  trial.type = el.type;
  trial.value = value;
  const fallsBack = el.type === 'range' ? !Number.isFinite(Number(value)) || value === '' : el.type === 'color' && value === 'none';
  if (fallsBack || (value !== '' && trial.value === '')) {
    return { wrong: `A ${el.type} field takes values like ${form}, not ${JSON.stringify(oneLine(asked, 40))}.` };
  }
  // Sliders stay as asked: what their limits make of it is another number.
  if (!/^(range|number)$/.test(el.type)) value = trial.value;
  if (el.value === value) return { wanted: value };
  el.value = value;
  el.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertReplacementText', data: value }));
  el.dispatchEvent(new Event('change', { bubbles: true }));
  return { wanted: value };
}
