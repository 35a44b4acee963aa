// Every text people read comes from `_locales`.

/**
 * @param {string} key
 * @param {...(string | number)} values   what replaces $1, $2 …
 */
export function t(key, ...values) {
  return chrome.i18n.getMessage(key, values.map(String)) || key;
}

/**
 * Fills a page's fixed texts: `data-i18n` is the text, `data-i18n-label` the accessible name and tooltip,
 * `data-i18n-placeholder` what an empty field shows.
 * @param {ParentNode} root
 */
export function translate(root) {
  for (const element of root.querySelectorAll('[data-i18n]')) {
    element.textContent = t(element.getAttribute('data-i18n') ?? '');
  }
  for (const element of root.querySelectorAll('[data-i18n-label]')) {
    const label = t(element.getAttribute('data-i18n-label') ?? '');
    element.setAttribute('aria-label', label);
    if (element.matches('button')) element.setAttribute('title', label);
  }
  for (const element of root.querySelectorAll('[data-i18n-placeholder]')) {
    element.setAttribute('placeholder', t(element.getAttribute('data-i18n-placeholder') ?? ''));
  }
  document.documentElement.lang = chrome.i18n.getUILanguage();
}

const locale = () => chrome.i18n.getUILanguage();

/**
 * "40 ms", "8.2 s", "1 min 20 s"
 * @param {number} ms
 */
export function duration(ms) {
  if (ms < 100) return t('durationMs', Math.round(ms));
  if (ms < 60_000) {
    const digits = ms < 10_000 ? 1 : 0;
    const seconds = new Intl.NumberFormat(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return t('durationSeconds', seconds.format(ms / 1000));
  }
  const total = Math.round(ms / 1000);
  return t('durationMinutes', Math.floor(total / 60), total % 60);
}

/**
 * "12,400", or "12K" from ten thousand on.
 * @param {number} count
 */
export function amount(count) {
  return new Intl.NumberFormat(locale(), count < 10_000 ? {} : { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}
