// A page that is built anew for every round, and what may happen to it between the view and the end of the click.
// Every event of a press that gets as far as a document (or a closed root) is noted with what it reached.

let random = () => 0;
/** @type {{ target: Element, label: string, log: string[], wrong: string[], clicks: number, plan: string[], closed: ShadowRoot, around: Set<Node> }} */
let round;
let last = 0;

function dice(seed) {
  let state = seed >>> 0;
  return below => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
const pick = list => list[random(list.length)];
const label = () => `Item ${++last}.`;

const EVENTS = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu'];

/** Notes what reaches a document or a closed root. */
function listen(root) {
  for (const type of EVENTS) {
    root.addEventListener(type, event => {
      if (!event.isTrusted || !round) return;
      const path = event.composedPath();
      const reached = path[0];
      const { target, closed } = round;
      if (type === 'pointerdown') for (let at = target; at; at = at.parentNode ?? at.host) round.around.add(at);
      // Seen from outside, what is inside the closed root is its host; the root itself listens too.
      const hidden = target.getRootNode() === closed && reached === closed.host;
      const label = target.closest('label');
      const fine = path.includes(target) || hidden || (label !== null && path.includes(label)) ||
        // A release over the box around the target ends nothing but what began in it.
        (/up$/.test(type) && round.around.has(reached));
      round.log.push(`${type} ${describe(reached)}`);
      if (!fine) round.wrong.push(`${type} on ${describe(reached)}`);
      if (type === 'click' && path.includes(target)) round.clicks += 1;
    }, true);
  }
}
listen(document);
const describe = node => `${node.localName ?? node.nodeName}#${node.id ?? ''} ${(node.textContent ?? '').trim().slice(0, 20)}`;

function button(kind = 'button') {
  const made = document.createElement(kind);
  made.textContent = label();
  if (kind === 'a') {
    made.href = `#${last}`;
    made.addEventListener('click', event => event.preventDefault());
  }
  if (kind === 'div') made.className = 'card';
  made.addEventListener('click', () => { made.dataset.clicked = '1'; });
  return made;
}
const box = (tag, children) => {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
};
const several = (count, kind) => Array.from({ length: count }, () => button(kind));

async function frame() {
  const made = document.createElement('iframe');
  const loaded = new Promise(resolve => { made.onload = resolve; });
  made.srcdoc = '<!doctype html><style>button{display:block;margin:4px}</style><body>';
  document.querySelector('#stage').append(made);
  await loaded;
  listen(made.contentDocument);
  made.contentDocument.body.append(...several(4));
  return made;
}

/** Builds the page and chooses the element to click; its label is the answer. */
async function prepare(seed) {
  // What the round before left to do later must not touch this one.
  round = undefined;
  random = dice(seed);
  const stage = document.querySelector('#stage');
  for (const extra of document.querySelectorAll('.extra')) extra.remove();
  document.body.style.cssText = '';
  scrollTo(0, 0);
  stage.replaceChildren();
  const open = document.createElement('x-open');
  const shut = document.createElement('x-shut');
  open.attachShadow({ mode: 'open' }).append(...several(3));
  const closed = shut.attachShadow({ mode: 'closed' });
  closed.append(...several(3));
  listen(closed);
  const panel = box('div', several(9));
  panel.id = 'panel';
  const choice = box('label', [document.createElement('input'), label()]);
  choice.firstChild.type = 'checkbox';
  const tail = document.createElement('div');
  tail.id = 'tail';
  stage.append(box('nav', several(4, 'a')), box('ul', several(5).map(one => box('li', [one]))), box('section', several(3, 'div')), panel, open, shut, choice);
  const within = await frame();
  stage.append(box('p', several(3)), tail, box('p', several(3)));
  const pools = [
    [...stage.querySelectorAll('nav > a')], [...stage.querySelectorAll('li > button')], [...stage.querySelectorAll('.card')],
    [...panel.children], [...open.shadowRoot.children], [...closed.children], [choice.firstChild],
    [...within.contentDocument.body.children], [...stage.querySelectorAll('p > button')],
  ];
  const target = pick(pick(pools));
  const words = target.localName === 'input' ? choice.textContent : target.textContent;
  round = { target, label: words, log: [], wrong: [], clicks: 0, plan: [], closed, around: new Set() };
  return { label: words, press: random(3) === 0 };
}

const around = () => round.target.parentNode ?? document.querySelector('#stage');
const other = () => {
  const all = [...document.querySelectorAll('#stage button, #stage a, .card, li, nav, section')].filter(one => one !== round.target);
  return pick(all);
};
const rectangle = () => round.target.getBoundingClientRect();
const over = (style, inner) => {
  const made = inner ?? button('div');
  made.classList.add('extra');
  made.style.cssText = `position:fixed;z-index:9;margin:0;background:#fffc;${style}`;
  document.body.append(made);
};

const MUTATIONS = {
  insert: () => around().insertBefore(button(), round.target.parentNode ? round.target : null),
  insertMany: () => document.querySelector('#stage').prepend(...several(1 + random(12))),
  removeBefore: () => round.target.previousSibling?.remove(),
  removeOther: () => other()?.remove(),
  remove: () => round.target.remove(),
  reorder: () => [...around().children].sort(() => random(3) - 1).forEach(one => around().append(one)),
  reorderBlocks: () => [...document.querySelector('#stage').children].filter(one => one.localName !== 'iframe')
    .sort(() => random(3) - 1).forEach(one => document.querySelector('#stage').append(one)),
  replace: () => round.target.replaceWith(round.target.cloneNode(true)),
  replaceByOther: () => round.target.replaceWith(button()),
  redraw: () => { const at = around(); if (at.localName) at.innerHTML = at.innerHTML; },
  clone: () => round.target.before(round.target.cloneNode(true)),
  move: () => document.querySelector('nav')?.prepend(round.target),
  moveAway: () => document.querySelector('#stage').append(round.target),
  rename: () => { round.target.textContent = label(); },
  swapTexts: () => { const mate = other(); if (mate) [mate.textContent, round.target.textContent] = [round.target.textContent, mate.textContent]; },
  swapPlaces: () => { const mate = round.target.nextElementSibling; if (mate) mate.after(round.target); },
  veil: () => over('inset:0'),
  cover: () => { const at = rectangle(); over(`left:${at.left}px;top:${at.top}px;width:${at.width}px;height:${at.height}px`, random(2) ? button() : undefined); },
  frameOver: () => {
    const made = document.createElement('iframe');
    over(`inset:0;width:100%;height:100%`, made);
    listen(made.contentDocument);
    made.contentDocument.body.append(...several(2));
    made.contentDocument.body.style.cssText = 'height:900px;background:#ffc';
  },
  modal: () => { const made = box('dialog', several(2)); made.className = 'extra'; document.body.append(made); made.showModal(); },
  popover: () => { const made = box('div', several(2)); made.className = 'extra'; made.popover = 'manual'; document.body.append(made); made.showPopover(); },
  scroll: () => scrollBy(0, random(500) - 100),
  scrollPanel: () => { document.querySelector('#panel').scrollTop = random(300); },
  frameSwap: () => { const old = document.querySelector('#stage iframe'); if (old) { const made = old.cloneNode(); old.replaceWith(made); } },
  frameReload: () => { document.querySelector('#stage iframe')?.contentWindow?.location.reload(); },
  frameMove: () => { const old = document.querySelector('#stage iframe'); if (old) old.style.cssText = `position:relative;top:-${random(300)}px`; },
  hostSwap: () => { const host = pick([...document.querySelectorAll('x-open, x-shut')]); host?.replaceWith(button()); },
  disable: () => { round.target.disabled = true; round.target.setAttribute('aria-disabled', 'true'); },
  hide: () => { round.target.style.display = 'none'; },
  vanish: () => { round.target.style.visibility = 'hidden'; },
  shift: () => { round.target.style.transform = `translate(${random(300) - 150}px, ${random(160) - 80}px)`; },
  through: () => { round.target.style.pointerEvents = 'none'; },
  shrink: () => { round.target.style.cssText = 'width:0;height:0;padding:0;border:0;overflow:hidden;margin:0'; },
  grow: () => { document.body.style.zoom = String(1 + random(8) / 10); },
  pushDown: () => { document.body.style.paddingTop = `${20 + random(200)}px`; },
  inner: () => { const inside = button('a'); round.target.append(inside); },
  link: () => { if (round.target.href) round.target.href = '#elsewhere'; },
  inert: () => { document.querySelector('#stage').inert = true; setTimeout(() => { document.querySelector('#stage').inert = false; }, 60); },
  wander: () => {
    const { target } = round;
    let left = 12;
    const step = () => { target.style.translate = `${(12 - left) * 14}px 0`; if (--left > 0) requestAnimationFrame(step); };
    step();
  },
};

function mutate(when) {
  const name = pick(Object.keys(MUTATIONS));
  round.plan.push(`${when}: ${name}`);
  try {
    MUTATIONS[name]();
  } catch (error) {
    round.plan.push(`(${error.message})`);
  }
}

/** What happens after the view; some of it only once the mouse comes, or while the button is down. */
function between() {
  for (let left = random(3); left > 0; left--) mutate('between');
  const mine = round;
  const once = (type, root) => root.addEventListener(type, () => { if (round === mine) mutate(type); }, { once: true, capture: true });
  const roots = [document, round.target.ownerDocument].filter((root, at, all) => all.indexOf(root) === at);
  const when = random(8);
  const type = ['mousemove', 'pointerdown', 'mousedown', 'pointerup', 'mouseup', 'pointermove'][when];
  if (type) for (const root of roots) once(type, root);
  if (when === 6) for (let turn = 0; turn < 4; turn++) setTimeout(() => { if (round === mine) mutate('later'); }, random(60));
  return round.plan;
}

function pressed() {
  mutate('before the press');
}

function verdict() {
  const { wrong, clicks, log, plan, label: words } = round;
  return { wrong, clicks, log, plan, label: words };
}
