// The stored chats: found, opened, renamed, deleted.
import { byId, h } from '../shared/dom.js';
import { since, t } from '../shared/i18n.js';

/** @import { ChatInfo } from '../shared/protocol.js' */
/** @import { Requests } from '../shared/requests.js' */

/** How long a deletion can be taken back. */
const UNDO_MS = 6000;

export class ChatsDrawer {
  /**
   * @param {object} around
   * @param {Requests} around.requests
   * @param {() => string} around.current   id of the chat in the panel
   * @param {(id: string, title: string) => void} around.open
   * @param {(title: string) => void} around.renamed   the chat in the panel has another title
   * @param {() => void} around.begin   a new chat
   */
  constructor({ requests, current, open, renamed, begin }) {
    this.requests = requests;
    this.current = current;
    this.openChat = open;
    this.renamed = renamed;
    this.begin = begin;
    /** @type {ChatInfo[] | null} */
    this.chats = null;
    this.failure = '';
    /** The chat that goes unless the person takes it back. @type {{id: string, timer: ReturnType<typeof setTimeout>} | null} */
    this.going = null;
    this.dialog = byId('chats', HTMLDialogElement);
    this.search = byId('chats-search', HTMLInputElement);
    this.search.addEventListener('input', () => this.show());
    byId('chats-close').addEventListener('click', () => this.dialog.close());
    byId('chats-undo').addEventListener('click', () => this.undo());
    this.dialog.addEventListener('close', () => void this.deleteNow());
    // A click beside it closes it, as the keyboard's Escape does by itself.
    this.dialog.addEventListener('click', (event) => event.target === this.dialog && this.dialog.close());
    addEventListener('pagehide', () => void this.deleteNow());
  }

  async open() {
    this.search.value = '';
    this.dialog.showModal();
    this.search.focus();
    await this.load();
  }

  async load() {
    this.failure = '';
    this.show();
    try {
      this.chats = (await this.requests.ask('chat.list')).chats;
    } catch (error) {
      this.failure = /** @type {Error} */ (error).message;
    }
    this.show();
  }

  show() {
    const words = this.search.value.trim().toLowerCase();
    const chats = (this.chats ?? []).filter((chat) => chat.id !== this.going?.id);
    const found = chats.filter((chat) => titleOf(chat).toLowerCase().includes(words));
    byId('chats-list').replaceChildren(...found.map((chat) => this.row(chat)));
    const state = this.failure || (this.chats === null ? t('chatsLoading') : chats.length === 0 ? t('chatsNone') : found.length === 0 ? t('chatsNoMatch') : '');
    byId('chats-state').textContent = state;
    byId('chats-undo-bar').hidden = this.going === null;
  }

  /** @param {ChatInfo} chat */
  row(chat) {
    const title = titleOf(chat);
    const mine = chat.id === this.current();
    const row = h('li', { 'data-chat': chat.id, class: mine ? 'current' : undefined },
      h('button', { type: 'button', class: 'chat-open', 'aria-current': mine ? 'true' : undefined, onclick: () => {
        this.dialog.close();
        if (!mine) this.openChat(chat.id, title);
      } },
        h('span', { class: 'chat-title' }, title),
        h('span', { class: 'chat-about' }, [since(chat.modifiedTime), mine && t('chatsCurrent'), chat.interrupted && t('chatsInterrupted')].filter(Boolean).join(' · '))),
      h('button', { type: 'button', class: 'icon', 'aria-label': t('chatsRename', title), title: t('chatsRename', title), onclick: () => this.edit(row, chat) }, '✎'),
      h('button', { type: 'button', class: 'icon', 'aria-label': t('optionsDeleteNamed', title), title: t('optionsDeleteNamed', title), onclick: () => void this.remove(chat) }, '✕'));
    return row;
  }

  /** @param {HTMLElement} row @param {ChatInfo} chat */
  edit(row, chat) {
    const field = h('input', { type: 'text', 'aria-label': t('chatsRename', titleOf(chat)), value: titleOf(chat), maxlength: 200 });
    let over = false;
    /** @param {boolean} keep */
    const finish = (keep) => {
      if (over) return;
      over = true;
      if (keep && field.value.trim()) void this.rename(chat, field.value.trim());
      else this.show();
    };
    field.addEventListener('keydown', (event) => {
      if (event.isComposing) return;
      if (event.key === 'Enter') finish(true);
      if (event.key !== 'Escape') return;
      event.preventDefault();
      finish(false);
    });
    field.addEventListener('blur', () => finish(true));
    row.replaceChildren(field);
    field.select();
  }

  /** @param {ChatInfo} chat @param {string} title */
  async rename(chat, title) {
    const before = chat.summary;
    chat.summary = title;
    this.show();
    try {
      const answer = await this.requests.ask('chat.rename', { id: chat.id, title });
      if (!answer.ok) throw new Error(answer.error ?? t('noReason'));
      if (chat.id === this.current()) this.renamed(title);
    } catch (error) {
      if (before === undefined) delete chat.summary;
      else chat.summary = before;
      this.failure = t('chatsNotRenamed', /** @type {Error} */ (error).message);
      this.show();
    }
  }

  /** @param {ChatInfo} chat */
  async remove(chat) {
    await this.deleteNow();
    const timer = setTimeout(() => void this.deleteNow(), UNDO_MS);
    this.going = { id: chat.id, timer };
    byId('chats-gone').textContent = t('chatsDeleted', titleOf(chat));
    this.show();
    byId('chats-undo').focus();
  }

  undo() {
    clearTimeout(this.going?.timer);
    this.going = null;
    this.show();
    this.search.focus();
  }

  /** Nobody took it back. */
  async deleteNow() {
    if (this.going === null) return;
    const { id, timer } = this.going;
    clearTimeout(timer);
    this.going = null;
    this.chats = (this.chats ?? []).filter((chat) => chat.id !== id);
    this.show();
    if (id === this.current()) this.begin();
    try {
      const answer = await this.requests.ask('chat.delete', { id });
      if (!answer.ok) throw new Error(answer.error ?? t('noReason'));
    } catch (error) {
      await this.load();
      this.failure = t('optionsNotDeleted', /** @type {Error} */ (error).message);
      this.show();
    }
  }
}

/** @param {ChatInfo} chat */
const titleOf = (chat) => chat.summary || t('newChat');
