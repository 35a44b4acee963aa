// How the host, the CLI and the sign-in are.
import { byId, copyFrom, h } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { installCommand, noticeFor, stateOf } from '../sidepanel/status.js';

/** @import { DiagCheck } from '../shared/protocol.js' */
/** @import { HostStatus, PanelMessage } from '../shared/messages.js' */
/** @import { Requests } from '../shared/requests.js' */

/** What the checks are about, by the id that the host gives them; an unknown one is shown by its id. */
const NAMES = new Map([['host', 'checkHost'], ['cli', 'checkCli'], ['auth', 'checkAuth'], ['log', 'checkLog']]);

export class StatusSection {
  /**
   * @param {Requests} requests
   * @param {(message: PanelMessage) => boolean} post
   */
  static async open(requests, post) {
    return new StatusSection(requests, post, await installCommand());
  }

  /**
   * @param {Requests} requests
   * @param {(message: PanelMessage) => boolean} post
   * @param {string} command   what registers the host
   */
  constructor(requests, post, command) {
    this.requests = requests;
    this.post = post;
    this.command = command;
    /** @type {HostStatus | null} */
    this.status = null;
    /** @type {DiagCheck[]} */
    this.checks = [];
    this.gone = false;
    byId('check-again').addEventListener('click', () => void this.refresh());
    byId('sign-in').addEventListener('click', () => this.post({ type: 'auth.signin', open: true }));
    const copy = byId('copy-diagnostics', HTMLButtonElement);
    copy.addEventListener('click', () => void copyFrom(copy, this.diagnostics(), t('copied')));
    this.show();
  }

  /** @param {HostStatus} status */
  host(status) {
    this.status = status;
    this.gone = false;
    if (status.state !== 'ready') this.checks = [];
    this.show();
  }

  /** @param {boolean} gone   the extension was updated under this page */
  workerLost(gone) {
    this.gone = gone;
    this.status = null;
    this.checks = [];
    this.show();
  }

  async refresh() {
    if (this.status?.state === 'ready') {
      try {
        this.checks = (await this.requests.ask('diag.run')).checks;
      } catch (error) {
        this.checks = [{ id: 'host', ok: false, text: /** @type {Error} */ (error).message }];
      }
    }
    this.show();
  }

  show() {
    const auth = this.checks.find((check) => check.id === 'auth');
    const situation = {
      gone: this.gone, host: this.status, sessionReady: true, sdk: { ok: true, detail: '' },
      auth: { state: 'unknown', detail: '' }, asking: false, running: false, queued: false,
    };
    const content = noticeFor(stateOf(situation), situation, this.command, {
      retry: () => this.post({ type: 'panel.retry' }),
      signIn: () => this.post({ type: 'auth.signin', open: true }),
    });
    byId('notice').replaceChildren(...content);
    byId('notice').hidden = content.length === 0;
    byId('sign-in').hidden = auth?.ok !== false;
    byId('checks').replaceChildren(...this.rows());
  }

  rows() {
    const own = row('ok', t('checkExtension'), chrome.runtime.getManifest().version);
    if (this.status?.state !== 'ready') return [row('wait', t('checkHost'), t('optionsNoHost')), own];
    const checks = this.checks.map((check) => row(check.ok ? 'ok' : 'bad', nameOf(check.id), check.text, check.fix));
    return [...checks, own];
  }

  /** Nothing of a page, a chat or a key is in it. */
  diagnostics() {
    const lines = this.checks.map((check) => `${check.ok ? 'ok' : 'FAULT'}  ${check.id}: ${check.text}`);
    return [
      `extension ${chrome.runtime.getManifest().version} ${chrome.runtime.id}`,
      `host ${this.status?.state ?? 'unknown'} ${this.status?.serverVersion ?? ''} ${this.status?.message ?? ''}`.trim(),
      ...lines,
      navigator.userAgent,
    ].join('\n');
  }
}

/** @param {string} id */
function nameOf(id) {
  const key = NAMES.get(id);
  return key ? t(key) : id;
}

/**
 * @param {'ok' | 'bad' | 'wait'} state
 * @param {string} name
 * @param {string} text
 * @param {string} [fix]   a command that helps
 */
function row(state, name, text, fix) {
  const words = t({ ok: 'checkOk', bad: 'checkBad', wait: 'checkWait' }[state]);
  return h('li', { 'data-check': state },
    h('span', { class: 'mark', role: 'img', 'aria-label': words }, { ok: '✓', bad: '✗', wait: '…' }[state]),
    h('span', { class: 'row-name' }, name),
    h('span', { class: 'row-text' }, text, fix && h('code', {}, fix)));
}
