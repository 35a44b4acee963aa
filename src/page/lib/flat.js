// The tree as it is rendered: shadow roots in place of their host's children, slotted nodes in their slots.

const flat = {
  /**
   * Visits the children in order.
   * @param {Element} element
   * @param {(child: Node) => void} visit
   */
  children(element, visit) {
    const root = dom.shadow(element);
    if (!root && dom.tag(element) === "slot") {
      const assigned = dom.assigned(element);
      if (assigned.length > 0) {
        for (const node of assigned) visit(node);
        return;
      }
    }
    for (let child = dom.firstChild(root ?? element); child; child = dom.next(child)) visit(child);
  },
};
