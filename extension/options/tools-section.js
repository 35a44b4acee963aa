// Every tool with its switch. Stored is only what differs from the default.
import { byId, h } from '../shared/dom.js';
import { t } from '../shared/i18n.js';
import { changeSettings, readSettings } from '../shared/settings.js';

/** @import { ToolInfo } from '../shared/protocol.js' */
/** @import { Requests } from '../shared/requests.js' */

/** The host's groups in the order they are shown, with their headings. */
const GROUPS = new Map([
  ['inspect', 'groupInspect'], ['navigate', 'groupNavigate'], ['tabs', 'groupTabs'], ['interact', 'groupInteract'],
  ['forms', 'groupForms'], ['devtools', 'groupDevtools'], ['files', 'groupFiles'], ['memory', 'groupMemory'], ['human', 'groupHuman'],
]);

export class ToolsSection {
  /** @param {Requests} requests */
  static async open(requests) {
    return new ToolsSection(requests, (await readSettings().catch(() => null))?.tools ?? {});
  }

  /**
   * @param {Requests} requests
   * @param {Record<string, boolean>} switches
   */
  constructor(requests, switches) {
    this.requests = requests;
    this.switches = switches;
    /** @type {ToolInfo[]} */
    this.tools = [];
    this.filter = byId('tool-filter', HTMLInputElement);
    this.filter.addEventListener('input', () => this.narrow());
    byId('tools-reset').addEventListener('click', () => void this.reset());
    this.count();
  }

  async refresh() {
    try {
      this.tools = (await this.requests.ask('tools.list')).tools;
    } catch (error) {
      byId('tools-on').textContent = /** @type {Error} */ (error).message;
      return;
    }
    this.show();
  }

  show() {
    const groups = [...GROUPS].map(([name, heading]) => this.group(t(heading), this.normal(name)));
    const others = this.group(t('groupOthers'), this.tools.filter((tool) => !risky(tool) && !GROUPS.has(tool.category)));
    const risks = this.group(t('groupComputer'), this.tools.filter(risky), t('optionsComputerWarning'));
    risks?.classList.add('risky');
    byId('tool-groups').replaceChildren(...[...groups, others, risks].filter((group) => group !== null));
    this.narrow();
    this.count();
  }

  /** @param {string} category */
  normal(category) {
    return this.tools.filter((tool) => !risky(tool) && tool.category === category);
  }

  /**
   * @param {string} heading
   * @param {ToolInfo[]} tools
   * @param {string} [warning]
   */
  group(heading, tools, warning) {
    if (tools.length === 0) return null;
    return h('fieldset', {}, h('legend', {}, heading), warning && h('p', { class: 'hint' }, warning), ...tools.map((tool) => this.row(tool)));
  }

  /** @param {ToolInfo} tool */
  row(tool) {
    const fixed = tool.exposure === 'always';
    const box = h('input', {
      type: 'checkbox', id: `tool-${tool.name}`, disabled: fixed, 'aria-describedby': `about-${tool.name}`,
      onchange: () => void this.flip(tool, box.checked),
    });
    box.checked = this.isOn(tool);
    return h('div', { class: 'tool', 'data-words': `${tool.name} ${tool.title} ${tool.description}`.toLowerCase() },
      box,
      h('label', { for: `tool-${tool.name}` }, tool.title, h('code', {}, tool.name)),
      h('p', { id: `about-${tool.name}`, class: 'hint' }, fixed ? t('optionsToolAlways') : tool.description));
  }

  /** @param {ToolInfo} tool */
  isOn(tool) {
    return tool.exposure === 'always' || (this.switches[tool.name] ?? tool.exposure !== 'default_off');
  }

  /**
   * @param {ToolInfo} tool
   * @param {boolean} on
   */
  async flip(tool, on) {
    const isDefault = on === (tool.exposure !== 'default_off');
    await this.change((tools) => {
      if (isDefault) delete tools[tool.name];
      else tools[tool.name] = on;
    });
  }

  reset() {
    return this.change((tools) => {
      for (const name of Object.keys(tools)) delete tools[name];
    });
  }

  /** @param {(tools: Record<string, boolean>) => void} change */
  async change(change) {
    try {
      await changeSettings((settings) => {
        change(settings.tools);
        this.switches = settings.tools;
      });
      this.count(t('optionsToolsSaved'));
    } catch (error) {
      this.switches = (await readSettings().catch(() => null))?.tools ?? {};
      this.count(t('optionsNotSaved', /** @type {Error} */ (error).message));
    }
    for (const tool of this.tools) byId(`tool-${tool.name}`, HTMLInputElement).checked = this.isOn(tool);
  }

  /** @param {string} [more]   what just happened */
  count(more) {
    const on = this.tools.filter((tool) => this.isOn(tool)).length;
    const words = this.tools.length === 0 ? t('optionsNoHost') : t('optionsToolsOn', on, this.tools.length);
    byId('tools-on').textContent = more ? `${words} ${more}` : words;
  }

  narrow() {
    const words = this.filter.value.trim().toLowerCase();
    let shown = 0;
    for (const group of byId('tool-groups').querySelectorAll('fieldset')) {
      let here = 0;
      for (const row of group.querySelectorAll('.tool')) {
        const fits = row.getAttribute('data-words')?.includes(words) ?? false;
        row.toggleAttribute('hidden', !fits);
        here += Number(fits);
      }
      group.hidden = here === 0;
      shown += here;
    }
    byId('tools-none').hidden = shown > 0 || this.tools.length === 0;
  }
}

/**
 * What reaches this computer beyond the browser, or is off until somebody wants it.
 * @param {ToolInfo} tool
 */
function risky(tool) {
  return tool.exposure === 'default_off';
}
