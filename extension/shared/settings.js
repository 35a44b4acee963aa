// What a person sets in the extension itself; the host keeps the rest.

/** @typedef {'auto' | 'light' | 'dark'} Theme */
/** @typedef {'auto' | 'en' | 'zh_CN'} Language */

/**
 * @typedef {object} Settings
 * @property {Record<string, boolean>} tools   only what differs from the default, by tool name
 * @property {Theme} theme
 * @property {Language} language   `auto`: the browser's
 * @property {boolean} mascot      whether it is shown
 */

const KEY = 'settings';
const THEMES = ['auto', 'light', 'dark'];
const LANGUAGES = ['auto', 'en', 'zh_CN'];

/**
 * Whatever is stored, as settings: what makes no sense is the default.
 * @param {unknown} stored
 * @returns {Settings}
 */
function settingsFrom(stored) {
  const value = /** @type {any} */ (stored && typeof stored === 'object' ? stored : {});
  const switches = value.tools && typeof value.tools === 'object' ? Object.entries(value.tools) : [];
  return {
    tools: Object.fromEntries(switches.filter(([, on]) => typeof on === 'boolean')),
    theme: THEMES.includes(value.theme) ? value.theme : 'auto',
    language: LANGUAGES.includes(value.language) ? value.language : 'auto',
    mascot: value.mascot !== false,
  };
}

/** @returns {Promise<Settings>} */
export async function readSettings() {
  return settingsFrom((await chrome.storage.local.get(KEY))[KEY]);
}

/** Changes go one after the other: two at once would undo each other. */
let last = Promise.resolve();

/**
 * @param {(settings: Settings) => void} change
 * @returns {Promise<void>} rejects when it could not be saved
 */
export function changeSettings(change) {
  const done = last.then(async () => {
    const stored = (await chrome.storage.local.get(KEY))[KEY];
    const settings = settingsFrom(stored);
    change(settings);
    // What a newer version stored beside it stays.
    await chrome.storage.local.set({ [KEY]: { .../** @type {object} */ (stored ?? {}), ...settings } });
  });
  last = done.catch(() => {});
  return done;
}

/** @param {(settings: Settings) => void} changed */
export function watchSettings(changed) {
  chrome.storage.onChanged.addListener((changes, area) => {
    if (area === 'local' && changes[KEY]) changed(settingsFrom(changes[KEY].newValue));
  });
}
