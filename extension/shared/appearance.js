// Theme, language and mascot as the person set them, for every page of the extension.
import { useLanguage } from './i18n.js';
import { readSettings, watchSettings } from './settings.js';

/** @import { Settings } from './settings.js' */

/** @param {Settings} settings */
function dress(settings) {
  document.documentElement.dataset['theme'] = settings.theme;
  document.documentElement.toggleAttribute('data-no-mascot', !settings.mascot);
}

/** To be awaited before a page writes its texts. A page without its settings looks as it does by default. */
export async function useAppearance() {
  try {
    const settings = await readSettings();
    dress(settings);
    await useLanguage(settings.language);
    let language = settings.language;
    watchSettings((changed) => {
      dress(changed);
      // Texts are written all over the page: it is written anew, with what was typed kept by the page itself.
      if (changed.language !== language) location.reload();
      language = changed.language;
    });
  } catch (error) {
    console.warn('the settings could not be read', error);
  }
}
