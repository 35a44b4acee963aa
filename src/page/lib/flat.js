// The tree as it is rendered: shadow roots in place of their host's children, slotted nodes in their slots.

const flat = {
  /**
   * Visits the children in order.
   * @param {Element} element
   * @param {(child: Node) => void} visit
   */
  children(element, visit) {
    const root = dom.shadow(element);
    const only = flat.folded(element);
    if (only !== undefined) {
      if (only) visit(only);
      return;
    }
    if (!root && dom.tag(element) === 'slot') {
      const assigned = dom.assigned(element);
      if (assigned.length > 0) {
        for (const node of assigned) visit(node);
        return;
      }
    }
    for (let child = dom.firstChild(root ?? element); child; child = dom.next(child)) visit(child);
  },

  /**
   * The summary of `<details>` that is folded up, all that is rendered of it; `undefined` for anything else.
   * @param {Element} element
   * @returns {Element | null | undefined}
   */
  folded(element) {
    if (dom.tag(element) !== 'details' || dom.has(element, 'open')) return undefined;
    for (let child = dom.firstChild(element); child; child = dom.next(child)) {
      if (dom.isElement(child) && dom.tag(child) === 'summary') return child;
    }
    return null;
  },

  /**
   * The children of a flex or grid box as they are shown; `null`: as they stand.
   * @param {Node} first
   * @param {CSSStyleDeclaration} style
   * @returns {Node[] | null}
   */
  reordered(first, style) {
    /** @type {{ node: Node, order: number }[]} */
    const children = [];
    let any = false;
    for (let node = /** @type {Node | null} */ (first); node; node = dom.next(node)) {
      const order = dom.isElement(node) ? Number(dom.style(node).order) || 0 : 0;
      any ||= order !== 0;
      children.push({ node, order });
    }
    const backwards = style.display.endsWith('flex') && style.flexDirection.endsWith('reverse');
    if (!any && !backwards) return null;
    if (any) children.sort((a, b) => a.order - b.order);
    if (backwards) children.reverse();
    return children.map((child) => child.node);
  },
};
