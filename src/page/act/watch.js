/** Watches of this document, by id. @type {Map<string, ReturnType<typeof begin>>} */
const watches = new Map();

/**
 * Sees what an act does to the page, and keeps a press from landing on anything but its target.
 * `start` before the act (what moves by itself until `arm` is taken for noise), `arm` right before the press,
 * `read` as often as wanted, `stop` at the end. Everything stays in the isolated world.
 * @this {Element}
 * @param {{op: 'start' | 'arm' | 'read' | 'stop', id: string, guard?: boolean, option?: string}} args
 */
function watch(args) {
  if (args.op === 'start') {
    watches.get(args.id)?.end();
    const started = begin(this, args.option);
    watches.set(args.id, started);
    return started.read();
  }
  const watching = watches.get(args.id);
  if (!watching) return null;
  if (args.op === 'arm') watching.arm(args.guard !== false);
  if (args.op === 'stop') {
    watching.end();
    watches.delete(args.id);
  }
  return watching.read();
}

/**
 * @param {Element} asked
 * @param {string | undefined} option
 */
function begin(asked, option) {
  const aimed = option === undefined ? asked : (optionOf(asked, option) ?? asked);
  const target = isDrawn(aimed) ? aimed : (standIn(aimed) ?? aimed);
  const roots = rootsOf(target);
  const region = regionOf(target);
  const first = { url: location.href, title: document.title, state: stateOf(aimed), modals: openModals(roots) };
  const noise = new WeakSet();
  let armed = false, hot = 0, effects = 0;

  const observer = new MutationObserver(records => {
    for (const record of records) {
      if (!armed) noise.add(record.target);
      else if (isEffect(record, hot > 0, region, noise)) effects++;
    }
  });
  const options = { subtree: true, childList: true, attributes: true, characterData: true, characterDataOldValue: true };
  for (const root of [document, ...roots.values()]) observer.observe(root, options);

  let guarding = false;
  let landed = /** @type {boolean | null} */ (null), landedOn = '';
  const touched = (/** @type {Event} */ event) => {
    if (!armed || !event.isTrusted) return;
    // What handlers do at once, and in what they await, is the act's doing.
    hot++;
    setTimeout(() => hot--, 0);
    if (guarding && event instanceof MouseEvent) {
      if (landed === null) {
        const at = event.composedPath();
        const hit = hitAt(event.clientX, event.clientY, roots);
        landed = at.includes(target) || isPressOn(hit, target, roots);
        if (!landed) landedOn = hit ? describeCover(hit, target, roots) : 'nothing';
      }
      if (!landed) {
        event.stopImmediatePropagation();
        event.preventDefault();
      }
      if (event.type === 'click' || event.type === 'auxclick') guarding = false;
    }
  };
  const presses = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];
  const others = ['keydown', 'beforeinput', 'input', 'change'];
  for (const type of [...presses, ...others]) addEventListener(type, touched, true);

  return {
    arm(/** @type {boolean} */ guard) {
      observer.takeRecords().forEach(record => noise.add(record.target));
      armed = true;
      guarding = guard;
      // The person's own clicks are not ours to judge for longer than a press takes.
      if (guard) setTimeout(() => { guarding = false; }, 1000);
    },
    read() {
      for (const record of observer.takeRecords()) {
        if (armed && isEffect(record, hot > 0, region, noise)) effects++;
      }
      const modals = openModals(roots), state = stateOf(aimed);
      const opened = [...modals].find(modal => !first.modals.has(modal));
      return {
        effects,
        landed,
        landedOn,
        connected: aimed.isConnected,
        url: location.href,
        title: oneLine(document.title, 200),
        urlChanged: location.href !== first.url,
        titleChanged: document.title !== first.title,
        modalAppeared: opened ? describe(opened) : null,
        modalClosed: [...first.modals].some(modal => !modals.has(modal)),
        stateChanged: JSON.stringify(state) !== JSON.stringify(first.state),
        state,
        ready: document.readyState,
      };
    },
    end() {
      observer.disconnect();
      for (const type of [...presses, ...others]) removeEventListener(type, touched, true);
    },
  };
}

/**
 * The part of the page where any change counts as this element's.
 * @param {Element} target
 * @returns {Element[]}
 */
function regionOf(target) {
  const near = target.closest(
    'form,dialog,[role=dialog],[role=alertdialog],[role=listbox],[role=menu],fieldset,section,article,li,tr,[role=row]',
  );
  const region = [near ?? target.parentElement ?? target];
  const root = /** @type {Document | ShadowRoot} */ (target.getRootNode());
  for (const attribute of ['aria-controls', 'aria-owns', 'aria-describedby', 'aria-errormessage']) {
    for (const id of (target.getAttribute(attribute) ?? '').split(/\s+/)) {
      const other = id ? root.getElementById(id) : null;
      if (other) region.push(other);
    }
  }
  return region;
}

/**
 * Whether a mutation tells of the act. Clocks, carousels and advertisements move by themselves.
 * @param {MutationRecord} record
 * @param {boolean} hot the act's own handlers were running
 * @param {Element[]} region
 * @param {WeakSet<Node>} noise what moved before the act
 */
function isEffect(record, hot, region, noise) {
  if (noise.has(record.target)) return false;
  if (hot || region.some(part => part.contains(record.target))) return true;
  if (record.type === 'attributes') return /^(aria-|hidden$|open$|disabled$|inert$|value$|checked$)/.test(record.attributeName ?? '');
  const letters = (/** @type {string | null | undefined} */ text) => (text ?? '').replace(/[^\p{L}]/gu, '');
  if (record.type === 'characterData') return letters(record.oldValue) !== letters(record.target.textContent);
  const moved = [...record.addedNodes, ...record.removedNodes];
  const passive = 'iframe,script,style,link,ins,noscript,img,picture,video,canvas';
  if (moved.some(node => node instanceof Element && !node.matches(passive))) return true;
  const text = (/** @type {NodeList} */ nodes) => [...nodes].map(n => (n instanceof Text ? n.data : '')).join('');
  return letters(text(record.addedNodes)) !== letters(text(record.removedNodes));
}

/**
 * @param {Map<Element, ShadowRoot>} roots
 * @returns {Set<Element>}
 */
function openModals(roots) {
  const found = new Set();
  for (const root of [document, ...roots.values()]) {
    for (const el of root.querySelectorAll('dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true],.modal')) {
      const style = getComputedStyle(el);
      if (style.opacity !== '0' && isDrawn(el)) found.add(el);
    }
  }
  return found;
}

/**
 * What an element says about itself.
 * @param {Element} el
 */
function stateOf(el) {
  /** @type {Record<string, unknown>} */
  const state = {};
  for (const name of ['pressed', 'expanded', 'selected', 'checked', 'invalid', 'current']) {
    const value = el.getAttribute('aria-' + name);
    if (value !== null) state[name] = value;
  }
  state.disabled = standstill(el) !== null;
  if (el instanceof HTMLDetailsElement) state.open = el.open;
  if (el.localName === 'summary' && el.parentElement instanceof HTMLDetailsElement) state.open = el.parentElement.open;
  if (el instanceof HTMLInputElement && (el.type === 'checkbox' || el.type === 'radio')) state.checked = el.checked;
  else if (el instanceof HTMLSelectElement) state.chosen = [...el.selectedOptions].map(o => oneLine(o.label, 80));
  else if ((el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement) && !isSecret(el)) {
    if (!/^(button|submit|reset|image|file|hidden)$/.test(el.type)) state.value = el.value.slice(0, 200);
  }
  return state;
}
