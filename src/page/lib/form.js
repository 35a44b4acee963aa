// Forms as lists of fields: what a person fills in, with the words beside each field.

const forms = (() => {
  const FIELD_ROLES = /^(combobox|textbox|searchbox|checkbox|radio|switch|slider|spinbutton)$/;
  const BUTTON_TYPES = /^(button|submit|reset|image|hidden)$/;
  const LABEL = 160;
  const VALUE = 200;
  /** More than this of a value is not read, characters. */
  const LONGEST = 1_000_000;
  const OPTIONS = 50;

  const owners = ['HTMLInputElement', 'HTMLSelectElement', 'HTMLTextAreaElement', 'HTMLButtonElement'].map(
    (type) => Object.getOwnPropertyDescriptor(/** @type {any} */ (globalThis)[type].prototype, 'form')?.get,
  );

  /**
   * The form a field belongs to: its owner, else the one around it, also outside its shadow root or frame.
   * @param {Element} element
   * @returns {Element | null}
   */
  function formOf(element) {
    for (const get of owners) {
      try {
        const owner = get?.call(element);
        if (owner) return owner;
      } catch {
        // Another kind of element.
      }
    }
    for (let at = dom.flatParent(element); at; at = dom.flatParent(at)) {
      if (dom.tag(at) === 'form' || names.role(at) === 'form') return at;
    }
    return null;
  }

  /** @param {Candidate} candidate */
  function isField({ element, tag, role, kind }) {
    if (kind !== 'control') return false;
    if (tag === 'input') return !BUTTON_TYPES.test(describe.type(element, tag));
    if (tag === 'select' || tag === 'textarea' || FIELD_ROLES.test(role)) return true;
    if (tag === 'button' || role === 'button') return dom.attr(element, 'aria-haspopup') === 'listbox';
    return describe.isEditor(element);
  }

  /** What the fields around it are called together. @param {Element} element @param {Element | null} form */
  function groupOf(element, form) {
    for (let at = dom.flatParent(element); at && at !== form; at = dom.flatParent(at)) {
      const role = names.role(at);
      if (dom.tag(at) === 'fieldset' || role === 'group' || role === 'radiogroup') {
        const name = names.of(at, LABEL).name;
        if (name) return name;
      }
    }
    return '';
  }

  /** @param {Element} element @returns {Element | null} the list that a combobox opens */
  function listOf(element) {
    for (const attribute of ['aria-controls', 'aria-owns', 'list']) {
      for (const id of (dom.attr(element, attribute) ?? '').split(/\s+/)) {
        const list = id ? dom.byId(element, id) : null;
        if (list && (names.role(list) === 'listbox' || dom.tag(list) === 'datalist')) return list;
      }
    }
    return null;
  }

  /** @param {Candidate} candidate @param {string} type */
  function choicesOf({ element, tag, role }, type) {
    if (tag === 'select') {
      const { all } = describe.choices(element, OPTIONS, 80);
      return secret.hidesValue(element) ? all.map((option) => ({ ...option, selected: false })) : all;
    }
    if (role !== 'combobox' && tag !== 'button' && role !== 'button' && !(tag === 'input' && dom.has(element, 'list')))
      return undefined;
    const list = listOf(element);
    if (!list || type === 'checkbox') return undefined;
    return [...dom.findAll(list, '[role=option], option')].slice(0, OPTIONS).map((option) => ({
      value: names.cut(dom.attr(option, 'data-value') ?? dom.attr(option, 'value') ?? '', 200),
      label: names.cut(
        names.squeeze(dom.attr(option, 'aria-label') ?? dom.attr(option, 'label') ?? option.textContent ?? ''),
        80,
      ),
      selected: dom.attr(option, 'aria-selected') === 'true' && !secret.hidesValue(element),
      disabled: dom.attr(option, 'aria-disabled') === 'true',
    }));
  }

  /** A text cut so that it shows. @param {string} text */
  const shortened = (text) => (text.length > VALUE ? `${names.cut(text, VALUE)}…` : names.cut(text, VALUE));

  /**
   * What the field holds, and its whole length when that is more than is told.
   * @param {Candidate} candidate
   * @param {string} type
   * @param {boolean} isSecret
   */
  function heldBy({ element, tag }, type, isSecret) {
    const whole = describe.value(element, tag, type, LONGEST);
    return {
      value: whole === null ? (isSecret ? undefined : '') : shortened(whole),
      valueLength: whole !== null && whole.length > VALUE ? whole.length : undefined,
    };
  }

  /** @param {Candidate} candidate @param {Element | null} form */
  function field(candidate, form) {
    const { element, tag, role } = candidate;
    const type = describe.type(element, tag);
    const words = describe.states(element, tag, type);
    if (candidate.inherited.disabled && !words.includes('disabled')) words.push('disabled');
    const checked = describe.checkedState(element, tag, type);
    const isSecret = secret.hidesValue(element);
    const print = describe.fingerprint(element);
    /** @param {string} name @returns {string | undefined} */
    const attribute = (name) => shortened(dom.attr(element, name) ?? '') || undefined;
    return {
      slot: registry.slotOf(element),
      fingerprint: print,
      tag,
      type:
        role ||
        (tag === 'select'
          ? dom.has(element, 'multiple')
            ? 'select-multiple'
            : 'select-one'
          : type || (describe.isEditor(element) ? 'editor' : tag === 'button' ? 'combobox' : tag)),
      role: role || undefined,
      name: attribute('name') ?? attribute('id'),
      label: names.cut(print.name, LABEL),
      group: groupOf(element, form) || undefined,
      description: names.referenced(element, 'aria-describedby', LABEL) || undefined,
      required: words.includes('required'),
      disabled: words.includes('disabled'),
      readonly: words.includes('readonly'),
      invalid: words.includes('invalid') || undefined,
      secret: isSecret || undefined,
      checked: checked === null ? undefined : checked === 'mixed' ? 'mixed' : checked === 'checked',
      ...(checked === null && tag !== 'select' ? heldBy(candidate, type, isSecret) : {}),
      option: type === 'radio' || type === 'checkbox' ? attribute('value') : undefined,
      options: choicesOf(candidate, type),
      placeholder: attribute('placeholder'),
      maxLength: number(element, 'maxlength'),
      minLength: number(element, 'minlength'),
      min: attribute('min'),
      max: attribute('max'),
      step: attribute('step'),
      pattern: attribute('pattern'),
      accept: attribute('accept'),
    };
  }

  /** @param {Element} element @param {string} name */
  function number(element, name) {
    const value = Number.parseInt(dom.attr(element, name) ?? '', 10);
    return Number.isFinite(value) && value >= 0 ? value : undefined;
  }

  /** @param {Candidate[]} candidates @param {Element | null} form */
  function submitOf(candidates, form) {
    const isSubmit = (/** @type {Candidate} */ { element, tag, kind }) =>
      kind === 'control' &&
      ((tag === 'button' && !/^(button|reset)$/.test(dom.attr(element, 'type') ?? '')) ||
        (tag === 'input' && /^(submit|image)$/.test(describe.type(element, tag)))) &&
      dom.attr(element, 'aria-haspopup') === null &&
      formOf(element) === form;
    const found = form ? candidates.find(isSubmit) : undefined;
    return found
      ? {
          slot: registry.slotOf(found.element),
          fingerprint: describe.fingerprint(found.element),
          text: names.cut(describe.nameOf(found.element).name, 80),
        }
      : null;
  }

  /**
   * All forms of this world, and the fields outside of forms as one more.
   * @param {number} inside slot of an element whose form is wanted, or 0
   */
  function read(inside) {
    const candidates = snapshot.shown();
    const anchor = inside ? registry.element(inside) : null;
    const wanted = anchor && dom.isElement(anchor) ? (dom.tag(anchor) === 'form' ? anchor : formOf(anchor)) : undefined;
    /** @type {Map<Element | null, Candidate[]>} */
    const byForm = new Map();
    for (const candidate of candidates) {
      if (!isField(candidate)) continue;
      const form = formOf(candidate.element);
      const list = byForm.get(form);
      if (list) list.push(candidate);
      else byForm.set(form, [candidate]);
    }
    return [...byForm].map(([form, list]) => ({
      form: form && {
        id: dom.attr(form, 'id') ?? undefined,
        name: dom.attr(form, 'name') ?? undefined,
        action: dom.attr(form, 'action') ?? undefined,
        method: dom.attr(form, 'method') ?? undefined,
        label: names.of(form, 80).name || undefined,
      },
      wanted: wanted !== undefined && wanted === form,
      fields: list.slice(0, 300).map((candidate) => field(candidate, form)),
      more: Math.max(0, list.length - 300),
      submit: submitOf(candidates, form),
    }));
  }

  return { read, formOf };
})();

registry.define('readForms', forms.read);
