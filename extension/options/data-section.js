// What Browy keeps on this computer: seen, exported, deleted.
import { byId, h } from '../shared/dom.js';
import { moment, size, t } from '../shared/i18n.js';

/** @import { ChatInfo, DataListResult, StoredFile, StoredNote } from '../shared/protocol.js' */
/** @import { Requests } from '../shared/requests.js' */

export class DataSection {
  /** @param {Requests} requests */
  constructor(requests) {
    this.requests = requests;
    /** @type {DataListResult | null} */
    this.kept = null;
    /** @type {ChatInfo[]} */
    this.chats = [];
    byId('data-export').addEventListener('click', () => this.export());
    this.show();
  }

  async refresh() {
    try {
      this.kept = await this.requests.ask('data.list');
      this.chats = (await this.requests.ask('chat.list')).chats;
      this.say(this.kept?.error ?? (this.kept?.more ? t('optionsDataMore') : ''));
    } catch (error) {
      this.say(/** @type {Error} */ (error).message);
    }
    this.show();
  }

  show() {
    byId('data-folder').textContent = this.kept?.folder ?? '';
    byId('data-export', HTMLButtonElement).disabled = this.kept === null;
    fill('notes', (this.kept?.notes ?? []).map((note) => this.note(note)), this.kept !== null);
    fill('files', (this.kept?.files ?? []).map((file) => this.file(file)), this.kept !== null);
    fill('chats', this.chats.map((chat) => this.chat(chat)), this.kept !== null);
  }

  /** @param {StoredNote} note */
  note(note) {
    const from = [note.origin, note.updated && moment(note.updated)].filter(Boolean).join(' · ');
    return this.row(note.key, note.value, from, () => this.remove('data.delete', { kind: 'note', name: note.key }));
  }

  /** @param {StoredFile} file */
  file(file) {
    const about = [size(file.bytes), file.modified && moment(file.modified)].filter(Boolean).join(' · ');
    return this.row(file.name, '', about, () => this.remove('data.delete', { kind: 'file', name: file.name }));
  }

  /** @param {ChatInfo} chat */
  chat(chat) {
    const name = chat.summary || t('newChat');
    return this.row(name, '', moment(chat.modifiedTime), () => this.remove('chat.delete', { id: chat.id }));
  }

  /**
   * @param {string} name
   * @param {string} text
   * @param {string} about
   * @param {() => Promise<void>} remove
   */
  row(name, text, about, remove) {
    const act = async () => {
      if (await sure(t('optionsSure', name))) await remove();
    };
    return h('li', {},
      h('span', { class: 'row-name' }, name),
      h('span', { class: 'row-text' }, text, h('span', { class: 'about' }, about)),
      h('button', { type: 'button', class: 'small', 'aria-label': t('optionsDeleteNamed', name), onclick: () => void act() }, t('optionsDelete')));
  }

  /**
   * @param {string} type
   * @param {object} what
   */
  async remove(type, what) {
    let failure = '';
    try {
      const answer = await this.requests.ask(type, what);
      if (!answer.ok) failure = answer.error ?? t('noReason');
    } catch (error) {
      failure = /** @type {Error} */ (error).message;
    }
    await this.refresh();
    this.say(failure ? t('optionsNotDeleted', failure) : t('optionsDeleted'));
  }

  /** A file of everything that is listed, for whatever the person likes. */
  export() {
    const { notes = [], files = [] } = this.kept ?? {};
    const text = JSON.stringify({ notes, files, chats: this.chats }, null, 2);
    const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    h('a', { href: address, download: 'browy-data.json' }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }

  /** @param {string} words */
  say(words) {
    byId('data-said').textContent = words;
  }
}

/**
 * @param {string} id
 * @param {HTMLElement[]} rows
 * @param {boolean} known   whether the host has said what there is
 */
function fill(id, rows, known) {
  const nothing = h('li', { class: 'nothing' }, t(known ? 'optionsNothing' : 'optionsNoHost'));
  byId(id).replaceChildren(...(rows.length > 0 ? rows : [nothing]));
}

/**
 * Asks before something is deleted for good.
 * @param {string} question
 * @returns {Promise<boolean>}
 */
function sure(question) {
  const dialog = byId('sure', HTMLDialogElement);
  const form = byId('sure-form', HTMLFormElement);
  byId('sure-text').textContent = question;
  dialog.showModal();
  return new Promise((resolve) => {
    // Not its `close`, which comes later: by then the next question may be open.
    form.onsubmit = (event) => resolve(event.submitter instanceof HTMLButtonElement && event.submitter.value === 'yes');
    dialog.oncancel = () => resolve(false);
  });
}
