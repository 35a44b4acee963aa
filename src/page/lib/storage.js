// What scripts of this site keep in the browser.

const storage = (() => {
  const MOST = 200;
  /** Characters of a value; the host shows fewer. */
  const VALUE = 4_000;

  /** @param {string} area */
  const areaOf = (area) => (area === 'session' ? sessionStorage : localStorage);

  /**
   * @param {string} kind  all, local, session or indexeddb
   * @param {string | null} key  only this one
   */
  async function read(kind, key) {
    const scrub = secret.scrubber();
    /** @type {[string, string, string, number][]} */
    const entries = [];
    let total = 0;
    let denied = false;
    for (const area of ['local', 'session'].filter((each) => kind === 'all' || kind === each)) {
      try {
        const kept = areaOf(area);
        const names = key === null ? Object.keys(kept) : kept.getItem(key) === null ? [] : [key];
        total += names.length;
        for (const name of names.slice(0, MOST)) {
          const value = kept.getItem(name) ?? '';
          entries.push([area, scrub(name).slice(0, 300), scrub(value).slice(0, VALUE), value.length]);
        }
      } catch {
        denied = true;
      }
    }
    /** @type {[string, number][]} */
    let databases = [];
    if (key === null && (kind === 'all' || kind === 'indexeddb')) {
      try {
        databases = (await indexedDB.databases()).slice(0, MOST).map(({ name, version }) => [scrub(name ?? '').slice(0, 300), version ?? 0]);
      } catch {
        denied = true;
      }
    }
    return { denied, entries, total, databases };
  }

  /**
   * @param {string} area
   * @param {string | null} key  null: all of them
   * @param {string | null} value  null: removed
   */
  function write(area, key, value) {
    try {
      const kept = areaOf(area);
      if (key === null) kept.clear();
      else if (value === null) kept.removeItem(key);
      else kept.setItem(key, value);
      return kept.length;
    } catch {
      return null;
    }
  }

  return { read, write };
})();

registry.define('storageRead', storage.read);
registry.define('storageWrite', storage.write);
