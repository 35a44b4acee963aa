// What an element is and what state it is in, in the words of the view.

const describe = (() => {
  /** Longest name in a fingerprint, characters. */
  const NAME = 200;
  const VALUE = 160;
  const OPTIONS = 12;

  /** @param {string} of @param {string} name @returns {(e: Element) => any} */
  const getter = (of, name) => {
    const get = Object.getOwnPropertyDescriptor(/** @type {any} */ (globalThis)[of].prototype, name)?.get;
    if (!get) throw new Error(`no ${of}.${name}`);
    return Function.prototype.call.bind(get);
  };
  const inputValue = getter('HTMLInputElement', 'value');
  const areaValue = getter('HTMLTextAreaElement', 'value');
  const checked = getter('HTMLInputElement', 'checked');
  const indeterminate = getter('HTMLInputElement', 'indeterminate');
  const inputType = getter('HTMLInputElement', 'type');
  const buttonType = getter('HTMLButtonElement', 'type');
  const options = getter('HTMLSelectElement', 'options');
  const optionText = getter('HTMLOptionElement', 'label');
  const optionOn = getter('HTMLOptionElement', 'selected');
  const optionValue = getter('HTMLOptionElement', 'value');
  const anchorHref = getter('HTMLAnchorElement', 'href');
  const active = getter('Document', 'activeElement');
  const activeIn = getter('ShadowRoot', 'activeElement');

  /** Controls inside a clickable box, whose words are theirs and not the box's. @type {WeakMap<Element, WeakSet<Element>>} */
  const apart = new WeakMap();

  /** Boxes listed because they scroll: the words inside are not theirs. @type {WeakSet<Element>} */
  const boxes = new WeakSet();

  /** @param {Element} element @param {string} tag */
  function type(element, tag) {
    if (tag === 'input') return String(inputType(element));
    if (tag === 'button') return dom.has(element, 'type') ? String(buttonType(element)) : '';
    return '';
  }

  /** The name, and whether it is the element's own text. @param {Element} element */
  function nameOf(element) {
    if (boxes.has(element)) return { name: names.of(element, NAME).name, content: false };
    const inner = apart.get(element);
    const skip = inner ? (/** @type {Element} */ part) => inner.has(part) : undefined;
    const found = names.of(element, NAME, skip);
    if (found.name || /^(input|select|textarea|iframe|frame|html|body)$/.test(dom.tag(element))) return found;
    if (/^(combobox|textbox|searchbox|listbox|slider|spinbutton)$/.test(names.role(element)) || isEditor(element))
      return found;
    return { name: names.textOf(element, NAME, skip), content: true };
  }

  /** @param {Element} element */
  const isEditor = (element) => dom.isHtml(element) && dom.editable(element);

  /** What is compared before every action. @param {Element} element */
  function fingerprint(element) {
    const tag = dom.tag(element);
    return {
      tag,
      role: names.role(element),
      type: type(element, tag),
      name: nameOf(element).name,
      href: names.cut(dom.attr(element, 'href') ?? '', 500),
    };
  }

  /**
   * The element with the focus, also inside shadow roots and frames.
   * @param {Document} of
   * @returns {Element | null}
   */
  function focused(of) {
    /** @type {Element | null} */
    let at = active(/** @type {any} */ (of));
    for (let depth = 0; at && depth < 50; depth++) {
      const root = dom.shadow(at);
      const document = dom.shown(at);
      const inner = root
        ? activeIn(/** @type {any} */ (root))
        : document
          ? active(/** @type {any} */ (document))
          : null;
      if (!inner) break;
      at = inner;
    }
    return at;
  }

  /** @param {Element} element @param {string} name */
  const isTrue = (element, name) => dom.attr(element, name) === 'true';

  /** @param {Element} element @param {string} tag @param {string} kind @returns {string[]} */
  function states(element, tag, kind) {
    /** @type {string[]} */
    const words = [];
    const add = (/** @type {boolean} */ on, /** @type {string} */ word) => void (on && words.push(word));
    const native = /^(input|select|textarea|button)$/.test(tag);
    add((native && dom.matches(element, ':disabled')) || isTrue(element, 'aria-disabled'), 'disabled');
    add(
      (/^(input|textarea)$/.test(tag) && dom.has(element, 'readonly')) || isTrue(element, 'aria-readonly'),
      'readonly',
    );
    add((native && tag !== 'button' && dom.has(element, 'required')) || isTrue(element, 'aria-required'), 'required');
    const invalid = dom.attr(element, 'aria-invalid');
    add(
      (invalid !== null && invalid !== 'false' && invalid !== '') || (native && dom.matches(element, ':user-invalid')),
      'invalid',
    );
    add(isTrue(element, 'aria-busy'), 'busy');
    const expanded = dom.attr(element, 'aria-expanded');
    if (expanded === 'true' || expanded === 'false') add(true, expanded === 'true' ? 'expanded' : 'collapsed');
    else if (tag === 'summary') {
      const details = dom.parent(element);
      add(true, details && dom.isElement(details) && dom.has(details, 'open') ? 'expanded' : 'collapsed');
    }
    const on = checkedState(element, tag, kind);
    if (on) words.push(on);
    add(isTrue(element, 'aria-selected'), 'selected');
    const pressed = dom.attr(element, 'aria-pressed');
    add(pressed === 'true' || pressed === 'mixed', 'pressed');
    add(tag === 'select' && dom.has(element, 'multiple'), 'multiple');
    add(isEditor(element), 'editable');
    add(dom.isClosedHost(element), 'closed-shadow');
    return words;
  }

  /**
   * @param {Element} element
   * @param {string} tag
   * @param {string} kind
   * @returns {"checked" | "unchecked" | "mixed" | null}
   */
  function checkedState(element, tag, kind) {
    if (tag === 'input' && (kind === 'checkbox' || kind === 'radio')) {
      return indeterminate(element) ? 'mixed' : checked(element) ? 'checked' : 'unchecked';
    }
    const aria = dom.attr(element, 'aria-checked');
    if (aria === 'mixed') return 'mixed';
    return aria === 'true' ? 'checked' : aria === 'false' ? 'unchecked' : null;
  }

  /**
   * What a field holds now; `null` when it holds nothing that may be told.
   * @param {Element} element
   * @param {string} tag
   * @param {string} kind
   * @param {number} cap
   * @returns {string | null}
   */
  function value(element, tag, kind, cap) {
    if (tag === 'input') {
      if (/^(checkbox|radio|button|submit|reset|image|hidden|password)$/.test(kind) || secret.hidesValue(element))
        return null;
      return names.cut(String(inputValue(element)).slice(0, cap * 4), cap) || null;
    }
    if (tag === 'textarea')
      return secret.hidesValue(element) ? null : names.cut(String(areaValue(element)).slice(0, cap * 4), cap) || null;
    if (tag === 'select') return null;
    if (secret.hidesValue(element)) return null;
    const told = dom.attr(element, 'aria-valuetext') ?? dom.attr(element, 'aria-valuenow');
    if (told) return names.cut(told, cap);
    // What is around the cursor, and behind what the page draws.
    if (dom.editContext(element)) return null;
    if (isEditor(element) || /^(combobox|textbox|searchbox|spinbutton)$/.test(names.role(element)))
      return names.textOf(element, cap) || null;
    return null;
  }

  /** @param {Element} select @param {number} most @param {number} cap */
  function choices(select, most, cap) {
    const list = options(select);
    /** @type {{ value: string, label: string, selected: boolean, disabled: boolean }[]} */
    const all = [];
    /** @type {string[]} */
    const chosen = [];
    for (let at = 0; at < list.length && at < 5_000; at++) {
      const option = list[at];
      const label = names.cut(names.squeeze(String(optionText(option))), cap);
      const selected = Boolean(optionOn(option));
      if (selected) chosen.push(label);
      if (all.length < most) {
        all.push({
          value: names.cut(String(optionValue(option)), 200),
          label,
          selected,
          disabled: dom.matches(option, ':disabled'),
        });
      }
    }
    return { all, chosen, more: Math.max(0, list.length - all.length) };
  }

  /**
   * An address as it can be used again: short for this origin.
   * @param {Element} element
   * @param {string} tag
   */
  function address(element, tag) {
    const raw = dom.attr(element, 'href');
    if (raw === null || tag !== 'a' || !dom.isHtml(element)) return '';
    const full = String(anchorHref(element));
    if (/^(javascript|data|blob):/i.test(full)) return '';
    const here = location.href.split('#')[0] ?? '';
    if (full.startsWith(`${here}#`)) return full.slice(here.length);
    if (full.startsWith(`${location.origin}/`) && location.origin !== 'null') return full.slice(location.origin.length);
    return full;
  }

  return {
    NAME,
    VALUE,
    OPTIONS,
    apart,
    boxes,
    type,
    nameOf,
    fingerprint,
    focused,
    states,
    checkedState,
    value,
    choices,
    address,
    isEditor,
    inputValue,
    areaValue,
    checked,
  };
})();
