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
};
