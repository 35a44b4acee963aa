// Keeps the newest line in view until the reader scrolls up.
const NEAR_END_PX = 32;

export class Scroller {
  /**
   * @param {HTMLElement} box
   * @param {HTMLElement} content
   * @param {HTMLButtonElement} pill
   */
  constructor(box, content, pill) {
    this.box = box;
    this.pill = pill;
    this.following = true;
    /** True while something grows because the reader opened it: that must not move away. */
    this.held = false;
    let lastTop = 0;
    box.addEventListener('scroll', () => {
      // Content that grows also changes the distance to the end; only the reader scrolls up.
      const up = box.scrollTop < lastTop - 1;
      lastTop = box.scrollTop;
      if (this.distance() <= NEAR_END_PX) this.following = true;
      else if (up) this.following = false;
      this.showPill();
    });
    pill.addEventListener('click', () => this.toEnd());
    content.addEventListener('click', (event) => {
      if (event.target instanceof Element && event.target.closest('[aria-expanded], summary')) this.hold();
    });
    const watch = new ResizeObserver(() => this.grown());
    watch.observe(content);
    watch.observe(box);
  }

  distance() {
    return this.box.scrollHeight - this.box.clientHeight - this.box.scrollTop;
  }

  hold() {
    this.held = true;
    // Sizes are observed after the frame's layout, so two frames see all of the change.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      this.held = false;
      this.following = this.distance() <= NEAR_END_PX;
      this.showPill();
    }));
  }

  grown() {
    if (this.following && !this.held) this.box.scrollTop = this.box.scrollHeight;
    this.showPill();
  }

  toEnd() {
    this.following = true;
    this.grown();
  }

  /** Something was put above what is read. @param {number} px */
  keepPlace(px) {
    this.box.scrollTop += px;
    this.showPill();
  }

  showPill() {
    this.pill.hidden = this.following || this.distance() <= NEAR_END_PX;
  }
}
