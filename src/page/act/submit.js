/**
 * The form that this element belongs to: how to send it, sending it, what is wrong with its fields.
 * @this {Element}
 * @param {{op: 'plan' | 'send' | 'look'}} args
 */
function submit(args) {
  const form = dom.tag(this) === 'form' ? this : forms.formOf(this);
  if (!form) {
    return { class: 'bad_argument', error: 'This element is in no form. Take the number of a field of the form, or press its button with click_index.' };
  }
  const native = dom.tag(form) === 'form';
  if (args.op === 'plan') return { native, ...buttonOf(this, form) };
  if (args.op === 'send') {
    if (!native) return { class: 'bad_argument', error: 'This form has no button that sends it, and is none that the browser can send.' };
    view.HTMLFormElement.prototype.requestSubmit.call(form);
    return { native };
  }
  const fields = partsOf(form).filter(part => !isButton(part));
  const constrained = (/** @type {any} */ part) => part.willValidate && part.validity && !part.validity.valid;
  const wrong = fields.filter(part => constrained(part) || dom.attr(part, 'aria-invalid') === 'true');
  return {
    native,
    validates: native && !dom.has(form, 'novalidate'),
    refused: fields.some(constrained),
    invalid: wrong.slice(0, 30).map(part => ({
      ...named(part),
      message: oneLine(/** @type {any} */ (part).validationMessage || names.referenced(part, 'aria-errormessage', 200)
        || names.referenced(part, 'aria-describedby', 200), 200),
    })),
  };
}

/**
 * What belongs to a form, wherever it stands: image buttons are not in the form's own list.
 * @param {Element} form
 * @returns {Element[]}
 */
function partsOf(form) {
  if (dom.tag(form) !== 'form') return [...form.querySelectorAll('input,select,textarea,button')];
  const elements = Object.getOwnPropertyDescriptor(view.HTMLFormElement.prototype, 'elements')?.get?.call(form) ?? [];
  const root = /** @type {Document | ShadowRoot} */ (dom.rootOf(form));
  const images = [...root.querySelectorAll('input[type=image]')].filter(image => /** @type {HTMLInputElement} */ (image).form === form);
  return [...elements, ...images];
}

/** @param {Element} part */
function isButton(part) {
  return dom.tag(part) === 'button' || (isInput(part) && /^(submit|image|button|reset)$/.test(part.type));
}

/** @param {Element} part */
function sends(part) {
  return isButton(part) && /^(submit|image)$/.test(/** @type {HTMLInputElement} */ (part).type);
}

/** @param {Element} part */
function named(part) {
  return { slot: registry.slotOf(part), fingerprint: describe.fingerprint(part), text: names.cut(describe.nameOf(part).name, 80) };
}

/**
 * The one button that sends the form, or those among which it cannot be told.
 * @param {Element} asked
 * @param {Element} form
 */
function buttonOf(asked, form) {
  const chosen = (/** @type {Element} */ part) => ({ button: named(part), skips: dom.has(part, 'formnovalidate') });
  if (sends(asked)) return chosen(asked);
  const all = partsOf(form).filter(part => sends(part) && (isDrawn(part) || standIn(part)));
  const alive = all.filter(part => !standstill(part));
  if (!alive.length) {
    return all[0] ? { class: 'disabled', error: `The button ${inWords(all[0])} that sends the form is disabled. Fill in what the form still asks for.` } : {};
  }
  // "Cancel" and "save as draft" skip the checks; a button without a type may be one that its author forgot to call one.
  const checks = alive.filter(part => !dom.has(part, 'formnovalidate') && dom.attr(part, 'formmethod') !== 'dialog');
  const left = checks.length ? checks : alive;
  const said = left.filter(part => /^(submit|image)$/i.test(dom.attr(part, 'type') ?? ''));
  const best = said.length === 1 ? said : left;
  return best[0] && best.length === 1 ? chosen(best[0]) : { several: best.slice(0, 12).map(named) };
}
