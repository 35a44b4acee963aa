// The registry: what the host can call in this world, and which element a slot means.
// Page code can reach none of it: the world is isolated and the registry hangs on nothing but the host's handle.

/** @type {Registry} */
const registry = (() => {
  /** @type {Map<string, (...args: any[]) => unknown>} */
  const functions = new Map();
  /** @type {WeakMap<Element, number>} */
  const slots = new WeakMap();
  /** @type {Map<number, WeakRef<Element>>} */
  const elements = new Map();
  let last = 0;

  const GONE = '{"gone":true}';
  const connected = Object.getOwnPropertyDescriptor(Node.prototype, 'isConnected')?.get;
  const ownerDocument = Object.getOwnPropertyDescriptor(Node.prototype, 'ownerDocument')?.get;
  const defaultView = Object.getOwnPropertyDescriptor(Document.prototype, 'defaultView')?.get;
  if (!connected || !ownerDocument || !defaultView) throw new Error('no DOM here');

  /**
   * Half a surrogate pair is no text: strict JSON readers refuse the whole message.
   * @param {unknown} value
   */
  function encode(value) {
    const json = JSON.stringify(value) ?? 'null';
    const whole = json.includes('\\ud') ? json.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\ufffd') : json;
    return `{"ok":${whole}}`;
  }

  /** @type {Registry} */
  const self = {
    define(name, run) {
      functions.set(name, run);
    },
    defineFor(name, run) {
      functions.set(name, (slot, ...args) => {
        const element = elements.get(slot)?.deref();
        return element && self.isShown(element) ? run(element, ...args) : self;
      });
    },
    call(name, args) {
      const run = functions.get(name);
      if (!run) throw new Error(`no page function ${name}`);
      const value = run(...args);
      if (value === self) return GONE;
      return value instanceof Promise ? value.then((late) => (late === self ? GONE : encode(late))) : encode(value);
    },
    element(slot) {
      return slot === 0 ? document : (elements.get(slot)?.deref() ?? null);
    },
    slotOf(element) {
      const known = slots.get(element);
      if (known !== undefined) return known;
      last += 1;
      slots.set(element, last);
      elements.set(last, new WeakRef(element));
      return last;
    },
    isShown(element) {
      return connected.call(element) && defaultView.call(ownerDocument.call(element)) !== null;
    },
  };
  return self;
})();
