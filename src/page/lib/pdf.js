// PDF files that the page shows, and their bytes, with the person's session.

const pdf = (() => {
  /** @type {Map<string, Uint8Array>} */
  const fetched = new Map();
  const PIECE = 4 * 1024 * 1024;

  /** The PDF that this world's documents show: the document itself, one in a frame, or one that is embedded. */
  function shown() {
    for (const root of dom.roots()) {
      if (dom.type(root) !== 9) continue;
      const place = /** @type {Document} */ (root);
      if (isPdf(place)) return { url: dom.view(place)?.location.href ?? '', whole: place === document };
      for (const embed of dom.findAllIn(place, 'embed[type="application/pdf" i],object[type="application/pdf" i]')) {
        const address = dom.attr(embed, 'src') ?? dom.attr(embed, 'data');
        if (address && URL.canParse(address, place.baseURI)) return { url: new URL(address, place.baseURI).href, whole: false };
      }
    }
    return null;
  }

  /** @param {Document} place */
  const isPdf = (place) => place.contentType === 'application/pdf';

  /**
   * @param {string} id
   * @param {string} url
   * @param {number} cap
   */
  async function take(id, url, cap) {
    try {
      // What is shown is in the cache; asking again may bring something else.
      const response = await fetch(url, { credentials: 'include', cache: 'force-cache' });
      if (!response.ok) return { status: response.status };
      const reader = response.body?.getReader();
      const parts = [];
      let size = 0;
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        parts.push(part.value);
        size += part.value.length;
        if (size > cap) {
          void reader?.cancel();
          return { tooLarge: true };
        }
      }
      const whole = new Uint8Array(size);
      let at = 0;
      for (const part of parts) {
        whole.set(part, at);
        at += part.length;
      }
      fetched.set(id, whole);
      setTimeout(() => fetched.delete(id), 60_000);
      return { size };
    } catch (error) {
      return { failed: names.cut(String(error), 200) };
    }
  }

  /**
   * @param {string} id
   * @param {number} from
   */
  function piece(id, from) {
    const part = fetched.get(id)?.subarray(from, from + PIECE) ?? new Uint8Array();
    if (from + PIECE >= (fetched.get(id)?.length ?? 0)) fetched.delete(id);
    let text = '';
    // An argument list has its limits.
    for (let at = 0; at < part.length; at += 8192) text += String.fromCharCode(...part.subarray(at, at + 8192));
    return btoa(text);
  }

  return { shown, take, piece, isPdf };
})();

registry.define('pdfShown', pdf.shown);
registry.define('pdfTake', pdf.take);
registry.define('pdfPiece', pdf.piece);
