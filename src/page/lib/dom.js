// The DOM read through its prototypes: a form whose field is called `children`, or a document with an image
// called `body`, answers those names with the field or the image.

const dom = (() => {
  /** @param {object} prototype @param {string} name @returns {(self: any) => any} */
  const getter = (prototype, name) => {
    const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
    if (!get) throw new Error(`no ${name}`);
    return Function.prototype.call.bind(get);
  };
  /** @param {any} prototype @param {string} name @returns {(self: any, ...args: any[]) => any} */
  const method = (prototype, name) => Function.prototype.call.bind(prototype[name]);

  const node = Node.prototype;
  const element = Element.prototype;
  const html = HTMLElement.prototype;

  const openRoot = getter(element, 'shadowRoot');
  /** Closed roots that the host found. @type {WeakMap<Element, ShadowRoot>} */
  const closedRoots = new WeakMap();
  const contentDocument = getter(HTMLIFrameElement.prototype, 'contentDocument');
  const frameDocument = getter(HTMLFrameElement.prototype, 'contentDocument');
  const host = getter(ShadowRoot.prototype, 'host');
  const editContextOf = Object.getOwnPropertyDescriptor(html, 'editContext')?.get;

  const self = {
    /** @type {(n: Node) => number} */ type: getter(node, 'nodeType'),
    /** @type {(n: Node) => Node | null} */ firstChild: getter(node, 'firstChild'),
    /** @type {(e: Element) => Element | null} */ firstElement: getter(element, 'firstElementChild'),
    /** @type {(n: Node) => Node | null} */ next: getter(node, 'nextSibling'),
    /** @type {(n: Node) => Node | null} */ parent: getter(node, 'parentNode'),
    /** @type {(n: Node) => Document} */ documentOf: getter(node, 'ownerDocument'),
    /** @type {(n: Node) => Document | ShadowRoot} */ rootOf: method(node, 'getRootNode'),
    /** @type {(n: Node, other: Node) => boolean} */ contains: method(node, 'contains'),
    /** @type {(n: Node) => string} */ data: getter(CharacterData.prototype, 'data'),
    /** @type {(e: Element) => string} */ tag: getter(element, 'localName'),
    /** @type {(e: Element, name: string) => string | null} */ attr: method(element, 'getAttribute'),
    /** @type {(e: Element, name: string) => boolean} */ has: method(element, 'hasAttribute'),
    /** @type {(e: Element) => boolean} */ hasAttributes: method(element, 'hasAttributes'),
    /** @type {(e: Element, selector: string) => boolean} */ matches: method(element, 'matches'),
    /** @type {(e: Element, selector: string) => Element | null} */ closest: method(element, 'closest'),
    /** @type {(e: Element) => DOMRect} */ rect: method(element, 'getBoundingClientRect'),
    /** @type {(e: Element) => DOMRectList} */ rects: method(element, 'getClientRects'),
    /** @type {(e: Element, selector: string) => Element | null} */ find: method(element, 'querySelector'),
    /** @type {(e: Element, selector: string) => NodeListOf<Element>} */ findAll: method(element, 'querySelectorAll'),
    /** @type {(d: Document, selector: string) => Element | null} */ findIn: method(
      Document.prototype,
      'querySelector',
    ),
    /** @type {(d: Document, selector: string) => NodeListOf<Element>} */
    findAllIn: method(Document.prototype, 'querySelectorAll'),
    /** @type {(e: Element) => number} */ clientWidth: getter(element, 'clientWidth'),
    /** @type {(e: Element) => number} */ clientHeight: getter(element, 'clientHeight'),
    /** @type {(e: Element) => number} */ clientLeft: getter(element, 'clientLeft'),
    /** @type {(e: Element) => number} */ clientTop: getter(element, 'clientTop'),
    /** @type {(e: Element) => number} */ scrollWidth: getter(element, 'scrollWidth'),
    /** @type {(e: Element) => number} */ scrollHeight: getter(element, 'scrollHeight'),
    /** @type {(e: Element) => number} */ offsetWidth: getter(html, 'offsetWidth'),
    /** @type {(e: Element) => HTMLSlotElement | null} */ slotOf: getter(element, 'assignedSlot'),
    /** @type {(s: Element) => Node[]} */ assigned: method(HTMLSlotElement.prototype, 'assignedNodes'),
    /** @type {(d: Document) => Element | null} */ rootElement: getter(Document.prototype, 'documentElement'),
    /** @type {(d: Document) => Element | null} */ body: getter(Document.prototype, 'body'),
    /** @type {(d: Document) => (Window & typeof globalThis) | null} */ view: getter(Document.prototype, 'defaultView'),
    /** @type {(d: Document) => string} */ title: getter(Document.prototype, 'title'),
    /** @type {(d: Document) => string} */ visibility: getter(Document.prototype, 'visibilityState'),
    /** @type {(d: Document) => string} */ contentType: getter(Document.prototype, 'contentType'),
    /** @type {(d: Document) => string} */ readyState: getter(Document.prototype, 'readyState'),
    /** @type {(d: Document) => Element | null} */ scroller: getter(Document.prototype, 'scrollingElement'),
    /** @type {(e: Element) => boolean} */ editable: getter(html, 'isContentEditable'),
    /** @type {(e: Element) => CSSStyleDeclaration} */ style: (e) => getComputedStyle(e),

    /** @param {Node | null} n @returns {n is Element} */
    isElement: (n) => n !== null && self.type(n) === 1,
    /** Where text goes that the page draws itself, without being editable. @param {Element} e @returns {{ text: string } | null} */
    editContext: (e) => editContextOf?.call(e) ?? null,
    /** Of HTML, not SVG or MathML. @param {Element} e @returns {e is HTMLElement} */
    isHtml: (e) => namespace(e) === 'http://www.w3.org/1999/xhtml',

    /** The open or closed shadow root. @param {Element} e @returns {ShadowRoot | null} */
    shadow: (e) => openRoot(e) ?? closedRoots.get(e) ?? null,
    /** @param {Element} e @param {ShadowRoot} root */
    adopt: (e, root) => void closedRoots.set(e, root),
    /** @param {Element} e */
    isClosedHost: (e) => closedRoots.has(e),

    /**
     * The document that a frame element shows, when this world may see it.
     * @param {Element} e
     * @returns {Document | null}
     */
    shown(e) {
      const name = self.tag(e);
      if (name === 'iframe') return contentDocument(e);
      if (name === 'frame') return frameDocument(e);
      return null;
    },

    /** An element by id in the same tree. @param {Element} e @param {string} id @returns {Element | null} */
    byId(e, id) {
      const root = self.rootOf(e);
      if (self.type(root) === 9) return idInDocument(root, id);
      return self.type(root) === 11 ? idInFragment(root, id) : null;
    },

    /**
     * The parent in the tree as it is rendered: through slots, shadow roots and frames.
     * @param {Node} n
     * @returns {Element | null}
     */
    flatParent(n) {
      const slot = self.isElement(n) ? self.slotOf(n) : null;
      if (slot) return slot;
      const up = self.parent(n);
      if (!up) return null;
      if (self.isElement(up)) return up;
      if (self.type(up) === 11) return host(up);
      if (self.type(up) === 9) return frameOf(/** @type {Document} */ (up));
      return null;
    },

    /**
     * All that a selector finds in a document or shadow root.
     * @param {Node} root
     * @param {string} selector
     * @returns {NodeListOf<Element>}
     */
    all(root, selector) {
      return self.type(root) === 9
        ? self.findAllIn(/** @type {Document} */ (root), selector)
        : findAllInFragment(root, selector);
    },

    /**
     * The document, its shadow roots and the documents of its same-origin frames, each before what is inside it.
     * @returns {Generator<Node, void>}
     */
    *roots() {
      /** @type {Node[]} */
      const roots = [document];
      for (let at = 0; at < roots.length && at < 5_000; at++) {
        const root = /** @type {Node} */ (roots[at]);
        yield root;
        for (const each of self.all(root, '*')) {
          const inner = self.shadow(each) ?? self.shown(each);
          if (inner) roots.push(inner);
        }
      }
    },

    /** The element that shows a document, in this world. @param {Document} d @returns {Element | null} */
    frameOf: (d) => frameOf(d),

    /** Whether `inner` is `outer` or rendered inside it. @param {Element} outer @param {Node | null} inner */
    holds(outer, inner) {
      for (let at = inner; at; at = self.flatParent(at)) if (at === outer) return true;
      return false;
    },
  };

  const namespace = getter(element, 'namespaceURI');
  const findAllInFragment = method(DocumentFragment.prototype, 'querySelectorAll');
  const idInDocument = method(Document.prototype, 'getElementById');
  const idInFragment = method(DocumentFragment.prototype, 'getElementById');

  /** @param {Document} d @returns {Element | null} */
  function frameOf(d) {
    const view = self.view(d);
    try {
      return view === null || d === document ? null : view.frameElement;
    } catch {
      return null;
    }
  }
  return self;
})();
