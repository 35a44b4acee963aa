// Theme, language, mascot.
import { byId } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { changeSettings, readSettings } from '../shared/settings.js';

/** @import { Language, Settings, Theme } from '../shared/settings.js' */

export async function showLook() {
  const theme = byId('theme', HTMLSelectElement);
  const language = byId('language', HTMLSelectElement);
  const mascot = byId('mascot', HTMLInputElement);
  const settings = await readSettings().catch(() => null);
  theme.value = settings?.theme ?? 'auto';
  language.value = settings?.language ?? 'auto';
  mascot.checked = settings?.mascot ?? true;
  theme.addEventListener('change', () => void save((changed) => (changed.theme = /** @type {Theme} */ (theme.value))));
  language.addEventListener('change', () => void save((changed) => (changed.language = /** @type {Language} */ (language.value))));
  mascot.addEventListener('change', () => void save((changed) => (changed.mascot = mascot.checked)));
}

/** @param {(settings: Settings) => void} change */
async function save(change) {
  try {
    await changeSettings(change);
    byId('look-said').textContent = t('optionsLookSaved');
  } catch (error) {
    byId('look-said').textContent = t('optionsNotSaved', /** @type {Error} */ (error).message);
  }
}
