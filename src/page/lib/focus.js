// Which element has the keyboard, what a document says of itself, and whether it shows anything yet.

registry.define('focused', () => {
  /** @type {Element | null} */
  let at = document.activeElement;
  for (let deeper = 0; at && deeper < 50; deeper++) {
    const inner = dom.shadow(at)?.activeElement ?? dom.shown(at)?.activeElement ?? null;
    if (!inner) break;
    at = inner;
  }
  const element = at ?? dom.body(document) ?? dom.rootElement(document);
  if (!element) return null;
  const tag = dom.tag(element);
  return {
    slot: registry.slotOf(element),
    fingerprint: describe.fingerprint(element),
    secret: secret.hidesValue(element),
    foreign: /^(iframe|frame|object|embed|fencedframe)$/.test(tag) && dom.shown(element) === null,
    nothing: tag === 'body' || tag === 'html',
  };
});

registry.define('pageInfo', () => {
  const meta = dom.findIn(document, 'meta[name=description i], meta[property="og:description" i]');
  const root = dom.rootElement(document);
  return {
    url: location.href,
    title: names.cut(document.title, 400),
    description: names.cut(meta ? (dom.attr(meta, 'content') ?? '') : '', 1000),
    language: names.cut((root && dom.attr(root, 'lang')) ?? '', 40),
    readyState: dom.readyState(document),
  };
});

registry.define('drawn', () => {
  const body = dom.body(document);
  if (!body) return false;
  const things = 'img,svg,canvas,video,audio,input,select,textarea,button,iframe,frame,object,embed';
  if (dom.tag(body) === 'frameset' || dom.find(body, things)) return true;
  return dom.isHtml(body) && body.innerText.trim() !== '' ? true : names.squeeze(reading.visible(body).text) !== '';
});
