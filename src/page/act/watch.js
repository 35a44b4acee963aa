/**
 * Starts to see what an act does to the page, and to keep a press from landing on anything but its target.
 * What moves by itself until `arm` is taken for noise. Everything stays in the isolated world. Read, armed and
 * stopped by its id (`watching`), because the act may remove the element.
 * @this {Element}
 * @param {{id: string, option?: string, clicks?: number}} args `clicks`: how many the guarded press makes; 0: none, it
 *   is dragged away
 */
function watch(args) {
  const started = begin(this, args.option, args.clicks ?? 1);
  watches.set(args.id, started);
  // An act that was broken off leaves nothing behind for long.
  setTimeout(() => {
    started.end();
    watches.delete(args.id);
  }, 60_000);
  return started.read();
}

/**
 * @param {Element} asked
 * @param {string | undefined} option
 * @param {number} clicks
 */
function begin(asked, option, clicks) {
  const aimed = option === undefined ? asked : (optionOf(asked, option) ?? asked);
  const target = isDrawn(aimed) ? aimed : (standIn(aimed) ?? aimed);
  const roots = rootsOf(target);
  const scopes = [...new Set([...dom.roots(), ...roots.values()])];
  const region = regionOf(target);
  const secretly = isSecret(aimed);
  const held = () => (secretly ? null : heldBy(aimed));
  const first = { url: location.href, title: document.title, state: stateOf(aimed), held: held(), modals: openModals(scopes) };
  const noise = new WeakSet();
  // Each event of the act opens both; the second is over as soon as the page's handlers of it are.
  let armed = false, hot = 0, atOnce = 0, effects = 0;

  const guard = guardOf(target, aimed, roots, clicks, scopes);
  const count = (/** @type {MutationRecord[]} */ records) => {
    for (const record of records) {
      record.addedNodes.forEach(guard.added);
      if (!armed) noise.add(record.target);
      else if (isEffect(record, atOnce > 0 ? 'at once' : hot > 0 ? 'soon' : 'later', region, noise)) effects++;
    }
  };
  const observer = new MutationObserver(count);
  const options = { subtree: true, childList: true, attributes: true, characterData: true, characterDataOldValue: true };
  for (const scope of scopes) observer.observe(scope, options);

  const silent = silentOf(target, aimed, region, roots, scopes);
  const channel = new MessageChannel();
  channel.port1.onmessage = () => {
    atOnce--;
    silent.acted();
  };
  const touched = (/** @type {Event} */ event) => {
    if (!armed || !event.isTrusted) return;
    // What handlers do at once, and in what they await, is the act's doing.
    hot++;
    atOnce++;
    channel.port2.postMessage(0);
    silent.acting();
    setTimeout(() => hot--, 0);
    if (PRESSES.includes(event.type)) guard.judge(/** @type {MouseEvent} */ (event));
  };
  for (const type of [...PRESSES, ...OTHERS]) addEventListener(type, touched, true);
  restless.acting();

  return {
    arm(/** @type {boolean} */ guarded) {
      count(observer.takeRecords());
      silent.arm();
      armed = true;
      if (guarded) guard.start();
    },
    look: guard.look,
    read() {
      count(observer.takeRecords());
      const modals = openModals(scopes), state = stateOf(aimed);
      const opened = [...modals].find(modal => !first.modals.has(modal));
      return {
        effects,
        ...silent.read(),
        ...guard.seen,
        connected: aimed.isConnected,
        url: location.href, title: oneLine(document.title, 200),
        urlChanged: location.href !== first.url, titleChanged: document.title !== first.title,
        modalAppeared: opened ? inWords(opened) : null,
        modalClosed: [...first.modals].some(modal => !modals.has(modal)),
        stateChanged: JSON.stringify(state) !== JSON.stringify(first.state) || held() !== first.held,
        state,
        ready: document.readyState,
      };
    },
    end() {
      guard.end();
      silent.end();
      observer.disconnect();
      channel.port1.close();
      for (const type of [...PRESSES, ...OTHERS]) removeEventListener(type, touched, true);
      restless.acting();
    },
  };
}

