// Every text people read comes from `_locales`.

/** Texts of a language that is not the browser's. @type {Record<string, {message: string}> | null} */
let texts = null;
let chosen = '';

/**
 * Texts from now on in this language, whatever the browser's is.
 * @param {'auto' | 'en' | 'zh_CN'} language
 */
export async function useLanguage(language) {
  if (language === 'auto') return;
  const module = await import(chrome.runtime.getURL(`_locales/${language}/messages.json`), { with: { type: 'json' } });
  texts = module.default;
  chosen = language.replace('_', '-');
}

/**
 * @param {string} key
 * @param {...(string | number)} values   what replaces $1, $2 …
 */
export function t(key, ...values) {
  const own = texts?.[key]?.message.replace(/\$(\$|\d)/g, (_, place) => (place === '$' ? '$' : String(values[Number(place) - 1] ?? '')));
  return own || chrome.i18n.getMessage(key, values.map(String)) || key;
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
  document.documentElement.lang = locale();
}

const locale = () => chosen || chrome.i18n.getUILanguage();

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

/**
 * "5 Mar, 14:02", with the year when it is another.
 * @param {number} ms   since 1970
 */
export function moment(ms) {
  const date = new Date(ms);
  const year = date.getFullYear() === new Date().getFullYear() ? {} : /** @type {const} */ ({ year: 'numeric' });
  return new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', ...year }).format(date);
}

/**
 * "5 minutes ago"
 * @param {number} ms   since 1970
 */
export function since(ms) {
  const seconds = Math.round((ms - Date.now()) / 1000);
  /** @type {[Intl.RelativeTimeFormatUnit, number][]} */
  const units = [['day', 86_400], ['hour', 3600], ['minute', 60]];
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(Math.trunc(seconds / length), unit);
}

/**
 * "812 B", "3.4 kB", "12 MB"
 * @param {number} bytes
 */
export function size(bytes) {
  const step = bytes < 1000 ? 0 : bytes < 1_000_000 ? 1 : 2;
  const unit = /** @type {const} */ (['byte', 'kilobyte', 'megabyte'])[step] ?? 'byte';
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(bytes / 1000 ** step);
}
