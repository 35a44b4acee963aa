// What moves by itself while nobody acts: clocks, news tickers, carousels. Noted between a view and the acts after
// it, so that such a tick is not taken for the effect of an act.

const restless = (() => {
  /** A place moves by itself once it changed three times with this much time between, in milliseconds: twice is what
   * a page does that first shows a frame and then its content. */
  const APART = 300;
  const OFTEN = 3;
  /** Changes this soon after something was pressed or typed are the effect of it, in milliseconds. */
  const AFTERMATH = 1_500;
  /** How long it is listened after a view, in milliseconds, and for how many changes at most. */
  const LISTEN = 20_000;
  const MOST = 4_000;
  const NAMES = ['aria-hidden', 'aria-current', 'aria-selected', 'aria-expanded', 'aria-label', 'aria-valuenow',
    'aria-valuetext', 'aria-busy', 'aria-disabled', 'hidden', 'disabled', 'inert', 'open', 'value'];

  /** One that changed this often in a row, each time sooner than `APART`, may do so at any moment. */
  const LIVELY = 4;

  /** What is known of a place. @type {WeakMap<Node, { at: number, row: number, last: number, often: number }>} */
  const seen = new WeakMap();
  let touched = -Infinity;
  let left = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** Slides and figures take turns: the box around them is what moves. @param {MutationRecord} record */
  const placeOf = (record) =>
    record.type === 'childList' ? record.target : (dom.parent(record.target) ?? record.target);

  /** @param {Node} place @param {number} now */
  function note(place, now) {
    const known = seen.get(place);
    if (!known) seen.set(place, { at: now, row: 1, last: now, often: 1 });
    else if (now > known.at) {
      known.row = now - known.at < APART ? known.row + 1 : 1;
      known.at = now;
      if (now - known.last >= APART) {
        known.last = now;
        known.often += 1;
      }
    }
  }

  const observer = new MutationObserver((records) => {
    const now = performance.now();
    if (now - touched > AFTERMATH) for (const record of records) note(placeOf(record), now);
    left -= records.length;
    if (left <= 0) stop();
  });
  const scrolled = (/** @type {Event} */ event) => {
    const now = performance.now();
    if (now - touched > AFTERMATH) note(/** @type {Node} */ (event.target), now);
    left -= 1;
    if (left <= 0) stop();
  };
  /** What is listened to. @type {Node[]} */
  let heard = [];
  const acting = () => {
    touched = performance.now();
  };
  const INPUT = ['pointerdown', 'pointerup', 'keydown', 'wheel'];
  const capture = { capture: true, passive: true };

  function stop() {
    clearTimeout(timer);
    observer.disconnect();
    for (const type of INPUT) removeEventListener(type, acting, capture);
    for (const root of heard) root.removeEventListener('scroll', scrolled, capture);
    heard = [];
  }

  return {
    /** @param {Iterable<Node>} roots documents and shadow roots of the view */
    listen(roots) {
      stop();
      left = MOST;
      heard = [...roots];
      for (const root of heard) {
        root.addEventListener('scroll', scrolled, capture);
        observer.observe(root, { subtree: true, childList: true, characterData: true, attributeFilter: NAMES });
      }
      for (const type of INPUT) addEventListener(type, acting, capture);
      timer = setTimeout(stop, LISTEN);
    },
    /** What changes for a while from now on is the doing of an act. */
    acting,
    /** Whether the change is one of a place that moves by itself. @param {MutationRecord} record */
    moves: (record) => (seen.get(placeOf(record))?.often ?? 0) >= OFTEN,
    /** Whether a box (or a document) scrolls by itself. @param {Node} box */
    scrolls: (box) => (seen.get(box)?.often ?? 0) >= OFTEN,
    /** Whether it does so all the time, so that even a change in the midst of an act tells nothing. @param {MutationRecord} record */
    isLively: (record) => (seen.get(placeOf(record))?.row ?? 0) >= LIVELY,
  };
})();
