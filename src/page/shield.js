// Runs in documents that come while an element is clicked several times: the rest of those clicks is not theirs.
// For a moment, and in a world that page code cannot see.
(() => {
  /** @param {Event} event */
  const stop = (event) => {
    if (!event.isTrusted) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  const types = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  for (const type of types) addEventListener(type, stop, true);
  setTimeout(() => {
    for (const type of types) removeEventListener(type, stop, true);
  }, 500);
})();
