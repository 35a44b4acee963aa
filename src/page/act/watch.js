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

  const guard = guardOf(target, roots, clicks);
  const touched = (/** @type {Event} */ event) => {
    if (!armed || !event.isTrusted) return;
    // What handlers do at once, and in what they await, is the act's doing.
    hot++;
    setTimeout(() => hot--, 0);
    if (PRESSES.includes(event.type)) guard.judge(/** @type {MouseEvent} */ (event));
  };
  const others = ['keydown', 'keypress', 'keyup', 'beforeinput', 'input', 'change', 'submit', 'drop', 'dragend'];
  for (const type of [...PRESSES, ...others]) addEventListener(type, touched, true);

  return {
    arm(/** @type {boolean} */ guarded) {
      observer.takeRecords().forEach(record => noise.add(record.target));
      armed = true;
      if (guarded) guard.start();
    },
    read() {
      for (const record of observer.takeRecords()) {
        if (armed && isEffect(record, hot > 0, region, noise)) effects++;
      }
      const modals = openModals(roots), state = stateOf(aimed);
      const opened = [...modals].find(modal => !first.modals.has(modal));
      return {
        effects,
        ...guard.seen,
        connected: aimed.isConnected,
        url: location.href,
        title: oneLine(document.title, 200),
        urlChanged: location.href !== first.url,
        titleChanged: document.title !== first.title,
        modalAppeared: opened ? inWords(opened) : null,
        modalClosed: [...first.modals].some(modal => !modals.has(modal)),
        stateChanged: JSON.stringify(state) !== JSON.stringify(first.state),
        state,
        ready: document.readyState,
      };
    },
    end() {
      guard.stop();
      observer.disconnect();
      for (const type of [...PRESSES, ...others]) removeEventListener(type, touched, true);
    },
  };
}

const PRESSES = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];

/**
 * Judges every event of a press, and stops those that would reach another element than the target: a page may
 * move things between any two of them.
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 * @param {number} clicks
 */
function guardOf(target, roots, clicks) {
  const words = oneLine(target.textContent);
  const around = new Set();
  for (let at = drawnParent(target, roots); at; at = drawnParent(at, roots)) around.add(at);
  const seen = {
    landed: /** @type {boolean | null} */ (null),
    landedOn: '',
    clicks: 0,
    missed: /** @type {{on: string, was: 'covered' | 'moved' | 'gone' | 'replaced'} | null} */ (null),
  };
  let guarding = false, round = 0, lost = false, clicked = false;
  const stop = () => { guarding = false; };

  const became = (/** @type {Element | null} */ hit, /** @type {number} */ x, /** @type {number} */ y) => {
    if (target.isConnected && isDrawn(target)) {
      const there = boxesOf(target).some(box => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
      return there ? 'covered' : 'moved';
    }
    const same = hit?.closest(target.localName);
    return same && oneLine(same.textContent) === words ? 'replaced' : 'gone';
  };

  const judge = (/** @type {MouseEvent} */ event) => {
    if (!guarding) return;
    const { type, clientX: x, clientY: y } = event;
    // What is dragged is let go of somewhere else: only where it is taken counts.
    if (clicks === 0 && seen.landed && !/down$/.test(type)) return stop();
    if (type === 'pointerdown') {
      round++;
      lost = clicked = false;
    }
    // A pressed label passes its click on to its control, wherever that is.
    if (type === 'click' && clicked) return;
    // Everything of a press comes in one go: the person's next click is not ours to judge.
    if (type === 'pointerup' && round >= clicks) setTimeout(stop, 50);
    const path = event.composedPath();
    const hit = hitAt(x, y, roots);
    const on = !lost && (path.includes(target) || isPressOn(hit, target, roots));
    if (on) {
      seen.landed ??= true;
      if (type === 'click' || type === 'auxclick') {
        clicked = true;
        seen.clicks++;
      }
      return;
    }
    const other = hit ? describeCover(hit, target, roots) : 'nothing';
    if (seen.landed === null) {
      seen.landed = false;
      seen.landedOn = other;
    }
    else if (seen.landed) seen.missed ??= { on: other, was: became(hit, x, y) };
    // The box around it would have heard of the release anyway, and may have to end a drag.
    const harmless = !lost && seen.landed && /up$/.test(type) && around.has(path[0]);
    if (type === 'pointerdown' || type === 'mousedown' || !seen.landed) lost = true;
    if (harmless) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };

  return {
    seen,
    judge,
    stop,
    start() {
      guarding = true;
      // Also when the release is never seen: it went to the popup of a list, or the page swallowed it.
      setTimeout(stop, 10_000);
    },
  };
}

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
  if (moved.some(node => isElement(node) && !node.matches(passive))) return true;
  const text = (/** @type {NodeList} */ nodes) => [...nodes].map(n => (isText(n) ? n.data : '')).join('');
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
