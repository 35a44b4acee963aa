// Which model answers, and whose it is.
import { byId, h } from '../shared/dom.js';
import { t } from '../shared/i18n.js';

/** @import { ModelInfo, ProviderResult } from '../shared/protocol.js' */
/** @import { Requests } from '../shared/requests.js' */

export class ModelSection {
  /** @param {Requests} requests */
  constructor(requests) {
    this.requests = requests;
    /** @type {ModelInfo[]} */
    this.models = [];
    this.id = '';
    this.choice = byId('model-choice', HTMLSelectElement);
    this.kind = byId('provider-kind', HTMLSelectElement);
    this.url = byId('provider-url', HTMLInputElement);
    this.model = byId('provider-model', HTMLInputElement);
    this.key = byId('provider-key', HTMLInputElement);
    this.choice.addEventListener('change', () => void this.choose());
    this.kind.addEventListener('change', () => this.showOwn());
    byId('provider').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.save();
    });
    byId('provider-test').addEventListener('click', () => void this.test());
    byId('provider-forget').addEventListener('click', () => void this.set({ apiKey: '' }));
    this.show();
  }

  async refresh() {
    try {
      this.provider(await this.requests.ask('provider.get'));
      this.offer((await this.requests.ask('models.list')).models);
    } catch (error) {
      this.say(error);
    }
  }

  /** @param {ModelInfo[]} models */
  offer(models) {
    this.models = models;
    this.show();
  }

  /** @param {string} id */
  current(id) {
    this.id = id;
    this.show();
  }

  show() {
    const known = this.models.some((model) => model.id === this.id);
    const options = this.models.map((model) => h('option', { value: model.id }, label(model)));
    if (!known) options.unshift(h('option', { value: this.id }, this.id || t('optionsModelUnknown')));
    this.choice.replaceChildren(...options);
    this.choice.value = this.id;
    this.choice.disabled = this.models.length === 0;
  }

  async choose() {
    try {
      this.current((await this.requests.ask('models.set', { id: this.choice.value })).id);
      this.say(t('optionsModelSaved'));
    } catch (error) {
      this.say(error);
      this.show();
    }
  }

  /** @param {ProviderResult} result */
  provider(result) {
    if (!result.ok && result.error) this.say(new Error(result.error));
    this.kind.value = result.kind;
    this.url.value = result.baseUrl ?? '';
    this.model.value = result.model ?? '';
    this.key.value = '';
    byId('provider-key-hint').textContent = t(result.hasKey ? 'optionsKeyStored' : 'optionsKeyNone');
    byId('provider-forget').hidden = !result.hasKey;
    this.showOwn();
  }

  showOwn() {
    byId('provider-own').hidden = this.kind.value === 'copilot';
  }

  async save() {
    const key = this.key.value === '' ? {} : { apiKey: this.key.value };
    await this.set({ baseUrl: this.url.value.trim(), model: this.model.value.trim(), ...key });
  }

  /** @param {object} fields */
  async set(fields) {
    const own = this.kind.value === 'copilot' ? {} : fields;
    try {
      /** @type {ProviderResult} */
      const result = await this.requests.ask('provider.set', { kind: this.kind.value, ...own });
      // A refusal leaves what was typed for mending.
      if (!result.ok) throw new Error(result.error ?? t('noReason'));
      this.provider(result);
      this.say(t('optionsProviderSaved'));
    } catch (error) {
      this.say(error);
    }
  }

  async test() {
    this.say(t('optionsTesting'));
    try {
      /** @type {ProviderResult} */
      const result = await this.requests.ask('provider.test');
      if (!result.ok) throw new Error(result.error ?? t('noReason'));
      this.say(t('optionsTestPassed'));
    } catch (error) {
      this.say(error);
    }
  }

  /** @param {unknown} what   words, or why something failed */
  say(what) {
    const said = byId('model-said');
    said.textContent = what instanceof Error ? what.message : String(what);
    said.classList.toggle('bad', what instanceof Error);
  }
}

/** @param {ModelInfo} model */
function label(model) {
  const cost = model.multiplier === undefined ? '' : t('optionsModelCost', model.multiplier);
  return [model.name, model.vendor, cost].filter(Boolean).join(' · ');
}
