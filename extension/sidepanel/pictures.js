// Pictures of an earlier conversation.
import { h } from '../shared/dom.js';
import { t } from '../shared/i18n.js';

/** @import { HistoryImage } from '../shared/messages.js' */

/** What an image element may be given. */
const SHOWN = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/**
 * Each as a picture, or in words where the host had no room for it.
 * @param {HistoryImage[] | undefined} images
 * @returns {HTMLElement[]}
 */
export function pictures(images) {
  return (images ?? []).map((image) => {
    if (image.data && SHOWN.has(image.mimeType)) {
      return h('img', { class: 'picture', alt: t('picture'), src: `data:${image.mimeType};base64,${image.data}` });
    }
    return h('p', { class: 'picture-left-out' }, t('pictureLeftOut', Math.max(1, Math.round(image.bytes / 1024))));
  });
}
