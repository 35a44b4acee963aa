// What must outlive this worker: Chrome may stop it at any moment. Kept in memory for reading,
// written through to `chrome.storage.session`, read back once at start-up.

const KEY = 'worker';

/** Tool switches as stored: only differences from the default, by tool name. */
/** @typedef {Record<string, boolean>} ToolSwitches */

export const state = {
  /** Tabs this extension has a debugger on. @type {Set<number>} */
  attached: new Set(),
  /** Tabs where the person cancelled debugging, with the sessions that have to stay away. @type {Map<number, Set<string>>} */
  blocked: new Map(),
  /** Starts of the host in a row that did not last. */
  failures: 0,
  /** True when the host is not started again until a person asks for it. */
  gaveUp: false,
  /** How the last connection ended, for the panels of a fresh worker. */
  lastMessage: '',
  /** Tabs that a former worker had a debugger on. @type {number[]} */
  leftovers: [],
};

/** Null when the settings could not be read. @type {ToolSwitches | null} */
let tools = null;

let saving = false;

/** Writes the state soon; many changes in one go cost one write. */
export function save() {
  if (saving) return;
  saving = true;
  queueMicrotask(() => {
    saving = false;
    const stored = {
      attached: [...state.attached],
      blocked: [...state.blocked].map(([tabId, ids]) => [tabId, [...ids]]),
      failures: state.failures,
      gaveUp: state.gaveUp,
      lastMessage: state.lastMessage,
    };
    chrome.storage.session.set({ [KEY]: stored }).catch((error) => console.warn('state not saved', error));
  });
}

/**
 * A debugger recorded here belongs to a worker that is gone, and so is the host it talked to.
 * @param {number[]} tabIds
 */
async function detachLeftovers(tabIds) {
  await Promise.allSettled(tabIds.map((tabId) => chrome.debugger.detach({ tabId })));
}

async function load() {
  const [stored, settings] = await Promise.allSettled([
    chrome.storage.session.get(KEY),
    chrome.storage.local.get('settings'),
  ]);
  if (stored.status === 'fulfilled') {
    const old = /** @type {any} */ (stored.value[KEY] ?? {});
    state.failures = old.failures ?? 0;
    state.gaveUp = old.gaveUp ?? false;
    state.lastMessage = old.lastMessage ?? '';
    state.leftovers = old.attached ?? [];
    await detachLeftovers(state.leftovers);
  }
  if (settings.status === 'fulfilled') tools = readTools(settings.value['settings']);
}

/** Resolves when the state is known and leftovers of a former worker are gone. Never rejects. */
export const ready = load().catch((error) => console.warn('state not loaded', error));

/** @type {() => void} */
let switched = () => {};

/** @param {() => void} listener   told when the person flipped a switch */
export function onSwitches(listener) {
  switched = listener;
}

/**
 * @param {unknown} settings
 * @returns {ToolSwitches}
 */
function readTools(settings) {
  const value = /** @type {any} */ (settings)?.tools;
  return value && typeof value === 'object' ? value : {};
}

/**
 * @param {Record<string, chrome.storage.StorageChange>} changes
 * @param {string} area
 */
export function settingsChanged(changes, area) {
  if (area !== 'local' || !changes['settings']) return;
  const before = JSON.stringify(tools);
  tools = readTools(changes['settings'].newValue);
  if (JSON.stringify(tools) !== before) switched();
}

/**
 * The two lists a `session.start` carries. A browser tool is stored as `false` when switched off,
 * a tool that reaches the computer as `true` when switched on. Unreadable settings switch nothing on.
 */
export function toolLists() {
  const entries = Object.entries(tools ?? {});
  return {
    disabledTools: entries.filter(([, on]) => on === false).map(([name]) => name),
    enabledHostTools: entries.filter(([, on]) => on === true).map(([name]) => name),
  };
}
