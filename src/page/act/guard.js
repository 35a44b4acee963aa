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
    rounds: 0,
    missed: /** @type {{on: string, was: 'covered' | 'moved' | 'gone' | 'replaced'} | null} */ (null),
  };
  let guarding = false, lost = false, clicked = false;
  /** Where the last press was. @type {{x: number, y: number} | undefined} */
  let point;
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
    if (type === 'pointerdown') {
      seen.rounds++;
      point = { x, y };
      lost = clicked = false;
    }
    // A pressed label passes its click on to its control, wherever that is.
    if (type === 'click' && clicked) return;
    // Everything of a press comes in one go: the person's next click is not ours to judge.
    if (type === 'pointerup' && seen.rounds >= clicks) setTimeout(stop, 50);
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
    /** Before the next press of several: whether it would still reach the target. What a frame gets, nobody here hears of. */
    look() {
      if (!guarding || !point || !seen.landed) return;
      const hit = hitAt(point.x, point.y, roots);
      if (isPressOn(hit, target, roots)) return;
      seen.missed ??= { on: hit ? describeCover(hit, target, roots) : 'nothing', was: became(hit, point.x, point.y) };
    },
    start() {
      guarding = true;
      // Also when the release is never seen: it went to the popup of a list, or the page swallowed it.
      setTimeout(stop, 10_000);
    },
  };
}
