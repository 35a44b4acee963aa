// Entry into the acting functions: picks the ones made for the element's own document, and carries points out
// through the frames of the same origin. (The frames of other processes are the host's to cross.)

/** @type {WeakMap<object, ReturnType<typeof actingKit>>} */
const actingKits = new WeakMap();

/**
 * @param {Window & typeof globalThis} view
 */
function actingKitOf(view) {
  let kit = actingKits.get(view.document);
  if (!kit) {
    kit = actingKit(view);
    actingKits.set(view.document, kit);
  }
  return kit;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {any} args
 */
function act(element, name, args) {
  const view = element.ownerDocument.defaultView;
  if (!view) return { class: 'gone', error: 'The element is not in the page any more.', connected: false };
  const kit = /** @type {any} */ (actingKitOf(view));
  const made = kit[name].call(element, args);
  return name === 'aim' || name === 'reach' ? carryOut(view, made, args.scroll !== false) : made;
}

/**
 * @param {Window} view
 * @param {any} aimed
 * @param {boolean} scroll
 */
function carryOut(view, aimed, scroll) {
  let out = aimed;
  let frame = view.frameElement;
  while (frame && !out.class) {
    const outer = /** @type {Window & typeof globalThis} */ (frame.ownerDocument.defaultView);
    const up = actingKitOf(outer).reach.call(frame, { x: out.x, y: out.y, scroll });
    out = up.class !== undefined ? up : { ...out, x: up.x, y: up.y, scrolled: out.scrolled || up.scrolled };
    frame = outer.frameElement;
  }
  return out;
}

/**
 * The watches that are running, by id.
 * @type {Map<string, {arm(guard: boolean): void, look(): void, read(): object, end(): void}>}
 */
const watches = new Map();

/**
 * @param {{id: string, op: 'arm' | 'look' | 'read' | 'stop', guard?: boolean}} args
 * @returns {object | null} null: no such watch, the document is another one
 */
function watching(args) {
  const found = watches.get(args.id);
  if (!found) return null;
  if (args.op === 'arm') found.arm(args.guard !== false);
  if (args.op === 'look') found.look();
  if (args.op !== 'stop') return found.read();
  found.end();
  watches.delete(args.id);
  return found.read();
}

/**
 * Looks at this document and the same-origin ones inside it until one of them says yes.
 * @param {any} args
 */
function waitingAnywhere(args) {
  const views = /** @type {(Window & typeof globalThis)[]} */ ([/** @type {any} */ (globalThis)]);
  let met = false;
  let late = false;
  const isOver = reading.deadline();
  for (let view = views.pop(); view; view = views.pop()) {
    const said = actingKitOf(view).waiting(args);
    if (said.wrong) return said;
    met ||= !!said.present;
    late ||= !!said.late;
    // Reading a text goes into the frames by itself.
    if (met || args.text !== undefined) break;
    if (isOver()) {
      late = true;
      break;
    }
    for (let i = 0; i < view.length; i++) {
      const inner = /** @type {any} */ (view[i]);
      try {
        if (inner.document) views.push(inner);
      } catch {
        // Another origin.
      }
    }
  }
  return { present: met, late: late && !met, complete: document.readyState === 'complete' };
}

/**
 * Scrolls the page, or what a selector finds into view.
 * @param {any} args
 * @param {string} [selector]
 */
function scrollPage(args, selector) {
  if (selector === undefined) return actingKitOf(/** @type {any} */ (globalThis)).scroll.call(null, args);
  let found;
  try {
    found = reading.find(selector);
  } catch {
    return { class: 'bad_argument', error: '`selector` is not a valid CSS selector.' };
  }
  const view = found?.ownerDocument.defaultView;
  return found && view ? actingKitOf(view).scroll.call(found, args) : { missing: true };
}

registry.define('scrollPage', scrollPage);
registry.defineFor('act', act);
registry.define('waiting', waitingAnywhere);
registry.define('watching', watching);
