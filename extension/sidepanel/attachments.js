// Pictures and text files that go with the next message: pasted, dropped, shown, taken out again.
import { h } from '../shared/dom.js';
import { size, t } from '../shared/i18n.js';

/** @import { Attachment } from '../shared/protocol.js' */

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** What the host takes of one message. */
const MOST = 16;
const MAX_PICTURE = 5 * 1024 * 1024;
/** The host cuts a text at 48 KiB and says so; reading much more than that is of no use. */
const MAX_TEXT = 256 * 1024;

export class Attachments {
  /**
   * @param {object} parts
   * @param {HTMLElement} parts.strip
   * @param {HTMLTextAreaElement} parts.field   where files are pasted
   * @param {() => void} parts.changed
   * @param {(why: string) => void} parts.refused
   */
  constructor({ strip, field, changed, refused }) {
    this.strip = strip;
    this.changed = changed;
    this.refused = refused;
    /** @type {Attachment[]} */
    this.list = [];
    field.addEventListener('paste', (event) => this.take(event, event.clipboardData?.files));
    document.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    document.addEventListener('drop', (event) => this.take(event, event.dataTransfer?.files));
  }

  /** @param {Event} event @param {FileList | undefined} files */
  take(event, files) {
    if (!files || files.length === 0) return;
    event.preventDefault();
    void this.add([...files]);
  }

  /** @param {File[]} files */
  async add(files) {
    for (const file of files) {
      const read = this.list.length < MOST ? await attachment(file) : t('attachTooMany', MOST);
      if (typeof read === 'string') this.refused(read);
      else this.list.push(read);
    }
    this.show();
  }

  /** What goes with the message that is sent now. @returns {Attachment[]} */
  release() {
    const list = this.list;
    this.list = [];
    this.show();
    return list;
  }

  /** Those of a message that did not get through. @param {Attachment[]} list */
  giveBack(list) {
    this.list = [...list, ...this.list].slice(0, MOST);
    this.show();
  }

  show() {
    this.strip.replaceChildren(...this.list.map((each) => this.chip(each)));
    this.strip.hidden = this.list.length === 0;
    this.changed();
  }

  /** @param {Attachment} each */
  chip(each) {
    const name = each.name ?? t('picture');
    const remove = () => {
      this.list = this.list.filter((other) => other !== each);
      this.show();
    };
    return h('li', { class: 'chip' }, preview(each), h('span', { class: 'chip-name' }, name),
      h('button', { type: 'button', class: 'chip-remove', 'aria-label': t('attachRemove', name), onclick: remove }, '✕'));
  }
}

/** A small picture of a picture. @param {Attachment} each */
function preview(each) {
  if (each.kind !== 'image') return null;
  return h('img', { class: 'chip-picture', alt: '', src: `data:${each.mimeType};base64,${each.data}` });
}

/**
 * @param {File} file
 * @returns {Promise<Attachment | string>} why not, in words
 */
async function attachment(file) {
  if (PICTURES.has(file.type)) {
    if (file.size > MAX_PICTURE) return t('attachTooLarge', file.name, size(MAX_PICTURE));
    return { kind: 'image', name: file.name, mimeType: file.type, data: await base64(file) };
  }
  if (file.size > MAX_TEXT) return t('attachTooLarge', file.name, size(MAX_TEXT));
  const text = await file.text();
  // What cannot be read as text has marks for what is no character.
  if (/[\0\uFFFD]/.test(text)) return t('attachUnknown', file.name);
  return { kind: 'text', name: file.name, text };
}

/** @param {File} file @returns {Promise<string>} */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/**
 * How a message shows what went with it.
 * @param {Attachment[]} list
 */
export function shownIn(list) {
  return list.map((each) =>
    each.kind === 'image'
      ? h('img', { class: 'picture', alt: each.name ?? t('picture'), src: `data:${each.mimeType};base64,${each.data}` })
      : h('p', { class: 'attached' }, `📎 ${each.name ?? ''}`));
}
