// Small helpers to build pages from text and nodes; markup never comes from a string.

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | ((event: any) => void) | undefined>} [attributes]
 *   `class`, `data-…`, `aria-…` and others are attributes; `onclick` and the like are listeners
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter(isChild));
  return element;
}

/**
 * @param {Child} child
 * @returns {child is Node | string}
 */
function isChild(child) {
  return child !== null && child !== undefined && child !== false;
}

/**
 * An element the page is known to have.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {{new (): T}} [type]
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (!element || (type && !(element instanceof type))) throw new Error(`no such element: ${id}`);
  return /** @type {T} */ (element);
}

/**
 * A random id of lower-case letters and digits.
 * @param {number} length
 */
export function randomId(length) {
  const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
  let id = '';
  while (id.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      // 252 = 7 × 36: above it some digits would come up more often than others.
      if (byte < 252 && id.length < length) id += digits[byte % 36];
    }
  }
  return id;
}

/**
 * Copies a text and lets the button say so for a moment.
 * @param {HTMLButtonElement} button
 * @param {string} text
 * @param {string} copied   what the button says afterwards
 */
export async function copyFrom(button, text, copied) {
  await navigator.clipboard.writeText(text);
  const before = button.textContent;
  if (before === copied) return;
  button.textContent = copied;
  setTimeout(() => (button.textContent = before), 1500);
}
