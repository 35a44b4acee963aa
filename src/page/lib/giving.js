// Files for the page: what a field holds and what became of it, dragging over and dropping, and files made of
// bytes where the browser does not let the host name them.

const giving = (() => {
  /** @typedef {{name: string, size: number}} Held */
  /** @typedef {{name: string, type: string, modified: number, parts: Uint8Array<ArrayBuffer>[]}} Sent */
  /**
   * @typedef {object} Round
   * @property {Held[] | null} seen  what the field held when the page was told of it
   * @property {'none' | 'near' | 'wide'} over  who takes what is dragged over the element
   * @property {'none' | 'near' | 'wide'} dropped
   * @property {Sent[]} sent
   * @property {() => void} end
   */
  /** @type {Map<string, Round>} */
  const rounds = new Map();

  /** @param {HTMLInputElement} field @returns {Held[]} */
  const heldBy = (field) => [...(field.files ?? [])].map(({ name, size }) => ({ name, size }));

  /** @param {string} id @returns {Round} */
  function round(id) {
    const known = rounds.get(id);
    if (known) return known;
    /** @type {Round} */
    const made = { seen: null, over: 'none', dropped: 'none', sent: [], end() {} };
    rounds.set(id, made);
    // One that was broken off leaves nothing behind for long.
    setTimeout(() => finish(id), 120_000);
    return made;
  }

  /** @param {string} id */
  function finish(id) {
    rounds.get(id)?.end();
    rounds.delete(id);
    return true;
  }

  /**
   * @param {string} id
   * @param {HTMLInputElement} field
   */
  function watchField(id, field) {
    const now = round(id);
    const look = () => {
      now.seen ??= heldBy(field);
    };
    for (const type of ['input', 'change']) field.addEventListener(type, look, true);
    now.end();
    now.end = () => {
      for (const type of ['input', 'change']) field.removeEventListener(type, look, true);
    };
    return {
      multiple: field.multiple,
      folder: field.webkitdirectory === true,
      accept: names.cut(field.accept, 200),
      disabled: dom.matches(field, ':disabled'),
    };
  }

  /**
   * Everything that hears of an event at this element, innermost first.
   * @param {Element} element
   */
  function around(element) {
    /** @type {EventTarget[]} */
    const path = [];
    /** @type {Node | null} */
    let at = element;
    while (at) {
      path.push(at);
      at = dom.parent(at) ?? (isShadowRoot(at) ? at.host : null);
    }
    const view = dom.view(dom.documentOf(element));
    if (view) path.push(view);
    return path;
  }

  /**
   * Whether who hears here hears of nearly the whole page.
   * @param {EventTarget} node
   * @param {Element} element
   */
  function isWide(node, element) {
    if (node === element) return false;
    if (node === dom.view(dom.documentOf(element))) return true;
    if (!dom.isElement(/** @type {Node} */ (node))) return dom.type(/** @type {Node} */ (node)) === 9;
    const box = dom.rect(/** @type {Element} */ (node));
    return /^(html|body)$/.test(dom.tag(/** @type {Element} */ (node))) || box.width * box.height > 0.6 * innerWidth * innerHeight;
  }

  /**
   * A dragged file is taken by whoever keeps the browser from its own way: showing the file instead of the page.
   * @param {string} id
   * @param {Element} element
   */
  function watchDrop(id, element) {
    const now = round(id);
    const path = around(element);
    now.end();
    [now.over, now.dropped] = ['none', 'none'];
    const hears = (/** @type {Event} */ event) => {
      const over = event.type === 'dragover';
      if (!over && event.type !== 'drop') return;
      const node = event.currentTarget;
      if (event.defaultPrevented && node) {
        const who = isWide(node, element) ? 'wide' : 'near';
        // Events of ours carry no effect.
        const refuses = over && event.isTrusted && /** @type {DragEvent} */ (event).dataTransfer?.dropEffect === 'none';
        if (over && now.over === 'none' && !refuses) now.over = who;
        if (!over && now.dropped === 'none') now.dropped = who;
      } else if (!over && node === path[path.length - 1]) {
        event.preventDefault();
      }
    };
    for (const node of path) for (const type of ['dragover', 'drop']) node.addEventListener(type, hears);
    now.end = () => {
      for (const node of path) for (const type of ['dragover', 'drop']) node.removeEventListener(type, hears);
    };
    return true;
  }

  /**
   * Keeps a press from sending a form or following a link: only the file chooser behind it is wanted.
   * @param {string} id
   * @param {Element} element
   */
  function stay(id, element) {
    const now = round(id);
    const view = dom.view(dom.documentOf(element));
    if (!view) return false;
    now.end();
    const noSubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    const noLink = (/** @type {Event} */ event) => {
      const [target] = event.composedPath();
      if (dom.isElement(/** @type {Node} */ (target)) && dom.closest(/** @type {Element} */ (target), 'a[href],area[href]')) {
        event.preventDefault();
      }
    };
    view.addEventListener('submit', noSubmit, true);
    view.addEventListener('click', noLink);
    now.end = () => {
      view.removeEventListener('submit', noSubmit, true);
      view.removeEventListener('click', noLink);
    };
    return true;
  }

  /**
   * @param {string} id
   * @param {Document} document
   */
  function transferOf(id, document) {
    const view = /** @type {Window & typeof globalThis} */ (dom.view(document));
    const transfer = new view.DataTransfer();
    for (const { name, type, modified, parts } of round(id).sent) {
      transfer.items.add(new view.File(parts, name, { type, lastModified: modified }));
    }
    return { view, transfer };
  }

  // Frames of the same origin have classes of their own.
  /** @param {Node} node @returns {node is ShadowRoot} */
  const isShadowRoot = (node) => dom.type(node) === 11 && 'host' in node;

  /** @param {string} base64 */
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

  return {
    finish,
    /**
     * About one field. It may belong to no document.
     * @param {{op: 'begin' | 'read' | 'set', id: string}} args
     * @param {HTMLInputElement} field
     */
    field(args, field) {
      if (!field || dom.tag(field) !== 'input' || field.type !== 'file') return { none: true };
      if (args.op === 'begin') return watchField(args.id, field);
      if (args.op === 'set') {
        const { view, transfer } = transferOf(args.id, dom.documentOf(field));
        field.files = transfer.files;
        field.dispatchEvent(new view.Event('input', { bubbles: true, composed: true }));
        field.dispatchEvent(new view.Event('change', { bubbles: true }));
      }
      return { now: heldBy(field), seen: round(args.id).seen };
    },
    /**
     * About one element to drop on.
     * @param {Element} element
     * @param {{op: 'begin' | 'read' | 'over' | 'drop' | 'stay', id: string}} args
     */
    drop(element, args) {
      if (args.op === 'begin') return watchDrop(args.id, element);
      if (args.op === 'stay') return stay(args.id, element);
      const now = round(args.id);
      if (args.op === 'over' || args.op === 'drop') {
        const { view, transfer } = transferOf(args.id, dom.documentOf(element));
        const box = dom.rect(element);
        const options = {
          bubbles: true, cancelable: true, composed: true, dataTransfer: transfer,
          clientX: box.left + box.width / 2, clientY: box.top + box.height / 2,
        };
        const types = args.op === 'over' ? ['dragenter', 'dragover'] : ['drop'];
        for (const type of types) element.dispatchEvent(new view.DragEvent(type, options));
      }
      return { over: now.over, dropped: now.dropped };
    },
    /**
     * A piece of a file.
     * @param {{id: string, file: number, first: boolean, name: string, type: string, modified: number, base64: string}} args
     */
    piece(args) {
      const { sent } = round(args.id);
      if (args.first) sent[args.file] = { name: args.name, type: args.type, modified: args.modified, parts: [] };
      if (args.base64) sent[args.file]?.parts.push(bytesOf(args.base64));
      return sent.length;
    },
  };
})();

registry.define('giveField', giving.field);
registry.defineFor('giveDrop', giving.drop);
registry.define('givePiece', giving.piece);
registry.define('giveEnd', giving.finish);
