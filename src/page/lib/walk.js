// One pass over everything that is rendered: what can be acted on, what must be read, and where it is.

const walk = (() => {
  const SKIP =
    /^(script|style|template|head|meta|link|title|noscript|base|param|source|track|option|optgroup|datalist|br|wbr|col|colgroup|defs|symbol)$/;
  const ROLES =
    /^(button|link|checkbox|radio|tab|menuitem|menuitemcheckbox|menuitemradio|combobox|option|switch|textbox|searchbox|treeitem|slider|spinbutton)$/;
  /** Elements of which every part acts as the whole. */
  const LEAF = /^(button|link|checkbox|radio|tab|menuitem|menuitemcheckbox|menuitemradio|option|switch)$/;
  const LIVE = /^(alert|alertdialog|status|log)$/;
  const GROUPS = /^(group|radiogroup|dialog|alertdialog)$/;
  /** Elements whose insides are no part of the page. */
  const CLOSED = /^(textarea|select|video|audio|canvas|object)$/;
  /** Elements one walk looks at. */
  const MOST = 400_000;

  /** Nodes with pointer listeners, as DevTools told the host. @type {WeakSet<Element>} */
  const listening = new WeakSet();
  /** Elements that were asked whether they hold a closed shadow root. @type {WeakSet<Element>} */
  const asked = new WeakSet();
  /** Elements that can hold a root; whether it is closed only the browser can tell. */
  const HOSTS = /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/;

  /** Whether it may hold a closed root that nobody asked for yet. @param {Element} element @param {string} tag */
  function mayHost(element, tag) {
    if (asked.has(element)) return false;
    if (tag.includes('-')) return true;
    if (dom.firstChild(element) || !HOSTS.test(tag)) return false;
    // Most empty boxes have no height.
    return dom.clientHeight(element) >= 20 && dom.clientWidth(element) >= 20;
  }

  /**
   * Whether a person can act on it, and how that is known.
   * @param {Element} element @param {string} tag @param {string} role @param {boolean} bare without attributes
   * @param {CSSStyleDeclaration} style @param {Inherited} inherited
   * @returns {Candidate["kind"] | null}
   */
  function kindOf(element, tag, role, bare, style, inherited) {
    if (NATIVE.test(tag) && isNative(element, tag)) return 'control';
    if (tag === 'html' || tag === 'body') {
      const edited = inherited.place.design || (dom.has(element, 'contenteditable') && dom.editable(element));
      return !inherited.editable && edited ? 'control' : null;
    }
    if (tag === 'iframe' || tag === 'frame' || tag === 'input') return null;
    if (role && ROLES.test(role)) return 'control';
    if (!bare) {
      if (!inherited.editable && dom.has(element, 'contenteditable') && dom.isHtml(element) && dom.editable(element))
        return 'control';
      if (dom.has(element, 'onclick')) return 'handler';
      if (dom.has(element, 'tabindex') && Number(dom.attr(element, 'tabindex')) >= 0) return 'handler';
    }
    if (listening.has(element)) return 'handler';
    if (tag === 'li' && isHeardByList(element)) return 'weak';
    return !inherited.pointer && style.cursor === 'pointer' ? 'weak' : null;
  }

  /** Sortable lists and menus often hear the presses for all of their rows. @param {Element} row */
  function isHeardByList(row) {
    const list = dom.parent(row);
    return list !== null && dom.isElement(list) && /^(ul|ol)$/.test(dom.tag(list)) && listening.has(list);
  }

  const NATIVE = /^(input|button|select|textarea|a|area|summary|video|audio)$/;
  /** @param {Element} element @param {string} tag */
  function isNative(element, tag) {
    if (tag === 'a' || tag === 'area') return dom.has(element, 'href') || dom.has(element, 'xlink:href');
    if (tag === 'video' || tag === 'audio') return dom.has(element, 'controls');
    if (tag === 'input') return (dom.attr(element, 'type') ?? '').toLowerCase() !== 'hidden';
    if (tag !== 'summary') return true;
    const parent = dom.parent(element);
    return parent !== null && dom.isElement(parent) && dom.tag(parent) === 'details';
  }

  /** @param {Candidate} candidate */
  const isLeaf = (candidate) =>
    candidate.kind === 'control' && (LEAF.test(candidate.role) || /^(a|button|summary|label)$/.test(candidate.tag));

  /** @param {Element} element @param {string} tag @param {string} role */
  function isText(element, tag, role) {
    if (role) return LIVE.test(role) || GROUPS.test(role) || role === 'heading' || liveness(element);
    return TEXT.test(tag) || liveness(element);
  }
  const TEXT = /^(h[1-6]|dialog|fieldset|output)$/;
  /** @param {Element} element @param {string} tag @param {string} role */
  const isLive = (element, tag, role) => LIVE.test(role) || tag === 'output' || liveness(element);
  /** @param {Element} element */
  function liveness(element) {
    const live = dom.attr(element, 'aria-live');
    return live === 'polite' || live === 'assertive';
  }

  /** Boxes that words stand in, and that nothing but their style can make anything of. */
  const PLAIN = /^(span|div|p|td|th|li|b|i|em|strong|small|dt|dd|u|s|code|time|sup|sub|mark|q|cite|kbd|var|abbr|figcaption|pre|blockquote|section|article)$/;

  /**
   * Whether an element without attributes and without elements inside is no more than its words. Most of a page is;
   * every style that need not be read counts.
   * @param {Element} element @param {string} tag @param {CSSStyleDeclaration} style @param {string} display
   * @param {Inherited} up
   */
  function isPlain(element, tag, style, display, up) {
    if (!PLAIN.test(tag) || dom.firstElement(element) || dom.shadow(element) || listening.has(element)) return false;
    if (tag === 'li' && isHeardByList(element)) return false;
    if (!up.pointer && style.cursor === 'pointer') return false;
    return display === 'inline' || !/auto|scroll/.test(style.overflow);
  }

  /** Whether absolute and fixed boxes inside stay in this one. @param {CSSStyleDeclaration} style */
  const holds = (style) =>
    style.transform !== 'none' ||
    style.filter !== 'none' ||
    style.perspective !== 'none' ||
    style.contain.includes('paint');

  /** Whether `position: fixed` means an ancestor's box and not the viewport. @param {Element} element */
  function isHeld(element) {
    for (let up = dom.flatParent(element); up; up = dom.flatParent(up)) {
      if (holds(dom.style(up))) return true;
    }
    return false;
  }

  /** Whether a person can hit the control itself. @param {Element} element */
  function operable(element) {
    const rect = dom.rect(element);
    const view = dom.view(dom.documentOf(element));
    if (rect.width < 2 || rect.height < 2 || !view) return false;
    if (rect.right + view.scrollX <= 0 || rect.bottom + view.scrollY <= 0) return false;
    const style = dom.style(element);
    return style.visibility === 'visible' && style.pointerEvents !== 'none' && !isClippedAway(style);
  }
  /** @param {CSSStyleDeclaration} style */
  function isClippedAway(style) {
    if (
      style.position === 'absolute' &&
      style.clip !== 'auto' &&
      /^rect\(0px,? 0px,? 0px,? 0px\)$|^rect\(1px,? 1px,? 1px,? 1px\)$/.test(style.clip)
    )
      return true;
    const path = style.clipPath;
    return path !== 'none' && (/^inset\((50|100)%/.test(path) || path.startsWith('circle(0px'));
  }

  /**
   * @param {Document} document
   * @param {Element | null} frame
   * @param {Place | null} outer
   * @param {number} x
   * @param {number} y
   * @returns {Place}
   */
  function place(document, frame, outer, x, y) {
    const view = dom.view(document);
    const modals = dom.findAllIn(document, 'dialog:modal');
    return {
      document,
      frame,
      outer,
      x,
      y,
      width: view?.innerWidth ?? 0,
      height: view?.innerHeight ?? 0,
      covered: false,
      design: document.designMode === 'on',
      modal: modals[modals.length - 1] ?? null,
    };
  }

  /**
   * What a document hands to its root element.
   * @param {Place} of
   * @param {Edges} seen
   * @param {boolean} reachable
   * @param {Inherited | null} outer
   * @returns {Inherited}
   */
  function start(of, seen, reachable, outer) {
    const view = dom.view(of.document);
    const root = dom.rootElement(of.document);
    const rtl = root !== null && dom.style(root).direction === 'rtl';
    const window = { left: of.x, top: of.y, right: of.x + of.width, bottom: of.y + of.height };
    const visible = geometry.meet(window, seen);
    const reach = reachable
      ? {
          left: rtl ? -Infinity : of.x - (view?.scrollX ?? 0),
          top: of.y - (view?.scrollY ?? 0),
          right: Infinity,
          bottom: Infinity,
        }
      : geometry.NOWHERE;
    const clip = { seen: visible, reach };
    return {
      place: of,
      clip,
      absolute: clip,
      fixed: { seen: visible, reach: reachable ? window : geometry.NOWHERE },
      opacity: outer?.opacity ?? 1,
      pointer: false,
      inert: (outer?.inert ?? false) || of.modal !== null,
      disabled: outer?.disabled ?? false,
      editable: false,
      live: outer?.live ?? false,
      layer: outer?.layer ?? 0,
      owner: null,
    };
  }

  class Walk {
    /** @type {Candidate[]} */
    candidates = [];
    /** @type {Map<Element, Candidate>} */
    made = new Map();
    /** Hosts that may hold a closed root. @type {Element[]} */
    hosts = [];
    /** @type {Place[]} */
    places = [];
    /** @type {ShadowRoot[]} */
    shadows = [];
    /** The style of the element entered last, when it may show its children in another order. @type {CSSStyleDeclaration | null} */
    reorders = null;
    counts = { elements: 0, text: 0, frames: 0, links: 0, buttons: 0, fields: 0 };

    /** @param {Edges} seen what of the world's own viewport can be seen in the tab */
    constructor(seen) {
      this.seen = seen;
    }

    /** @param {Element | null} from */
    run(from) {
      const own = place(document, null, null, 0, 0);
      this.places.push(own);
      const root = dom.rootElement(document);
      if (!root) return;
      const first = start(own, this.seen, true, null);
      /** @type {{ nodes: Node[] | null, at: number, next: Node | null, inherited: Inherited }[]} */
      const stack = [
        { nodes: from ? [from] : [root], at: 0, next: null, inherited: from ? this.around(from, first) : first },
      ];
      while (stack.length > 0 && this.counts.elements < MOST) {
        const top = /** @type {(typeof stack)[number]} */ (stack[stack.length - 1]);
        /** @type {Node | null | undefined} */
        let node;
        if (top.nodes) node = top.nodes[top.at++];
        else {
          node = top.next;
          if (node) top.next = dom.next(node);
        }
        if (!node) {
          stack.pop();
          continue;
        }
        const type = dom.type(node);
        if (type === 3) {
          if (this.counts.text < 100_000) this.counts.text += dom.data(node).trim().length;
          continue;
        }
        if (type !== 1) continue;
        const element = /** @type {Element} */ (node);
        const inherited = this.enter(element, top.inherited);
        if (!inherited) continue;
        const inner = dom.shown(element);
        if (inner) {
          const innerRoot = dom.rootElement(inner);
          if (innerRoot) stack.push({ nodes: [innerRoot], at: 0, next: null, inherited });
          continue;
        }
        const only = flat.folded(element);
        if (only !== undefined) {
          if (only) stack.push({ nodes: [only], at: 0, next: null, inherited });
          continue;
        }
        const shadow = dom.shadow(element);
        if (shadow) this.shadows.push(shadow);
        else if (dom.tag(element) === 'slot') {
          const assigned = dom.assigned(element);
          if (assigned.length > 0) {
            stack.push({ nodes: assigned, at: 0, next: null, inherited });
            continue;
          }
        }
        const next = dom.firstChild(shadow ?? element);
        if (!next) continue;
        const nodes = this.reorders ? flat.reordered(next, this.reorders) : null;
        stack.push({ nodes, at: 0, next, inherited });
      }
      this.hiddenFileInputs(first);
    }

    /**
     * What the surroundings of a region hand down; the region itself is walked as if it stood alone.
     * @param {Element} element
     * @param {Inherited} first
     * @returns {Inherited}
     */
    around(element, first) {
      const outer = dom.documentOf(element);
      if (outer === document) return { ...first, inert: first.inert && !first.place.modal?.contains(element) };
      let x = 0;
      let y = 0;
      for (let frame = dom.frameOf(outer); frame; frame = dom.frameOf(dom.documentOf(frame))) {
        const inset = geometry.inset(frame);
        x += inset.x;
        y += inset.y;
      }
      const own = place(outer, dom.frameOf(outer), first.place, x, y);
      this.places.push(own);
      return start(own, this.seen, true, first);
    }

    /**
     * Takes note of one element. What it hands to its children, or `null` when they are not rendered.
     * @param {Element} element @param {Inherited} up @returns {Inherited | null}
     */
    enter(element, up) {
      const tag = dom.tag(element);
      if (SKIP.test(tag)) return null;
      this.counts.elements += 1;
      const style = dom.style(element);
      // Every read of a style is a question to the browser: each is asked once, and only when it matters.
      const display = style.display;
      if (display === 'none') return null;
      const bare = !dom.hasAttributes(element);
      this.reorders = null;
      if (bare && isPlain(element, tag, style, display, up)) {
        this.mayHold(element, tag);
        return up;
      }
      if (style.contentVisibility === 'hidden') return null;
      if (display.endsWith('flex') || display.endsWith('grid')) this.reorders = style;
      const role = bare ? '' : names.role(element);
      const position = style.position;
      const clip =
        position === 'absolute' ? up.absolute : position === 'fixed' && !isHeld(element) ? up.fixed : up.clip;
      const ownOpacity = style.opacity;
      const opacity = ownOpacity === '1' ? up.opacity : up.opacity * Number(ownOpacity);
      const pointer = style.cursor === 'pointer';
      // Most elements hand down what they were handed.
      let down = up;
      if (clip !== up.clip || opacity !== up.opacity || pointer !== up.pointer)
        down = { ...up, clip, opacity, pointer };
      if (!bare) down = this.states(element, role, up, down);
      const overflow = style.overflow;
      const clips = overflow !== 'visible' && this.clips(tag, display, down.place);
      const candidate = this.candidate(element, tag, role, bare, style, up, down, clips ? overflow : '');
      const frame = tag === 'iframe' || tag === 'frame';
      const shadow = dom.shadow(element);
      // To words alone nothing is handed down.
      if (!frame && !shadow && tag !== 'slot' && !dom.firstElement(element)) {
        this.mayHold(element, tag);
        return CLOSED.test(tag) ? null : down;
      }
      if (candidate && candidate.kind !== 'text' && candidate.kind !== 'scroll') {
        down = {
          ...down,
          owner: candidate,
          editable: up.editable || (candidate.kind === 'control' && dom.isHtml(element) && dom.editable(element)),
        };
      } else if (candidate?.kind === 'text' && isLive(element, tag, role)) down = { ...down, live: true };
      if (clips) {
        const edges = geometry.placed(down.place, dom.rect(element));
        const [x = '', y = x] = overflow.split(' ');
        down = { ...down, clip: geometry.clipped(clip, edges, element, x, y, style.direction === 'rtl') };
      }
      if (down.clip !== down.absolute && (position !== 'static' || holds(style)))
        down = { ...down, absolute: down.clip };
      if (frame) return this.frame(element, style, down);
      if (!shadow) this.mayHold(element, tag);
      return CLOSED.test(tag) ? null : down;
    }

    /** Notes an element that may hold a closed root. @param {Element} element @param {string} tag */
    mayHold(element, tag) {
      if (this.hosts.length < 64 && mayHost(element, tag)) this.hosts.push(element);
    }

    /**
     * What its attributes do to everything inside it.
     * @param {Element} element
     * @param {string} role
     * @param {Inherited} up
     * @param {Inherited} down
     * @returns {Inherited}
     */
    states(element, role, up, down) {
      const modal = element === up.place.modal;
      const popover = dom.has(element, 'popover') && dom.matches(element, ':popover-open');
      const dialog = role.endsWith('dialog') && dom.attr(element, 'aria-modal') === 'true';
      const inert = dom.has(element, 'inert') || (up.inert && !modal);
      const disabled = up.disabled || dom.attr(element, 'aria-disabled') === 'true';
      if (!modal && !popover && !dialog)
        return inert === up.inert && disabled === up.disabled ? down : { ...down, inert, disabled };
      return { ...down, inert, disabled, layer: up.layer + 1, owner: null };
    }

    /**
     * Whether `overflow` works on the element's own box.
     * @param {string} tag
     * @param {string} display
     * @param {Place} of
     */
    clips(tag, display, of) {
      if (tag === 'html' || display === 'inline' || display === 'contents') return false;
      if (tag !== 'body') return true;
      const root = dom.rootElement(of.document);
      return root !== null && dom.style(root).overflowX !== 'visible';
    }

    /**
     * @param {Element} element
     * @param {string} tag
     * @param {string} role
     * @param {boolean} bare
     * @param {CSSStyleDeclaration} style
     * @param {Inherited} up
     * @param {Inherited} down
     * @param {string} overflow what it does to what is inside it; empty: nothing
     * @returns {Candidate | null}
     */
    candidate(element, tag, role, bare, style, up, down, overflow) {
      if (tag === 'label') return this.label(element, style, down);
      let kind = kindOf(element, tag, role, bare, style, up);
      const owner = down.owner;
      if ((kind === 'handler' || kind === 'weak') && owner && isLeaf(owner)) kind = null;
      if (kind === 'weak' && owner && owner.kind !== 'handler') kind = null;
      if (up.editable && kind !== 'control') kind = null;
      if (!kind && !overflow && bare && !TEXT.test(tag)) return null;
      if (style.visibility !== 'visible') return null;
      const scrollable = /auto|scroll/.test(overflow) && isScrollable(element, overflow);
      if (!kind && scrollable && !owner) kind = 'scroll';
      if (!kind && !down.live && isText(element, tag, role) && !(owner && owner.kind !== 'scroll')) kind = 'text';
      if (!kind || this.made.has(element)) return null;
      const made = this.make(element, kind, tag, role, style, owner, down, scrollable);
      if (tag === 'input' ? isClippedAway(style) && dom.matches(element, '[type=range]') : hasContext(element, role)) standBy(made);
      return made;
    }

    /**
     * @param {Element} element
     * @param {Candidate["kind"]} kind
     * @param {string} tag
     * @param {string} role
     * @param {CSSStyleDeclaration | null} style of what is to be seen of it
     * @param {Candidate | null} owner
     * @param {Inherited} inherited
     * @param {boolean} scrollable
     * @returns {Candidate}
     */
    make(element, kind, tag, role, style, owner, inherited, scrollable) {
      /** @type {Candidate} */
      const candidate = {
        element,
        proxy: null,
        kind,
        tag,
        role,
        style,
        owner,
        inner: 0,
        inherited,
        clip: inherited.clip,
        scrollable,
        box: null,
        dropped: false,
        hidden: false,
        text: null,
      };
      this.candidates.push(candidate);
      this.made.set(element, candidate);
      return candidate;
    }

    /**
     * A label stands for its control when that cannot be hit itself.
     * @param {Element} label
     * @param {CSSStyleDeclaration} style
     * @param {Inherited} down
     * @returns {Candidate | null}
     */
    label(label, style, down) {
      const control = geometry.control(label);
      if (!control) {
        return listening.has(label) || style.cursor === 'pointer'
          ? this.make(label, 'handler', 'label', '', style, down.owner, down, false)
          : null;
      }
      const known = this.made.get(control);
      if (operable(control)) return known ?? this.stand(label, style, down);
      if (known?.proxy) return known;
      // A press on the label gives no focus to what is not there.
      if (dom.matches(control, 'textarea') && !control.checkVisibility()) return this.stand(label, style, down);
      if (known) known.dropped = true;
      if (style.visibility !== 'visible') return null;
      const tag = dom.tag(control);
      const candidate = this.make(control, 'control', tag, names.role(control), style, down.owner, down, false);
      candidate.proxy = label;
      return candidate;
    }

    /**
     * Owns what is inside a label without being listed.
     * @param {Element} label
     * @param {CSSStyleDeclaration} style
     * @param {Inherited} down
     * @returns {Candidate}
     */
    stand(label, style, down) {
      const candidate = this.make(label, 'control', 'label', '', style, down.owner, down, false);
      candidate.dropped = true;
      return candidate;
    }

    /**
     * @param {Element} element
     * @param {CSSStyleDeclaration} style
     * @param {Inherited} down
     * @returns {Inherited | null}
     */
    frame(element, style, down) {
      this.counts.frames += 1;
      if (style.visibility !== 'visible' || down.opacity < 0.05) return null;
      const inset = geometry.inset(element);
      if (inset.rect.width < 2 || inset.rect.height < 2) return null;
      const inner = dom.shown(element);
      if (!inner) {
        this.make(element, 'frame', 'iframe', '', style, null, down, false);
        return null;
      }
      const of = place(inner, element, down.place, down.place.x + inset.x, down.place.y + inset.y);
      const window = { left: of.x, top: of.y, right: of.x + of.width, bottom: of.y + of.height };
      this.places.push(of);
      return start(of, down.clip.seen, !geometry.isEmpty(geometry.meet(window, down.clip.reach)), down);
    }

    /** File fields are usually not shown; the button beside them opens them. @param {Inherited} first */
    hiddenFileInputs(first) {
      for (const of of this.places) {
        for (const input of dom.findAllIn(of.document, 'input[type=file]')) {
          const known = this.made.get(input);
          if (known && (known.proxy || operable(input))) continue;
          if (known) known.dropped = true;
          const candidate = this.make(
            input,
            'control',
            'input',
            '',
            null,
            null,
            { ...first, place: of, clip: { seen: geometry.NOWHERE, reach: geometry.EVERYWHERE } },
            false,
          );
          candidate.hidden = true;
        }
      }
    }
  }

  /** An editor that draws its text elsewhere. @param {Element} element @param {string} role */
  const hasContext = (element, role) => role === 'textbox' && dom.editContext(element) !== null && !operable(element);

  /**
   * The handle of a slider that is clipped away stands for it, the surface of an editor for the point its text goes to.
   * @param {Candidate} candidate
   */
  function standBy(candidate) {
    const around = dom.flatParent(candidate.element);
    if (!around || !operable(around)) return;
    candidate.proxy = around;
    candidate.style = null;
  }

  /** @param {Element} element @param {string} overflow `x y`, or one word for both */
  function isScrollable(element, overflow) {
    const [x = '', y = x] = overflow.split(' ');
    const scrolls = (/** @type {string} */ way) => way === 'auto' || way === 'scroll';
    const height = dom.clientHeight(element);
    if (height < 20) return false;
    const width = dom.clientWidth(element);
    if (width < 20) return false;
    return (
      (scrolls(y) && dom.scrollHeight(element) > height + 4) || (scrolls(x) && dom.scrollWidth(element) > width + 4)
    );
  }

  return { Walk, mayHost, listening, asked, isLeaf, operable, isClippedAway, holds };
})();
