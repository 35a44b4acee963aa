// Sent as the declaration of every call into a page: `this` is the registry that only the host holds.
/**
 * @this {Registry}
 * @param {string} name
 * @param {...any} args
 */
function call(name, ...args) {
  return this.call(name, args);
}
