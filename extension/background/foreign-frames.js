// Frames of other extensions inside a page. The browser lets no debugger near a page that holds one, so they are set
// aside for as long as the assistant works there: the frame shows an empty page, and afterwards its own again. The
// page's elements are not touched.
import { messageOf } from './calls.js';

/** Tabs with frames set aside. @type {Set<number>} */
const cleared = new Set();

/** Between two tries: the empty pages are there a moment after they were asked for. */
const AGAIN_MS = 25;
const TRIES = 40;

/**
 * Runs in the page, in this extension's isolated world.
 * @param {string} own  what addresses of ours begin with
 */
function setAside(own) {
  const kept = /** @type {{browySetAside?: Map<HTMLIFrameElement, string>}} */ (globalThis);
  const frames = (kept.browySetAside ??= new Map());
  const roots = /** @type {(Document | ShadowRoot)[]} */ ([document]);
  let found = 0;
  for (let root = roots.pop(); root; root = roots.pop()) {
    for (const element of root.querySelectorAll('*')) {
      const inner = element instanceof HTMLElement ? chrome.dom.openOrClosedShadowRoot(element) : null;
      if (inner) roots.push(inner);
      if (!(element instanceof HTMLIFrameElement)) continue;
      if (!element.src.startsWith('chrome-extension://') || element.src.startsWith(own)) continue;
      found++;
      frames.set(element, element.src);
      element.contentWindow?.location.replace('about:blank');
    }
  }
  return found;
}

/** Runs in the page. */
function putBack() {
  const kept = /** @type {{browySetAside?: Map<HTMLIFrameElement, string>}} */ (globalThis);
  for (const [frame, address] of kept.browySetAside ?? []) frame.contentWindow?.location.replace(address);
  delete kept.browySetAside;
}

/**
 * Does something with a tab's debugger, past frames of other extensions.
 * @template T
 * @param {number} tabId
 * @param {() => Promise<T>} work   refused by the browser as a whole, or done
 */
export async function pastForeignFrames(tabId, work) {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const { url } = await chrome.tabs.get(tabId);
    // The page itself may be the other extension's.
    if (!/^(https?:|about:blank|file:)/.test(url ?? '') || !(await clear(tabId))) {
      throw new Error(
        'Cannot access this page: another extension shows something of its own in it. The person can close that, or switch that extension off, and try again.',
        { cause: error },
      );
    }
  }
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === TRIES || !isRefusal(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** @param {unknown} error */
const isRefusal = (error) => /URL of different extension/i.test(messageOf(error));

/** @param {number} tabId */
async function clear(tabId) {
  cleared.add(tabId);
  const target = { tabId, allFrames: true };
  const args = /** @type {[string]} */ ([chrome.runtime.getURL('')]);
  const done = await chrome.scripting.executeScript({ target, func: setAside, args });
  return done.some(({ result }) => result);
}

/**
 * The debugger is off the tab. `all`: also where a former worker may have set them aside.
 * @param {number} tabId
 * @param {boolean} [all]
 */
export async function restoreForeignFrames(tabId, all) {
  if (!cleared.delete(tabId) && !all) return;
  const restored = chrome.scripting.executeScript({ target: { tabId, allFrames: true }, func: putBack });
  await restored.catch((error) => console.debug('the page is another one now', error));
}
