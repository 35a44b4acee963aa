// Tells the host at once of what holds up the page, when nothing can be asked of it any more: the print window.
// The name is one of this world alone, which page code cannot see.
for (const [type, word] of /** @type {const} */ ([['beforeprint', 'print'], ['afterprint', 'printed']])) {
  addEventListener(type, () => {
    const { browyTell } = /** @type {{browyTell?: (word: string) => void}} */ (/** @type {unknown} */ (globalThis));
    browyTell?.(word);
  });
}
