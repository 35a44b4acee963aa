// The text of a page as a person reads it: lines where blocks begin and end, nothing that is not shown.

const reading = (() => {
  const SILENT =
    /^(script|style|noscript|template|head|title|datalist|select|option|textarea|canvas|video|audio|object|svg|math)$/;
  const MOST = 400_000;

  /** @param {Element} start @returns {{ text: string, cut: boolean }} */
  function visible(start) {
    /** @type {(Node | string)[]} */
    const stack = [start];
    let text = '';
    let nodes = 0;
    const breakLine = () => {
      text = text.replace(/[ \t]+$/, '');
      if (text && !text.endsWith('\n')) text += '\n';
    };
    /** @param {string} part @param {boolean} keep */
    const add = (part, keep) => {
      if (keep) text += part;
      else {
        const squeezed = part.replace(/[\t\n\f\r ]+/g, ' ');
        text += /[\s]$/.test(text) || !text ? squeezed.trimStart() : squeezed;
      }
    };
    while (stack.length > 0) {
      if (text.length >= MOST || nodes >= MOST) return { text: names.cut(text, MOST), cut: true };
      const node = stack.pop();
      if (typeof node === 'string') {
        if (node === '\n') breakLine();
        else text += node;
        continue;
      }
      if (!node) continue;
      nodes += 1;
      if (dom.type(node) === 3) {
        const parent = dom.flatParent(node) ?? dom.parent(node);
        if (!parent || !dom.isElement(parent)) continue;
        const style = dom.style(parent);
        if (style.visibility === 'visible' && !secret.masks(style))
          add(dom.data(node), style.whiteSpaceCollapse === 'preserve');
        continue;
      }
      if (!dom.isElement(node)) continue;
      const tag = dom.tag(node);
      if (tag === 'br') text += '\n';
      if (SILENT.test(tag)) continue;
      const style = dom.style(node);
      if (style.display === 'none' || style.contentVisibility === 'hidden') continue;
      const document = dom.shown(node);
      if (document) {
        const root = dom.rootElement(document);
        if (root) stack.push('\n', root, '\n');
        continue;
      }
      if (tag === 'iframe' || tag === 'frame') continue;
      const inline = style.display.startsWith('inline') || style.display === 'contents';
      const at = stack.length;
      flat.children(node, (child) => void stack.push(child));
      stack.splice(at, stack.length - at, ...stack.slice(at).reverse());
      if (style.display === 'table-cell') stack.splice(at, 0, '\t');
      else if (!inline) {
        breakLine();
        stack.splice(at, 0, '\n');
        if (style.display === 'list-item' && tag !== 'summary' && style.listStyleType !== 'none') text += '- ';
      }
    }
    return { text: text.replace(/\n{3,}/g, '\n\n').trim(), cut: false };
  }

  /**
   * The first element a selector finds: in the document, then in shadow roots and same-origin frames.
   * @param {string} selector
   * @returns {Element | null}
   */
  function find(selector) {
    for (const root of dom.roots()) {
      const found = dom.all(root, selector)[0];
      if (found) return found;
    }
    return null;
  }

  return { visible, find };
})();

registry.define('readText', (/** @type {string} */ selector) => {
  let start = dom.rootElement(document);
  if (selector) {
    try {
      start = reading.find(selector);
    } catch (error) {
      if (error instanceof DOMException && error.name === 'SyntaxError') return { wrong: true };
      throw error;
    }
  }
  return start ? { found: true, ...reading.visible(start) } : { found: false };
});
