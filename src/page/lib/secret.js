// Fields whose value never leaves the page, not even its length, and into which nobody but the person types.

const secret = (() => {
  const DECLARED = /^(current-password|new-password|one-time-code|cc-number|cc-csc|cc-exp|cc-exp-month|cc-exp-year)$/;
  /** Kinds of input that hold no typed secret whatever they are called: "Show password", "E-mail for a new password". */
  const ORDINARY = /^(checkbox|radio|button|submit|reset|image|hidden|file|range|color|email|url|search|date|time|datetime-local|month|week)$/;
  /** Words of secrets, in names of fields and in what people read beside them. Letters before or after make another word. */
  const WORDS = new RegExp(
    [
      'passw|pass ?(?:phrase|code)s?(?!\\p{L})|pwd',
      'kennwort|contrase(?:ñ|n)a|mot de passe|(?<!\\p{L})senha(?!\\p{L})|парол|密码|密碼|パスワード|暗証番号|비밀번호',
      '(?<!\\p{L})(?:cvv|cvc|csc|cvn)(?:code|num(?:ber)?)?(?!\\p{L})',
      '(?<!\\p{L})(?:t?otp|2fa|mfa|mtan)(?:code)?(?!\\p{L})|(?<!\\p{L})one ?time(?! (?:donation|payment|purchase|gift|amount|fee|order|event|offer|discount|set))',
      '(?:security|verification|authentication|authenticator|2 ?step|two ?factor|sms|log ?in|sign ?in) ?code(?!\\p{L})',
      '\\d ?digit (?:[a-z]+ )?code|(?<!\\p{L})code (?:we|that we|you were) ',
      'sicherheits ?code|best(?:ä|ae)tigungs ?code|pr(?:ü|ue)f(?:nummer|ziffer)|c(?:ó|o)digo de (?:seguridad|verificaci|verifica|seguran)',
      'code de (?:s(?:é|e)curit|v(?:é|e)rif)|codice di (?:sicurezza|verifica)|验证码|驗證碼|校验码|安全码|認証コード|確認コード|인증번호',
      '(?<!\\p{L})(?<!(?:loyalty|library|member|membership|student|business|score|report|id|identity|club) )card ?(?:no|num|number|nr)(?!\\p{L})',
      '(?<!\\p{L})cc ?(?:no|num|number)(?!\\p{L})|karten ?nummer|n(?:ú|u)mero de (?:la )?tarjeta|num(?:é|e)ro de (?:la )?carte|卡号|卡號|カード番号|카드번호',
      '(?<!\\p{L})(?<!drop (?:a )?)pin(?!\\p{L})(?! (?:to|it|on|location|board|map))',
    ].join('|'),
    'iu',
  );
  /** Names that speak of a secret but ask for something else. */
  const ELSE =
    /user ?name(?!\p{L})|(?:e ?mail|user|hint|question|strength|length)$|^(?:your |enter (?:your )?)?(?:e ?mail|mobile|phone|telephone)(?: (?:number|address))* ?(?:[(:,–—/]|and |or |for |$)|post(?:al)?(?!\p{L}).*pin|pin.*post(?:al)?(?!\p{L})/iu;
  /** What says which part of a whole a field is, and nothing of what the whole is. */
  const POSITION =
    /^(?:(?:digit|character|char|box|part|block|field|input|number|first|second|third|fourth|last|of|current|old|new|repeat|confirm|again|\d+)(?!\p{L})|[\s,.#/()-])*$/iu;
  const CODE = /(?<!\p{L})(?:codes?|pin|t?otp)(?!\p{L})|码|コード/iu;
  const OTHER_CODE =
    /discount|promo|coupon|voucher|gift|country|post|zip|area|dial|product|invit|referral|booking|sort|邮|郵/i;
  /** Fields that ever were secret in this document: a "show password" switch does not change what they hold. @type {WeakSet<Element>} */
  const known = new WeakSet();

  /** Drawn as dots by the style; inherited. @param {CSSStyleDeclaration} style */
  const masks = (style) => (style.getPropertyValue('-webkit-text-security') || 'none') !== 'none';

  /**
   * A text field that chooses from a list: `new-password` is there to keep the browser from filling it in.
   * @param {Element} element
   */
  const isChooser = (element) =>
    dom.tag(element) === 'input' &&
    (names.role(element) === 'combobox' ||
      /^(list|both)$/.test(dom.attr(element, 'aria-autocomplete') ?? '') ||
      dom.attr(element, 'aria-haspopup') === 'listbox');

  /** What `autocomplete` says of the content. @param {Element} element */
  function autocomplete(element) {
    const told = (dom.attr(element, 'autocomplete') ?? '').toLowerCase();
    return told.trim() === 'new-password' && isChooser(element) ? '' : told;
  }

  /** @param {Element} element */
  function declared(element) {
    if (known.has(element)) return true;
    const tag = dom.tag(element);
    const field = /^(input|textarea|select)$/.test(tag);
    if (!field && !(dom.isHtml(element) && dom.editable(element)) && !dom.has(element, 'role')) return false;
    const tokens = field ? autocomplete(element).split(/\s+/) : [];
    const yes =
      (tag === 'input' && (dom.attr(element, 'type') ?? '').toLowerCase() === 'password') ||
      tokens.some((token) => DECLARED.test(token)) ||
      masks(dom.style(element));
    if (yes) known.add(element);
    return yes;
  }

  /** `cardNumber`, `card_number` and `Card number` are the same words. @param {string} text */
  const words = (text) =>
    text
      .replace(/(\p{Ll}|\d)(?=\p{Lu})/gu, '$1 ')
      .replace(/[-_.:[\]\s]+/g, ' ')
      .trim();

  /** @param {string} text */
  function tells(text) {
    const plain = words(text);
    return plain !== '' && WORDS.test(plain) && !ELSE.test(plain);
  }

  /** What the fields around it are called together. @param {Element} element */
  function groupOf(element) {
    for (let at = dom.flatParent(element), depth = 0; at && depth < 8; at = dom.flatParent(at), depth++) {
      if (/^(form|body|main)$/.test(dom.tag(at))) return '';
      if (dom.tag(at) === 'fieldset' || /^(group|radiogroup)$/.test(names.role(at))) {
        const name = names.of(at, 160).name;
        if (name) return name;
      }
    }
    return '';
  }

  /** One of the boxes for the single characters of a code. @param {Element} element @param {string} name */
  function isCodeBox(element, name) {
    if (dom.attr(element, 'maxlength') !== '1') return false;
    for (let at = dom.flatParent(element), depth = 0; at && depth < 4; at = dom.flatParent(at), depth++) {
      if (dom.findAll(at, 'input[maxlength="1"]').length < 4) continue;
      const told = [groupOf(element), names.of(at, 160).name, names.nearby(at, 80), name].map(words);
      return told.some((text) => CODE.test(text)) && !told.some((text) => OTHER_CODE.test(text));
    }
    return false;
  }

  /** @param {Element} element */
  function looksSecret(element) {
    const tag = dom.tag(element);
    if (tag !== 'input' && tag !== 'textarea') return false;
    if (tag === 'input' && ORDINARY.test((dom.attr(element, 'type') ?? '').toLowerCase())) return false;
    if (/(?:^|\s)(?:postal-code|username|email)$/i.test(dom.attr(element, 'autocomplete') ?? '')) return false;
    const given = ['name', 'id', 'aria-label', 'placeholder', 'title'].map((each) => dom.attr(element, each) ?? '');
    if ([...given, autocomplete(element)].some(tells)) return true;
    const { name } = names.of(element, 200);
    return tells(name) || (POSITION.test(words(name)) && tells(groupOf(element))) || isCodeBox(element, name);
  }

  // Catches fields whose type is switched between two views.
  new MutationObserver((records) => {
    for (const record of records) {
      if (record.oldValue?.toLowerCase() === 'password') known.add(/** @type {Element} */ (record.target));
    }
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ['type'], attributeOldValue: true });

  const shown = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.get;
  const written = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')?.get;
  /** Shorter ones are the words of other things, too. */
  const LEAST = 4;

  /**
   * Takes what secret fields hold now out of texts that others wrote: pages copy values into attributes beside the
   * field, and the browser puts them into names. Nothing of the values leaves the page.
   * @returns {(text: string) => string}
   */
  function scrubber() {
    /** @type {Set<string>} */
    const values = new Set();
    for (const root of dom.roots()) {
      for (const field of dom.all(root, 'input, textarea, [contenteditable]')) {
        const tag = dom.tag(field);
        const get = tag === 'input' ? shown : tag === 'textarea' ? written : null;
        const held = [get ? get.call(field) : (field.textContent ?? ''), get && dom.attr(field, 'value')];
        const long = held.filter((value) => value && value.trim().length >= LEAST);
        if (long.length > 0 && hidesValue(field)) for (const value of long) values.add(String(value).trim());
      }
    }
    if (values.size === 0) return (text) => text;
    // The longest first: one may be a part of another.
    const all = [...values].sort((a, b) => b.length - a.length);
    return (text) => all.reduce((left, value) => left.replaceAll(value, '[secret]'), text);
  }

  /** @param {Element} element */
  const hidesValue = (element) => declared(element) || looksSecret(element);

  return {
    scrubber,
    /** Text in this style is drawn as dots and is not read. */
    masks,
    /**
     * The one rule: declared to be secret, now or before, or called like a secret. The agent neither reads nor
     * writes it.
     */
    hidesValue,
  };
})();
