// What a step is called in plain language. A tool that is not listed here is shown by its own name.
import { t } from '../shared/i18n.js';

/** Message key by tool name; `…Now` is the same while it runs. @type {Record<string, string>} */
const KEYS = {
  inspect_page: 'toolReadPage', get_page_info: 'toolReadPage', get_page_html: 'toolReadPage', extract_text: 'toolReadPage',
  accessibility_snapshot: 'toolReadPage', extract_form: 'toolReadForm', query_dom: 'toolSearchedPage',
  find_visible_text: 'toolSearchedPage', find_text: 'toolFoundText', get_event_listeners: 'toolReadListeners',
  navigate: 'toolOpened', list_tabs: 'toolListedTabs', switch_tab: 'toolSwitchedTab', new_tab: 'toolOpenedTab',
  close_tab: 'toolClosedTab', wait_for: 'toolWaited', go_back: 'toolWentBack', go_forward: 'toolWentForward',
  reload: 'toolReloaded', handle_dialog: 'toolAnsweredDialog',
  click_index: 'toolClicked', click_element: 'toolClicked', type_index: 'toolTyped', fill_input: 'toolTyped',
  select_index: 'toolChose', select_option: 'toolChose', set_radio_index: 'toolChose', clear_index: 'toolCleared',
  check_index: 'toolTicked', upload_index: 'toolUploaded', upload_file: 'toolUploaded', press_key: 'toolPressed',
  press_keys: 'toolPressed', fill_form: 'toolFilled', submit_form: 'toolSubmitted', hover: 'toolPointed', hover_index: 'toolPointed',
  drag: 'toolDragged', pick_option: 'toolChose',
  scroll: 'toolScrolled', focus_index: 'toolFocused',
  screenshot: 'toolScreenshot', mark_screenshot: 'toolScreenshot', evaluate_js: 'toolRanScript', run_script: 'toolRanScript', get_console_logs: 'toolReadConsole',
  get_network_requests: 'toolReadNetwork', get_network_request: 'toolReadNetwork', more_tools: 'toolMore', replay_request: 'toolReplayed', get_cookies: 'toolReadCookies',
  set_cookie: 'toolSetCookie', set_storage: 'toolSetStorage', get_storage: 'toolReadStorage', download_file: 'toolDownloaded', set_viewport: 'toolResized',
  pdf_export: 'toolPdf', read_pdf: 'toolReadPdf',
  read_file: 'toolReadFile', list_files: 'toolListedFiles', glob: 'toolListedFiles', write_file: 'toolSavedFile',
  save_file: 'toolSavedFile', delete_file: 'toolDeletedFile', bash: 'toolRanCommand', grep: 'toolSearchedFiles',
  web_fetch: 'toolFetched', note_set: 'toolNoted', note_get: 'toolReadNotes', note_list: 'toolReadNotes',
  note_delete: 'toolDeletedNote', await_user: 'toolAsked',
};

const MAX_OBJECT = 48;

/**
 * @param {string} tool
 * @param {unknown} args
 * @param {boolean} running
 */
export function toolLabel(tool, args, running) {
  const key = KEYS[tool];
  if (!key) return humanised(tool);
  const object = objectOf(tool, args);
  // Languages put the object in different places, so the whole phrase is one message.
  return t(running ? `${key}Now` : key, object).replace(/\s+/g, ' ').trim();
}

/** @param {string} tool */
function humanised(tool) {
  const words = tool.replace(/[_.-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * What the step works on, as short as can be: "[12]", "example.com", "Enter".
 * @param {string} tool
 * @param {unknown} args
 */
function objectOf(tool, args) {
  if (!args || typeof args !== 'object') return '';
  const given = /** @type {Record<string, unknown>} */ (args);
  if (tool === 'fill_form') return String(countOf(given['fields'] ?? given['values']) || '');
  const url = given['url'];
  if (typeof url === 'string') return URL.canParse(url) ? new URL(url).host || short(url) : short(url);
  for (const name of ['keys', 'key', 'path', 'filename', 'name', 'label', 'text_match', 'selector']) {
    const value = given[name];
    if (typeof value === 'string' && value) return short(value);
  }
  if (tool === 'find_text' && typeof given['text'] === 'string') return short(given['text']);
  const index = given['index'] ?? given['from'];
  return typeof index === 'number' || typeof index === 'string' ? `[${index}]` : '';
}

/** @param {unknown} fields */
function countOf(fields) {
  if (Array.isArray(fields)) return fields.length;
  return fields && typeof fields === 'object' ? Object.keys(fields).length : 0;
}

/** @param {string} text */
function short(text) {
  return text.length > MAX_OBJECT ? `${text.slice(0, MAX_OBJECT - 1)}…` : text;
}
