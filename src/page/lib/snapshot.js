// The page view of one world: a document and the same-origin frames inside it.

const snapshot = (() => {
  /** Elements that the view before this one had; `null` before the first. @type {WeakMap<Document, WeakSet<Element>>} */
  const before = new WeakMap();
  const HIT_TESTS = 400;
  const MOST_APART = 50;
  const OFF = 2;
  const LAYER = 4;
  const BLOCKED = 8;

  /**
   * Whether a person can see it, or hit it; fills in its box.
   * @param {Candidate} candidate
   * @returns {boolean}
   */
  function measure(candidate) {
    if (candidate.hidden) return true;
    const { inherited, kind, tag } = candidate;
    const visible = candidate.proxy ?? candidate.element;
    const box = geometry.box(inherited.place, visible);
    candidate.box = box;
    const field = /^(input|select|textarea)$/.test(tag) && !candidate.proxy;
    const least = field ? 1 : 2;
    if (!(box.right - box.left >= least && box.bottom - box.top >= least)) return false;
    if (inherited.opacity < 0.05 && !field && !isField(candidate)) return false;
    if (tag !== 'select' && candidate.proxy && isAside(candidate)) return false;
    if (field && isAside(candidate)) {
      if (tag !== 'select' && box.right - box.left <= 2 && box.bottom - box.top <= 2) return false;
      if (dom.style(visible).pointerEvents === 'none') return false;
    }
    if (geometry.isEmpty(geometry.meet(box, candidate.clip.reach))) return false;
    if (box.right - box.left > 2 || box.bottom - box.top > 2 || kind === 'text') {
      const style = candidate.style ?? dom.style(visible);
      if (walk.isClippedAway(style)) return false;
      if (kind === 'weak' && style.pointerEvents === 'none') return false;
    } else if (kind !== 'control') return false;
    return true;
  }

  /** A field drawn by the page, which may show itself only when it is used. @param {Candidate} candidate */
  const isField = ({ element, role, kind }) =>
    kind === 'control' && (/^(combobox|textbox|searchbox|spinbutton)$/.test(role) || describe.isEditor(element));

  /**
   * A field that a component keeps for itself: neither the keyboard nor a screen reader gets to it.
   * @param {Candidate} candidate
   */
  const isAside = ({ element, tag }) =>
    /^(input|select|textarea)$/.test(tag) &&
    !/^(checkbox|radio|file)$/.test(describe.type(element, tag)) &&
    dom.attr(element, 'aria-hidden') === 'true' &&
    Number(dom.attr(element, 'tabindex') ?? 0) < 0;

  /**
   * Drops boxes that only wrap what can be acted on, and boxes too large to be one thing.
   * @param {Candidate[]} candidates
   */
  function settle(candidates) {
    things.dropLabels(candidates);
    // From the last to the first: what is inside a box is settled before the box.
    for (let at = candidates.length - 1; at >= 0; at--) {
      const candidate = /** @type {Candidate} */ (candidates[at]);
      if (candidate.dropped || candidate.kind === 'text') continue;
      if (candidate.inner > 0 && candidate.inner <= MOST_APART)
        describe.apart.set(candidate.element, innerOf(candidates, at));
      if (candidate.kind === 'handler' || candidate.kind === 'weak') candidate.dropped = !things.isOne(candidate);
      else if (candidate.kind === 'control') candidate.dropped = things.isTwin(candidate);
      if (candidate.dropped && candidate.scrollable) {
        candidate.dropped = false;
        candidate.kind = 'scroll';
      }
      if (candidate.dropped && /^(radio)?group$/.test(candidate.role) && candidate.kind !== 'control') {
        candidate.dropped = false;
        candidate.kind = 'text';
        continue;
      }
      if (candidate.dropped) continue;
      for (let owner = candidate.owner; owner; owner = owner.owner) owner.inner += 1;
    }
  }

  /**
   * What is inside the box and stands apart from it, with the labels that go with it.
   * @param {Candidate[]} candidates
   * @param {number} at
   * @returns {WeakSet<Element>}
   */
  function innerOf(candidates, at) {
    const owner = /** @type {Candidate} */ (candidates[at]);
    /** @type {WeakSet<Element>} */
    const inner = new WeakSet();
    for (let next = at + 1, left = owner.inner; next < candidates.length && left > 0; next++) {
      const candidate = /** @type {Candidate} */ (candidates[next]);
      if (!isInside(candidate, owner)) continue;
      if (candidate.tag === 'label') inner.add(candidate.element);
      if (candidate.dropped || candidate.kind === 'text') continue;
      inner.add(candidate.element);
      if (candidate.proxy) inner.add(candidate.proxy);
      left -= 1;
    }
    return inner;
  }
  /** @param {Candidate} candidate @param {Candidate} owner */
  function isInside(candidate, owner) {
    for (let up = candidate.owner; up; up = up.owner) if (up === owner) return true;
    return false;
  }

  /**
   * Whether something else lies over it wherever it can be seen.
   * @param {Candidate} candidate
   * @param {boolean} onlyOpaque
   */
  function isCovered(candidate, onlyOpaque) {
    const { box, inherited, clip, element } = candidate;
    if (!box) return false;
    const seen = geometry.meet(box, clip.seen);
    if (geometry.isEmpty(seen)) return false;
    if (inherited.place.covered) return true;
    const width = seen.right - seen.left;
    const height = seen.bottom - seen.top;
    for (const [x, y] of [
      [0.5, 0.5],
      [0.2, 0.3],
      [0.8, 0.7],
      [0.2, 0.7],
      [0.8, 0.3],
    ]) {
      const hit = geometry.at(
        inherited.place.document,
        seen.left + width * /** @type {number} */ (x) - inherited.place.x,
        seen.top + height * /** @type {number} */ (y) - inherited.place.y,
      );
      if (!hit || geometry.reaches(element, hit) || geometry.reaches(candidate.proxy ?? element, hit)) return false;
      if (dom.holds(hit, element) || (onlyOpaque && !geometry.isOpaque(hit, element))) return false;
    }
    return true;
  }

  /** Whether a frame is covered in the document that shows it. @param {Place} place */
  function coverFrame(place) {
    if (!place.frame || !place.outer) return;
    const rect = dom.rect(place.frame);
    const { width, height } = place.outer;
    const left = Math.max(rect.left, 0);
    const top = Math.max(rect.top, 0);
    const right = Math.min(rect.right, width);
    const bottom = Math.min(rect.bottom, height);
    if (right - left < 2 || bottom - top < 2) return;
    place.covered =
      place.outer.covered ||
      [
        [0.5, 0.5],
        [0.15, 0.15],
        [0.85, 0.85],
      ].every(([x, y]) => {
        const hit = geometry.at(
          place.outer?.document ?? document,
          left + (right - left) * /** @type {number} */ (x),
          top + (bottom - top) * /** @type {number} */ (y),
        );
        return hit !== null && place.frame !== null && !dom.holds(place.frame, hit) && !dom.holds(hit, place.frame);
      });
  }

  /**
   * @param {Candidate} candidate
   * @param {Element | null} focus
   * @param {{ left: number }} tests
   * @returns {Entry | null}
   */
  function entry(candidate, focus, tests) {
    const { element, tag, role, kind, inherited } = candidate;
    if (kind === 'text') return textEntry(candidate, tests);
    /** @type {Entry} */
    const result = { s: registry.slotOf(element), k: kind === 'frame' ? 2 : 0, t: tag, m: marks(candidate) };
    if (kind === 'frame') return result;
    const type = describe.type(element, tag);
    if (kind === 'scroll') describe.boxes.add(element);
    else describe.boxes.delete(element);
    const name = describe.nameOf(element);
    if (role) result.r = role;
    if (type) result.y = type;
    if (name.name) result.n = name.name;
    if (name.content) result.c = true;
    const href = dom.attr(element, 'href');
    if (href) result.h = names.cut(href, 500);
    const words = describe.states(element, tag, type);
    if (inherited.disabled && !words.includes('disabled')) words.unshift('disabled');
    if (element === focus) words.unshift('focused');
    if (candidate.scrollable) words.push('scrollable');
    if (candidate.hidden) words.push('hidden');
    if (inherited.inert) words.push('inert');
    else if (!candidate.hidden && tests.left > 0 && !((result.m ?? 0) & OFF)) {
      tests.left -= 1;
      if (kind !== 'scroll' && isCovered(candidate, false)) {
        if (isAside(candidate)) return null;
        words.push('covered');
      }
    }
    if (words.includes('inert') || words.includes('covered')) result.m = (result.m ?? 0) | BLOCKED;
    result.w = words;
    attributes(candidate, type, name.name, result);
    return result;
  }

  /** @param {Candidate} candidate @param {string} type @param {string} name @param {Entry} result */
  function attributes(candidate, type, name, result) {
    const { element, tag } = candidate;
    /** @type {[string, string][]} */
    const list = [];
    const editor = tag !== 'input' && tag !== 'textarea' && describe.isEditor(element);
    const hints = ['placeholder', ...(editor ? ['aria-placeholder', 'data-placeholder'] : [])];
    const placeholder = names.squeeze(hints.map((each) => dom.attr(element, each)).find((each) => each) ?? '');
    if (placeholder && placeholder !== name) list.push(['placeholder', names.cut(placeholder, describe.VALUE)]);
    const current = dom.attr(element, 'aria-current');
    if (current && current !== 'false') {
      if (current === 'true') result.w?.push('current');
      else list.push(['current', current]);
    }
    const href = describe.address(element, tag);
    if (href) list.push(['href', names.cut(href, 2_048)]);
    const secretly = secret.hidesValue(element);
    if (secretly) result.w?.push('secret');
    const value = describe.value(element, tag, type, describe.VALUE + 80);
    const cut = value !== null && value.length > describe.VALUE;
    if (value !== null && !result.c) list.push(['value', cut ? `${names.cut(value, describe.VALUE)}…` : value]);
    if (tag === 'select') {
      const { all, chosen, more } = describe.choices(element, describe.OPTIONS, 60);
      if (!secretly) list.push(['selected', names.cut(chosen.join(', '), describe.VALUE)]);
      result.p = all.map((option) => option.label);
      if (more > 0) result.q = more;
    }
    if (result.w?.includes('invalid')) {
      const error =
        names.referenced(element, 'aria-errormessage', 160) || names.referenced(element, 'aria-describedby', 160);
      if (error) list.push(['error', error]);
    }
    if (list.length > 0) result.a = list;
  }

  /** @param {Candidate} candidate @returns {number} */
  function marks(candidate) {
    const { box, clip, inherited, element } = candidate;
    let mark = inherited.layer > 0 ? LAYER : 0;
    if (!box || geometry.isEmpty(geometry.meet(box, clip.seen))) mark |= OFF;
    const known = before.get(inherited.place.document);
    if (known && !known.has(element) && candidate.kind !== 'text') mark |= 1;
    return mark;
  }

  /** @param {Candidate} candidate @param {{ left: number }} tests @returns {Entry | null} */
  function textEntry(candidate, tests) {
    const { element, tag, role, inherited } = candidate;
    const mark = marks(candidate);
    if (!(mark & OFF) && !inherited.inert && tests.left > 0) {
      tests.left -= 1;
      if (isCovered(candidate, true)) return null;
    }
    const group = /^(group|radiogroup|dialog|alertdialog)$/.test(role) || tag === 'fieldset' || tag === 'dialog';
    const dialog = /dialog$/.test(role || tag);
    const { name: own, content } = names.of(element, 160);
    const full = group && !dialog ? '' : names.textOf(element, 280, isActed) || (content ? '' : own);
    const text = full.length > 200 ? `${names.cut(full, 200)}…` : full;
    // A heading may hold no more than a button.
    if (!text && !(group && own) && !dialog) return null;
    /** @type {Entry} */
    const result = { s: 0, k: 1, t: tag, m: mark & ~1 };
    if (role) result.r = role;
    if (group && own) result.n = own;
    if (text) result.x = text;
    const live = dom.attr(element, 'aria-live');
    if (live === 'polite' || live === 'assertive') result.a = [['live', live]];
    return result;
  }
  /** @param {Element} element */
  const isActed = (element) =>
    current?.made.get(element)?.kind === 'control' && /^(a|button|input|select|textarea)$/.test(dom.tag(element));
  /** @type {InstanceType<typeof walk.Walk> | null} */
  let current = null;

  /** @param {Candidate} candidate @param {string} filter */
  function matches(candidate, filter) {
    const { element, tag, role, kind } = candidate;
    if (kind === 'frame') return true;
    const text = kind === 'text' ? names.textOf(element, 200) : describe.nameOf(element).name;
    const type = describe.type(element, tag);
    const value = kind === 'text' ? '' : (describe.value(element, tag, type, 200) ?? '');
    return [tag, role, type, text, value, dom.attr(element, 'placeholder') ?? ''].some((part) =>
      part.toLowerCase().includes(filter),
    );
  }

  /**
   * Positions of the entries to send: those in view, then what follows, then what comes before.
   * @param {Candidate[]} list
   * @param {number} from
   * @param {number} most
   * @returns {[number, number]}
   */
  function range(list, from, most) {
    if (from > 0 || list.length <= most) return [from, Math.min(list.length, from + most)];
    const first = list.findIndex((candidate) => !(marks(candidate) & OFF));
    const start = Math.max(0, Math.min(first, list.length - most));
    return [start, start + most];
  }

  /**
   * @param {{ seen: number[] | null, from: number, region: number, filter: string, whole: boolean, most: number, probe: boolean, peek: boolean, opens: boolean }} options
   *   `peek`: only look, so that the next view still tells what is new since the last one; entries with their boxes;
   *   `opens`: only what has to be opened, closed roots and frames
   * @param {...Element} handlers nodes that got pointer listeners since the last view
   */
  function take(options, ...handlers) {
    for (const element of handlers) walk.listening.add(element);
    if (options.opens) return toOpen(options.probe);
    const [left = -Infinity, top = -Infinity, right = Infinity, bottom = Infinity] = options.seen ?? [];
    const pass = new walk.Walk({ left, top, right, bottom });
    const region = options.region ? registry.element(options.region) : null;
    pass.run(region && dom.isElement(region) ? region : null);
    if (options.probe && pass.hosts.length > 0) return { closed: pass.hosts.map((host) => registry.slotOf(host)) };
    current = pass;
    let list = kept(pass);
    list = [...list.filter((one) => one.inherited.layer > 0), ...list.filter((one) => one.inherited.layer === 0)];
    const total = list.length;
    const counts = count(list, pass);
    if (options.filter) list = list.filter((candidate) => matches(candidate, options.filter));
    const after = options.from ? list.findIndex((one) => one.element === registry.element(options.from)) + 1 : 0;
    const [begin, end] = options.whole
      ? [after, Math.min(list.length, after + options.most)]
      : range(list, after, options.most);
    const focus = describe.focused(document);
    const tests = { left: HIT_TESTS };
    /** @type {Entry[]} */
    const entries = [];
    for (let at = begin; at < end; at++) {
      const candidate = /** @type {Candidate} */ (list[at]);
      const made = entry(candidate, focus, tests);
      if (!made) continue;
      if (options.peek) made.b = drawnAt(candidate);
      entries.push(made);
    }
    /** @type {number[]} */
    const gone = region || options.peek ? [] : vanished(pass, entries);
    if (!region && !options.peek) {
      remember(pass);
      restless.listen([...pass.places.map((place) => place.document), ...pass.shadows]);
    }
    current = null;
    return {
      entries,
      total,
      before: begin,
      after: list.length - end,
      gone,
      counts,
      frames: frames(list, pass),
      facts: facts(pass),
    };
  }

  /** @param {boolean} probe */
  function toOpen(probe) {
    const found = [];
    if (probe) {
      for (const root of dom.roots()) {
        for (const element of dom.all(root, '*')) {
          if (found.length < 64 && !dom.shadow(element) && walk.mayHost(element, dom.tag(element))) found.push(element);
        }
      }
    }
    if (found.length > 0) return { closed: found.map((host) => registry.slotOf(host)) };
    const shut = foreign().map((frame) => ({
      slot: registry.slotOf(frame),
      name: names.of(frame, 80).name,
      seen: [0, 0, 0, 0],
      covered: false,
      inert: false,
      at: [0, 0, 1],
    }));
    return { frames: shut, facts: { origin: self.origin } };
  }

  /** The frames that this world cannot look into. @returns {Element[]} */
  function foreign() {
    const found = [];
    for (const root of dom.roots()) {
      for (const element of dom.all(root, 'iframe, frame')) {
        const rect = dom.rect(element);
        if (!dom.shown(element) && rect.width >= 2 && rect.height >= 2 && found.length < 100) found.push(element);
      }
    }
    return found;
  }

  /**
   * What of a walk becomes entries.
   * @param {InstanceType<typeof walk.Walk>} pass
   * @returns {Candidate[]}
   */
  function kept(pass) {
    for (const candidate of pass.candidates) if (!candidate.dropped && !measure(candidate)) candidate.dropped = true;
    for (const place of pass.places) coverFrame(place);
    settle(pass.candidates);
    return pass.candidates.filter((candidate) => !candidate.dropped);
  }

  /** What of it can be seen now, in the viewport of the world's own document. @param {Candidate} candidate */
  function drawnAt({ box, clip }) {
    const seen = box ? geometry.meet(box, clip.seen) : geometry.NOWHERE;
    return geometry.isEmpty(seen) ? undefined : [seen.left, seen.top, seen.right, seen.bottom];
  }

  /** Everything that a view of the whole world would number, by element. @returns {Map<Element, Candidate>} */
  function listed() {
    const pass = new walk.Walk(geometry.EVERYWHERE);
    pass.run(null);
    /** @type {Map<Element, Candidate>} */
    const all = new Map();
    for (const candidate of kept(pass)) {
      if (candidate.kind === 'text' || candidate.kind === 'frame') continue;
      if (candidate.kind === 'scroll') describe.boxes.add(candidate.element);
      else describe.boxes.delete(candidate.element);
      all.set(candidate.element, candidate);
    }
    return all;
  }

  /** Slots that the host was told of and that are listed no more. @type {Set<number>} */
  const told = new Set();
  /**
   * @param {InstanceType<typeof walk.Walk>} pass
   * @param {Entry[]} entries
   */
  function vanished(pass, entries) {
    const gone = [...told].filter((slot) => {
      const element = registry.element(slot);
      return !element || !dom.isElement(element) || pass.made.get(element)?.dropped !== false;
    });
    for (const slot of gone) told.delete(slot);
    for (const each of entries) if (each.s) told.add(each.s);
    return gone;
  }

  /** @param {InstanceType<typeof walk.Walk>} pass */
  function remember(pass) {
    for (const place of pass.places) before.set(place.document, new WeakSet());
    /** @type {Place | null} */
    let place = null;
    /** @type {WeakSet<Element> | undefined} */
    let known;
    for (const { dropped, inherited, element } of pass.candidates) {
      if (dropped) continue;
      if (inherited.place !== place) {
        place = inherited.place;
        known = before.get(place.document);
      }
      known?.add(element);
    }
  }

  /** @param {Candidate[]} list @param {InstanceType<typeof walk.Walk>} pass */
  function count(list, pass) {
    let links = 0;
    let buttons = 0;
    let fields = 0;
    let acted = 0;
    for (const { kind, tag, role } of list) {
      if (kind === 'text' || kind === 'frame') continue;
      acted += 1;
      if (role === 'link' || (tag === 'a' && !role)) links += 1;
      else if (role === 'button' || (tag === 'button' && !role)) buttons += 1;
      else if (
        /^(input|select|textarea)$/.test(tag) ||
        /^(combobox|textbox|searchbox|checkbox|radio|switch|slider|spinbutton)$/.test(role)
      )
        fields += 1;
    }
    return {
      acted,
      links,
      buttons,
      fields,
      frames: pass.counts.frames,
      elements: pass.counts.elements,
      text: pass.counts.text,
    };
  }

  /**
   * Frames that this world cannot look into: where they are and what of them can be seen.
   * @param {Candidate[]} list
   * @param {InstanceType<typeof walk.Walk>} _pass
   */
  function frames(list, _pass) {
    return list
      .filter((candidate) => candidate.kind === 'frame')
      .slice(0, 100)
      .map((candidate) => {
        const inset = geometry.inset(candidate.element);
        const { place } = candidate.inherited;
        const x = inset.x + place.x;
        const y = inset.y + place.y;
        const seen = candidate.box ? geometry.meet(candidate.box, candidate.clip.seen) : geometry.NOWHERE;
        const name = names.of(candidate.element, 80).name;
        return {
          slot: registry.slotOf(candidate.element),
          name,
          seen: geometry.isEmpty(seen)
            ? [0, 0, 0, 0]
            : [seen.left - x, seen.top - y, seen.right - x, seen.bottom - y].map((edge) =>
                Math.round(edge / inset.scale),
              ),
          covered: !geometry.isEmpty(seen) && isCovered(candidate, false),
          inert: candidate.inherited.inert,
          at: [x, y, inset.scale],
        };
      });
  }

  /** @param {InstanceType<typeof walk.Walk>} pass */
  function facts(pass) {
    const scroller = dom.scroller(document);
    const own = pass.places[0];
    return {
      origin: self.origin,
      url: location.href,
      title: names.cut(dom.title(document).slice(0, 400), 200),
      hidden: dom.visibility(document) === 'hidden',
      aside: [...document.querySelectorAll('iframe[src^="chrome-extension:"]')].map((frame) => names.cut(dom.attr(frame, 'title') ?? '', 60)),
      kind: dom.contentType(document),
      readyState: dom.readyState(document),
      viewport: [own?.width ?? 0, own?.height ?? 0],
      scrollY: Math.round(scrollY),
      scrollMax: scroller ? Math.max(0, dom.scrollHeight(scroller) - dom.clientHeight(scroller)) : 0,
      selection: names.cut(String(getSelection() ?? '').slice(0, 4_000), 2_000),
    };
  }

  /** Everything of this world that can be acted on now, in order. @returns {Candidate[]} */
  function shown() {
    const pass = new walk.Walk(geometry.EVERYWHERE);
    pass.run(null);
    for (const candidate of pass.candidates) if (!candidate.dropped && !measure(candidate)) candidate.dropped = true;
    return pass.candidates.filter((candidate) => !candidate.dropped && candidate.kind !== 'text');
  }

  return { take, shown, listed, foreign };
})();

registry.define('snapshot', snapshot.take);

// The roots that the host found behind elements: slots first, then as many roots.
registry.define(
  'adoptRoots',
  (/** @type {number[]} */ asked, /** @type {number[]} */ hosts, /** @type {ShadowRoot[]} */ ...roots) => {
    for (const slot of asked) {
      const element = registry.element(slot);
      if (element && dom.isElement(element)) walk.asked.add(element);
    }
    hosts.forEach((slot, at) => {
      const element = registry.element(slot);
      const root = roots[at];
      if (root && element && dom.isElement(element)) dom.adopt(element, root);
    });
    return null;
  },
);

registry.defineFor('identify', (element) => describe.fingerprint(element));

// Where this document is from, and the frames that this world cannot look into.
registry.define('foreignFrames', () => ({
  origin: self.origin,
  frames: snapshot.foreign().map((frame) => registry.slotOf(frame)),
}));
