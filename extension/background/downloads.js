// Downloads that the assistant's tabs start, told to the host with the path of the file. Which tab began one
// is known from the debugging protocol; `chrome.downloads` knows where it goes. Everybody else's downloads are
// neither told nor touched, and no file gets another name.
import { hostUnderstands, postToHost } from './host-port.js';
import { watchersOf } from './sessions.js';
import { state } from './state.js';

/** How far apart the two halves of one download may be told. */
const MATCH_MS = 10_000;
/** How long a download of the host's may take, and how often it is looked at meanwhile. */
const LONGEST_MS = 60_000;
const LOOK_MS = 200;
/** Halves that are remembered meanwhile. */
const MOST = 50;

/** @import { HostCall } from '../shared/messages.js' */
/** @typedef {{tabId: number, guid: string | undefined, url: string, at: number}} Begun */

/** Told by the debugging protocol, not by `chrome.downloads` yet. @type {Begun[]} */
let begun = [];
/** The other way round. @type {{id: number, urls: string[], at: number}[]} */
let created = [];
/** Tabs that our tabs opened. @type {{tabId: number, openerTabId: number, at: number}[]} */
let openings = [];
/** Those of our tabs that are not over, by the browser's id. @type {Map<number, Begun>} */
const ours = new Map();

/**
 * @param {number} tabId   a tab that an assistant works on
 * @param {string} url
 * @param {string} [guid]  the debugging protocol's name of the download
 */
export function downloadBegins(tabId, url, guid) {
  const works = watchersOf(tabId).some((session) => session.turns.size > 0);
  if (!works || !hostUnderstands('browser.events')) return;
  forgetOld();
  const download = { tabId, guid, url, at: Date.now() };
  const other = created.find((item) => item.urls.includes(url));
  if (other) {
    created = created.filter((item) => item !== other);
    claim(other.id, download);
  } else {
    begun = [...begun, download].slice(-MOST);
  }
}

/** @param {chrome.downloads.DownloadItem} item */
export function downloadCreated(item) {
  if (state.attached.size === 0) return;
  forgetOld();
  const urls = [item.url, item.finalUrl];
  const other = begun.find((download) => urls.includes(download.url));
  if (other) {
    begun = begun.filter((download) => download !== other);
    claim(item.id, other);
  } else {
    created = [...created, { id: item.id, urls, at: Date.now() }].slice(-MOST);
    if (openings.length > 0) void fromNewTab(item);
  }
}

/**
 * A link may show its file in a new tab, which stays blank when the file is saved instead.
 * @param {number} tabId
 * @param {number} openerTabId   a tab that an assistant works on
 */
export function tabOpened(tabId, openerTabId) {
  openings = [...openings, { tabId, openerTabId, at: Date.now() }].slice(-MOST);
}

/** @param {chrome.downloads.DownloadItem} item */
async function fromNewTab(item) {
  for (const opening of openings) {
    const ids = [opening.tabId, opening.openerTabId];
    const [tab, opener] = await Promise.all(ids.map((id) => chrome.tabs.get(id).catch(() => null)));
    const blank = !tab?.url || tab.url === 'about:blank';
    if (!blank || originOf(item.referrer) === '' || originOf(item.referrer) !== originOf(opener?.url)) continue;
    // The debugging protocol may have told of it meanwhile.
    if (!created.some(({ id }) => id === item.id)) return;
    created = created.filter(({ id }) => id !== item.id);
    openings = openings.filter((other) => other !== opening);
    claim(item.id, { tabId: opening.openerTabId, guid: undefined, url: item.url, at: opening.at });
    return;
  }
}

/** @param {string | undefined} url */
const originOf = (url) => (url && URL.canParse(url) ? new URL(url).origin : '');

/** @param {chrome.downloads.DownloadDelta} delta */
export function downloadChanged(delta) {
  if (ours.has(delta.id) && (delta.filename || delta.state || delta.error || delta.danger)) void tell(delta.id);
}

/**
 * @param {number} id
 * @param {Begun} download
 */
function claim(id, download) {
  ours.set(id, download);
  void tell(id);
}

/** @param {number} id */
async function tell(id) {
  const download = ours.get(id);
  const [item] = await chrome.downloads.search({ id }).catch(() => []);
  if (!download || !item) return;
  if (item.state !== 'in_progress') ours.delete(id);
  postToHost({
    type: 'download.event',
    downloadId: id,
    tabId: download.tabId,
    state: item.state,
    url: item.finalUrl || item.url,
    bytes: item.bytesReceived,
    ...(download.guid && { guid: download.guid }),
    ...(item.filename && { filename: item.filename }),
    ...(item.error && { error: item.error }),
    ...(item.danger !== 'safe' && item.danger !== 'accepted' && { danger: item.danger }),
  });
}

/**
 * Downloads for the host and waits until it is over. The browser keeps files that are there already.
 * @param {Extract<HostCall, {type: 'download.start'}>} call
 */
export async function startDownload({ tabId, url, filename, maxBytes }) {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) throw new Error('Only http: and https: are downloaded.');
  const options = { url, saveAs: false, conflictAction: /** @type {const} */ ('uniquify') };
  const id = await chrome.downloads.download(filename === undefined ? options : { ...options, filename });
  created = created.filter((item) => item.id !== id);
  claim(id, { tabId, guid: undefined, url, at: Date.now() });
  const end = Date.now() + LONGEST_MS;
  for (;;) {
    const [item] = await chrome.downloads.search({ id });
    if (!item) throw new Error('The download is gone from the list.');
    const tooLong = Math.max(item.bytesReceived, item.totalBytes) > maxBytes;
    const late = Date.now() > end;
    if (item.state !== 'in_progress' || tooLong || late) {
      const stopped = item.state === 'in_progress';
      // One that waits for the person's word about a dangerous file stays.
      if (stopped && (item.danger === 'safe' || tooLong)) await chrome.downloads.cancel(id).catch(() => {});
      return {
        downloadId: id,
        state: item.state,
        bytes: item.bytesReceived,
        ...(item.filename && { filename: item.filename }),
        ...(stopped ? { error: tooLong ? 'TOO_LARGE' : 'TOO_SLOW' } : item.error && { error: item.error }),
        ...(item.danger !== 'safe' && item.danger !== 'accepted' && { danger: item.danger }),
      };
    }
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}

function forgetOld() {
  const since = Date.now() - MATCH_MS;
  begun = begun.filter((download) => download.at >= since);
  created = created.filter((item) => item.at >= since);
  openings = openings.filter((opening) => opening.at >= since);
}