const OTHERS = ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'change', 'submit', 'drop', 'dragend'];
const PRESSES = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];

/**
 * The part of the page where any change counts as this element's.
 * @param {Element} target
 * @returns {Element[]}
 */
function regionOf(target) {
  // Keys that go to no element in particular may be meant for any part of the page.
  if (target === document.body || target === document.documentElement) return [];
  const near = target.closest(
    'form,dialog,[role=dialog],[role=alertdialog],[role=listbox],[role=menu],fieldset,section,article,li,tr,[role=row]',
  );
  const parent = target.parentElement;
  // The body is the whole page: what moves by itself is in it too.
  const region = [near ?? (parent && !/^(body|html|main)$/.test(dom.tag(parent)) ? parent : target)];
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
 * @param {'at once' | 'soon' | 'later'} when in the act's own handlers, right after them, or some time later
 * @param {Element[]} region
 * @param {WeakSet<Node>} noise what moved right before the act
 */
function isEffect(record, when, region, noise) {
  if (noise.has(record.target) || restless.isLively(record)) return false;
  if (when === 'at once') return true;
  if (restless.moves(record)) return false;
  if (when === 'soon') return true;
  if (region.some(part => part.contains(record.target))) return true;
  if (record.type === 'attributes') return /^(aria-|hidden$|open$|disabled$|inert$|value$|checked$)/.test(record.attributeName ?? '');
  if (record.type === 'characterData') return lettersOf(record.oldValue) !== lettersOf(record.target.textContent);
  if ([...record.addedNodes, ...record.removedNodes].some(node => isElement(node) && !isPassive(node))) return true;
  const text = (/** @type {NodeList} */ nodes) => [...nodes].map(n => (isText(n) ? n.data : '')).join('');
  return lettersOf(text(record.addedNodes)) !== lettersOf(text(record.removedNodes));
}

/** Numbers count up by themselves. @param {string | null | undefined} text */
const lettersOf = text => (text ?? '').replace(/[^\p{L}]/gu, '');

const PASSIVE = 'iframe,script,style,link,ins,noscript,img,picture,video,canvas';

/**
 * Nothing to read and nothing to act on: pictures, frames of advertisements and the boxes around them.
 * @param {Element} el
 */
function isPassive(el) {
  return el.matches(PASSIVE) ||
    (!!el.querySelector(PASSIVE) && !el.querySelector(INTERACTIVE) && lettersOf(el.textContent) === '');
}

/**
 * Dialog boxes and popovers that are open. An open popover is no mutation at all.
 * @param {Iterable<Node>} scopes
 * @returns {Set<Element>}
 */
function openModals(scopes) {
  const found = new Set();
  for (const scope of scopes) {
    const all = dom.all(scope, 'dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true],.modal,:popover-open');
    for (const el of all) {
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
  /**
   * By the names of `aria-…` attributes too.
   * @type {Record<string, string | boolean | string[]> &
   *   {disabled?: boolean, open?: boolean, checked?: boolean, chosen?: string[], listOpen?: boolean, value?: string}}
   */
  const state = {};
  for (const name of ['pressed', 'expanded', 'selected', 'checked', 'invalid', 'current']) {
    const value = el.getAttribute('aria-' + name);
    if (value !== null) state[name] = value;
  }
  state.disabled = standstill(el) !== null;
  if (isDetails(el)) state.open = el.open;
  if (el.localName === 'summary' && isDetails(el.parentElement)) state.open = el.parentElement.open;
  if (isInput(el) && (el.type === 'checkbox' || el.type === 'radio')) state.checked = el.checked;
  else if (isSelect(el)) {
    if (!isSecret(el)) state.chosen = [...el.selectedOptions].map(o => oneLine(o.label, 80));
    if (CSS.supports('selector(:open)')) state.listOpen = el.matches(':open');
  }
  else if ((isInput(el) || isTextArea(el)) && !isSecret(el)) {
    if (!/^(button|submit|reset|image|file|hidden)$/.test(el.type)) state.value = el.value.slice(0, 200);
  }
  return state;
}
