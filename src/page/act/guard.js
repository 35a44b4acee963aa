/**
 * Judges every event of a press, and stops those that would reach another element than the target: a page may
 * move things between any two of them, frames over the target too.
 * @param {Element} target
 * @param {Element} aimed what is meant by it: the control of a label, the target itself
 * @param {Map<Element, ShadowRoot>} roots
 * @param {number} clicks
 * @param {Node[]} scopes documents and shadow roots that can be seen from here
 */
function guardOf(target, aimed, roots, clicks, scopes) {
  const words = oneLine(target.textContent);
  const around = /** @type {Set<unknown>} */ (new Set(boxesAround(target, roots)));
  /** @type {{landed: boolean | null, landedOn: string, clicks: number, rounds: number, missed: {on: string, was: Became} | null}} */
  const seen = { landed: null, landedOn: '', clicks: 0, rounds: 0, missed: null };
  let guarding = false, lost = false, clicked = false, point = { x: -1, y: -1 };
  const stop = () => { guarding = false; };

  const judge = (/** @type {MouseEvent} */ event) => {
    if (!guarding) return;
    const { type, clientX: x, clientY: y } = event;
    if (type === 'pointerdown') point = { x, y };
    if (!begins(type)) return;
    // A pressed label passes its click on to its control, wherever that is.
    if (type === 'click' && clicked) return;
    const path = event.composedPath();
    const hit = hitAt(x, y, roots);
    // From outside, a closed root hides what in it was reached. Else only the event itself knows: a click goes to
    // whatever holds both ends of the press, wherever it is now.
    const hides = isElement(path[0]) && roots.get(path[0])?.mode === 'closed';
    const reached = isElement(path[0]) && !hides ? path[0] : hit;
    if (!lost && (path.includes(target) || isPressOn(reached, target, roots)) && standsFor(target, aimed)) {
      seen.landed ??= true;
      if (type === 'click' || type === 'auxclick') {
        clicked = true;
        seen.clicks++;
      }
      return;
    }
    misses(event, reached, hit ? describeCover(hit, target, roots) : 'nothing', () => becameOf(target, aimed, words, hit, x, y));
  };

  /** Another document of this site got it: a frame came over the target, or the target's own went away under it. */
  const stray = (/** @type {Event} */ event) => {
    if (!guarding || !event.isTrusted || !begins(event.type)) return;
    misses(event, event.composedPath()[0], inWords(strayedTo(event)), () => (target.isConnected && isDrawn(target) ? 'covered' : 'gone'));
  };

  const begins = (/** @type {string} */ type) => {
    if (type === 'pointerdown') {
      seen.rounds++;
      lost = clicked = false;
    }
    // Everything of a press comes in one go: the person's next click is not ours to judge.
    if (type === 'pointerup' && seen.rounds >= clicks) setTimeout(stop, 50);
    // What is dragged is let go of somewhere else: only where it was taken counts.
    guarding &&= clicks > 0 || !seen.landed || /down$/.test(type);
    return guarding;
  };

  const misses = (/** @type {Event} */ event, /** @type {unknown} */ reached, /** @type {string} */ other, /** @type {() => Became} */ why) => {
    if (seen.landed === null) Object.assign(seen, { landed: false, landedOn: other });
    else if (seen.landed) seen.missed ??= { on: other, was: why() };
    // The box around it would have heard of the release anyway, and may have to end a drag.
    const harmless = !lost && seen.landed && /up$/.test(event.type) && around.has(reached);
    if (/down$/.test(event.type) || !seen.landed) lost = true;
    if (!harmless) swallow(event);
  };

  const frames = listenBeside(scopes, stray);

  return {
    seen,
    judge,
    added: frames.added,
    /** Before the next press of several: whether it would still reach the target. What a frame gets, nobody here hears of. */
    look() {
      if (guarding && seen.landed) seen.missed ??= missingOf(target, aimed, words, roots, point);
    },
    end() {
      stop();
      frames.end();
    },
    start() {
      guarding = true;
      // Also when the release is never seen: it went to the popup of a list, or the page swallowed it.
      setTimeout(stop, 10_000);
    },
  };
}

