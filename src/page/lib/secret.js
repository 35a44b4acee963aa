// Fields whose value never leaves the page, not even its length.

const secret = (() => {
  const DECLARED = /^(current-password|new-password|one-time-code|cc-number|cc-csc|cc-exp|cc-exp-month|cc-exp-year)$/;
  const LOOKS =
    /passw|passphrase|passcode|\bpwd\b|\bcvv|\bcvc\b|\bcsc\b|one.?time|\botp\b|\btotp\b|\b2fa\b|security.?code|verification.?code|card.?num|\bcc.?num/i;
  /** Fields that ever were secret in this document: a "show password" switch does not change what they hold. @type {WeakSet<Element>} */
  const known = new WeakSet();

  /** @param {Element} element */
  function declared(element) {
    if (known.has(element)) return true;
    const tag = dom.tag(element);
    if (tag !== 'input' && tag !== 'textarea') return false;
    const tokens = (dom.attr(element, 'autocomplete') ?? '').toLowerCase().split(/\s+/);
    const yes =
      (dom.attr(element, 'type') ?? '').toLowerCase() === 'password' ||
      tokens.some((token) => DECLARED.test(token)) ||
      (dom.style(element).getPropertyValue('-webkit-text-security') || 'none') !== 'none';
    if (yes) known.add(element);
    return yes;
  }

  /** @param {Element} element */
  function looksSecret(element) {
    return ['name', 'id', 'aria-label', 'placeholder', 'autocomplete'].some((name) =>
      LOOKS.test(dom.attr(element, name) ?? ''),
    );
  }

  // Catches fields whose type is switched between two views.
  new MutationObserver((records) => {
    for (const record of records) {
      if (record.oldValue?.toLowerCase() === 'password') known.add(/** @type {Element} */ (record.target));
    }
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ['type'], attributeOldValue: true });

  return {
    /** Declared to be secret, now or before. The agent neither reads nor types it. */
    declared,
    /** Declared, or named like one: its value is not read. @param {Element} element */
    hidesValue: (element) => declared(element) || looksSecret(element),
  };
})();
