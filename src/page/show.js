// Writes a value of the page as text that a person would understand. Runs in the page's own world, on purpose:
// the value is the page's.
/**
 * @this {any}
 * @param {number} most characters
 */
function show(most) {
  const cut = (/** @type {string} */ text) => (text.length > most ? `${text.slice(0, most)}… (${text.length} characters in all)` : text);
  const isNode = (/** @type {any} */ value) => typeof Node === 'function' && value instanceof Node;
  // eslint-disable-next-line no-restricted-properties -- read, never written
  const markup = (/** @type {any} */ value) => String(value.outerHTML);
  const node = (/** @type {any} */ value) => {
    if (value.nodeType !== 1) return value.nodeType === 9 ? `#document ${value.URL}` : `${value.nodeName} ${JSON.stringify(value.nodeValue ?? '')}`;
    const html = markup(value);
    return html.length > 300 ? `${html.slice(0, 300)}…` : html;
  };
  const error = (/** @type {any} */ value) => `${value.name}: ${value.message}`;
  /** @type {object[]} */
  const around = [];
  /** @type {(this: any, key: string, value: any) => any} */
  function plain(_key, value) {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'function') return `function ${value.name || '(unnamed)'}`;
    if (typeof value === 'symbol') return String(value);
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
    if (value === undefined) return Array.isArray(this) ? null : undefined;
    if (typeof value !== 'object' || value === null) return value;
    if (value === globalThis) return '[window]';
    if (isNode(value)) return node(value);
    if (value instanceof Error) return error(value);
    if (value instanceof RegExp) return String(value);
    while (around.length && around[around.length - 1] !== this) around.pop();
    if (around.includes(value)) return '[circular]';
    let next = value;
    if (value instanceof Map) next = [...value];
    else if (value instanceof Set || ArrayBuffer.isView(value)) next = Array.from(/** @type {any} */ (value));
    else if (!Array.isArray(value) && typeof value.length === 'number' && typeof value.item === 'function') next = Array.from(value);
    around.push(next);
    return next;
  }
  if (typeof this === 'function') return cut(Function.prototype.toString.call(this));
  if (isNode(this)) return this.nodeType === 1 ? cut(markup(this)) : node(this);
  if (this instanceof Error) return cut(String(this.stack || error(this)));
  if (this === globalThis) return '[window]';
  try {
    return cut(JSON.stringify(this, plain) ?? String(this));
  } catch (failure) {
    return cut(`${Object.prototype.toString.call(this)} (not readable: ${failure})`);
  }
}
