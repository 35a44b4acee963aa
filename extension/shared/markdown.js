// Model Markdown to DOM. What a model writes may have been dictated by a page, so nothing it writes
// may load, run, submit or look like a part of this panel: marked renders, DOMPurify keeps a short
// list of tags, and links show where they lead.
import DOMPurify from '../vendor/purify.es.mjs';
import { Lexer, Marked } from '../vendor/marked.esm.js';
import { copyFrom, h } from './dom.js';
import { t } from './i18n.js';

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // An image would be fetched from wherever the text says; its address is shown as a link instead.
    image({ href, text }) {
      return `<a href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`;
    },
    checkbox({ checked }) {
      return checked ? '☑ ' : '☐ ';
    },
    // Markup in the text is text.
    html({ text }) {
      return escapeHtml(text);
    },
  },
});

const PURIFY = {
  ALLOWED_TAGS: [
    'a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre',
    'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'align', 'start', 'class'],
  // Not addresses: else they would be dropped for not being one of those allowed.
  ADD_URI_SAFE_ATTR: ['align', 'start'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: /** @type {const} */ (true),
};

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** What link labels stand for. @typedef {Record<string, {href: string | null, title: string | null | undefined}>} Links */

/**
 * The blocks of a text, without a look at what is in them: that is quick. Links they define are added to `links`.
 * @param {string} source   with `\n` at the ends of lines
 * @param {Links} links
 */
export function blocksOf(source, links) {
  const lexer = new Lexer(marked.defaults);
  try {
    lexer.blockTokens(source, lexer.tokens);
  } catch (error) {
    console.warn('taken as one block', error);
    return [{ type: 'paragraph', raw: source, text: source, tokens: [] }];
  }
  Object.assign(links, lexer.tokens.links);
  return [...lexer.tokens];
}

/**
 * Never throws: text that the parser cannot take (thousands of nested quotes overflow its stack) is shown as
 * it is, so that nothing a page dictates can hide what comes after it.
 * @param {string} source
 * @param {Links} [links]   defined elsewhere
 * @returns {DocumentFragment}
 */
export function renderMarkdown(source, links = {}) {
  try {
    return parsed(source, links);
  } catch (error) {
    console.warn('shown as plain text', error);
    const plain = document.createDocumentFragment();
    plain.append(h('p', { class: 'plain' }, source));
    return plain;
  }
}

/**
 * Takes time in proportion to the length: what may be long goes through `MarkdownStream`.
 * @param {string} source
 * @param {Links} links   defined elsewhere
 * @returns {DocumentFragment}
 */
function parsed(source, links) {
  const lexer = new Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, links);
  const html = marked.parser(lexer.lex(source));
  const fragment = /** @type {DocumentFragment} */ (/** @type {unknown} */ (DOMPurify.sanitize(html, PURIFY)));
  for (const link of fragment.querySelectorAll('a')) finishLink(link);
  for (const block of fragment.querySelectorAll('pre')) finishCode(block);
  for (const table of fragment.querySelectorAll('table')) wrap(table, 'table-scroll');
  return fragment;
}

/** @param {HTMLAnchorElement} link */
function finishLink(link) {
  const address = link.getAttribute('href');
  if (!address || !URL.canParse(address)) {
    link.replaceWith(...link.childNodes);
    return;
  }
  // `URL` writes look-alike host names in punycode, so what is shown is where the link goes.
  const url = new URL(address);
  link.href = url.href;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  link.title = url.href;
  const place = url.protocol === 'mailto:' ? url.pathname : url.host;
  const shown = link.textContent?.trim() ?? '';
  if (!shown) link.textContent = url.href;
  else if (!shown.startsWith(`${url.protocol}//${place}`) && shown !== place) {
    link.after(h('span', { class: 'link-host' }, ` (${place})`));
  }
}

/** @param {HTMLPreElement} block */
function finishCode(block) {
  /** @type {HTMLButtonElement} */
  const button = h('button', { type: 'button', class: 'copy', onclick: () => void copyFrom(button, block.textContent ?? '', t('copied')) }, t('copy'));
  block.tabIndex = 0;
  const language = /^language-([\w+#.-]{1,20})/.exec(block.querySelector('code')?.className ?? '')?.[1] ?? '';
  wrap(block, 'code-block').prepend(h('div', { class: 'code-head' }, h('span', {}, language), button));
}

/**
 * @param {Element} element
 * @param {string} className
 */
function wrap(element, className) {
  const box = h('div', { class: className });
  element.replaceWith(box);
  box.append(element);
  return box;
}