/** @param {Event} event */
function swallow(event) {
  event.stopImmediatePropagation();
  event.preventDefault();
}

/** @typedef {'covered' | 'moved' | 'gone' | 'replaced'} Became */

/**
 * What a press at this point would reach instead of the target; null: the target.
 * @param {Element} target
 * @param {Element} aimed
 * @param {string} words
 * @param {Map<Element, ShadowRoot>} roots
 * @param {{x: number, y: number}} point
 * @returns {{on: string, was: Became} | null}
 */
function missingOf(target, aimed, words, roots, { x, y }) {
  const hit = hitAt(x, y, roots);
  if (isPressOn(hit, target, roots) && standsFor(target, aimed)) return null;
  return { on: hit ? describeCover(hit, target, roots) : 'nothing', was: becameOf(target, aimed, words, hit, x, y) };
}

/**
 * Whether a press on the target is still one on what is meant: a label may have been given another control.
 * @param {Element} target
 * @param {Element} aimed
 */
function standsFor(target, aimed) {
  if (target === aimed) return true;
  return aimed.isConnected && (isLabel(target) ? target.control === aimed : target.contains(aimed));
}

/**
 * The frame that got an event of another document, or what in that document did.
 * @param {Event} event
 */
function strayedTo(event) {
  const [first] = event.composedPath();
  const at = /** @type {Element} */ (isElement(first) ? first : document.documentElement);
  return dom.frameOf(at.ownerDocument) ?? at;
}

/**
 * @param {Element} target
 * @param {Map<Element, ShadowRoot>} roots
 */
function boxesAround(target, roots) {
  const around = [];
  for (let at = drawnParent(target, roots); at; at = drawnParent(at, roots)) around.push(at);
  return around;
}

/**
 * What became of the target that a press no longer reaches.
 * @param {Element} target
 * @param {Element} aimed
 * @param {string} words its text when the press began
 * @param {Element | null} hit what is at the point now
 * @param {number} x
 * @param {number} y
 * @returns {Became}
 */
function becameOf(target, aimed, words, hit, x, y) {
  if (target.isConnected && !standsFor(target, aimed)) return isLabel(target) && target.control ? 'replaced' : 'gone';
  if (target.isConnected && isDrawn(target)) {
    const there = boxesOf(target).some(box => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    return there ? 'covered' : 'moved';
  }
  const same = hit?.closest(target.localName);
  return same && oneLine(same.textContent) === words ? 'replaced' : 'gone';
}

/**
 * Listens to presses in the documents of this site beside the target's own, those of frames that come later too.
 * @param {Node[]} scopes
 * @param {(event: Event) => void} stray
 */
function listenBeside(scopes, stray) {
  /** With their windows. @type {Map<Document, Window>} */
  const beside = new Map();
  const listenIn = (/** @type {Node | null} */ node) => {
    const other = node && dom.type(node) === 9 ? /** @type {Document} */ (node) : null;
    const window = other && other !== document && !beside.has(other) ? dom.view(other) : null;
    if (!other || !window) return;
    beside.set(other, window);
    for (const type of PRESSES) window.addEventListener(type, stray, true);
    window.addEventListener('load', loaded, true);
  };
  const loaded = (/** @type {Event} */ event) => {
    if (isElement(event.target)) listenIn(dom.shown(event.target));
  };
  addEventListener('load', loaded, true);
  scopes.forEach(listenIn);

  return {
    /** Something came into the page. @param {Node} node */
    added(node) {
      if (!isElement(node)) return;
      for (const frame of [node, ...dom.findAll(node, 'iframe,frame')]) listenIn(dom.shown(frame));
    },
    end() {
      removeEventListener('load', loaded, true);
      for (const window of beside.values()) {
        for (const type of PRESSES) window.removeEventListener(type, stray, true);
        window.removeEventListener('load', loaded, true);
      }
    },
  };
}
