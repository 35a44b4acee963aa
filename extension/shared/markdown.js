// Model Markdown to DOM. What a model writes may have been dictated by a page, so nothing it writes
// may load, run, submit or look like a part of this panel: marked renders, DOMPurify keeps a short
// list of tags, and links show where they lead.
import DOMPurify from '../vendor/purify.es.mjs';
import { Marked } from '../vendor/marked.esm.js';
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
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: /** @type {const} */ (true),
};

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/**
 * @param {string} source
 * @returns {DocumentFragment}
 */
export function renderMarkdown(source) {
  const html = marked.parse(source, { async: false });
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
  const code = block.textContent ?? '';
  /** @type {HTMLButtonElement} */
  const button = h('button', { type: 'button', class: 'copy', onclick: () => void copyFrom(button, code, t('copied')) }, t('copy'));
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

/**
 * Renders a text that is still growing: blocks that are complete are rendered once and stay,
 * only the last, open one is rendered again, at most once per frame.
 */
export class MarkdownStream {
  /** @param {HTMLElement} target */
  constructor(target) {
    this.target = target;
    this.text = '';
    /** Where the open block starts in `text`. */
    this.openFrom = 0;
    /** The nodes of the open block. @type {ChildNode[]} */
    this.open = [];
    /** How much of `text` is on the page. */
    this.shown = 0;
    this.frame = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.pause = undefined;
  }

  /** @param {string} more */
  append(more) {
    this.text += more;
    if (!this.frame && !this.pause) this.schedule();
  }

  schedule() {
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const start = performance.now();
      this.render();
      this.rest(performance.now() - start);
    });
  }

  /**
   * A block that is long and still open (a list of hundreds of lines) is costly each time:
   * it is then rendered less often, so that the panel stays usable.
   * @param {number} cost   of the last rendering, in ms
   */
  rest(cost) {
    if (cost < 8) return;
    this.pause = setTimeout(() => {
      this.pause = undefined;
      if (this.text.length > this.shown) this.schedule();
    }, cost * 5);
  }

  render() {
    this.shown = this.text.length;
    const tokens = marked.lexer(this.text.slice(this.openFrom));
    while (tokens.at(-1)?.type === 'space') tokens.pop();
    const last = tokens.pop();
    const closed = tokens.reduce((length, token) => length + token.raw.length, 0);
    const openText = this.text.slice(this.openFrom + closed);
    for (const node of this.open) node.remove();
    if (closed > 0) {
      this.target.append(renderMarkdown(this.text.slice(this.openFrom, this.openFrom + closed)));
      this.openFrom += closed;
    }
    const fragment = last ? renderMarkdown(openText) : document.createDocumentFragment();
    this.open = [...fragment.childNodes];
    this.target.append(fragment);
  }

  /**
   * The text is complete: once more as a whole, since a link may be defined at the end.
   * @param {string} [text]   replaces what was streamed
   */
  finish(text = this.text) {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.pause);
    this.frame = 0;
    this.pause = undefined;
    this.text = text;
    this.open = [];
    this.target.replaceChildren(renderMarkdown(text));
  }
}
