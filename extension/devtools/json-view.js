// A value that opens where somebody clicks.
import { h } from '../shared/dom.js';

/** Entries of one object or list that are shown. */
const MOST = 200;
const PREVIEW = 60;

/**
 * @param {unknown} value
 * @param {string} [key]   absent: the value itself, whose first level is open
 * @returns {HTMLElement}
 */
export function jsonView(value, key) {
  const name = key === undefined ? '' : h('span', { class: 'key' }, `${key}: `);
  if (value === null || typeof value !== 'object') return h('div', { class: 'json' }, name, JSON.stringify(value) ?? 'undefined');
  const entries = Object.entries(value);
  const inside = h('div', { class: 'inside' });
  const fill = () => {
    if (inside.childElementCount > 0) return;
    inside.append(...entries.slice(0, MOST).map(([inner, item]) => jsonView(item, inner)));
    if (entries.length > MOST) inside.append(`… ${entries.length - MOST}`);
  };
  const details = h('details', { class: 'json', ontoggle: fill }, h('summary', {}, name, preview(value)), inside);
  if (key === undefined) {
    details.open = true;
    fill();
  }
  return details;
}

/** @param {object} value */
function preview(value) {
  const text = JSON.stringify(value);
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW)}…` : text;
}

/**
 * What a tool wrote, as a value where it is one.
 * @param {string} text
 * @returns {{value: unknown} | null}
 */
export function parsed(text) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/**
 * Without the tags that tell the model where the words of a page begin and end.
 * @param {string} text
 */
export function unfenced(text) {
  return text.replace(/^<\/?\w+ fence=[0-9a-f]+>\n?/gm, '').replace(/\n$/, '');
}
