// Hands out the element behind a slot, for DevTools commands that want an object; slot 0 is the document.
/**
 * @this {Registry}
 * @param {number} slot
 */
function element(slot) {
  return this.element(slot);
}
