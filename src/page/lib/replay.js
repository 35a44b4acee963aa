// One request of the host, sent by the document and with its rights: the browser's rules for other sites hold.

registry.define(
  'replay',
  /** @param {{url: string, method: string, headers: [string, string][], body: string | null, most: number, within: number}} asked */
  async (asked) => {
    const began = performance.now();
    const took = () => Math.round(performance.now() - began);
    try {
      const response = await fetch(asked.url, {
        method: asked.method,
        headers: asked.headers,
        body: asked.body,
        credentials: 'include',
        cache: 'no-store',
        signal: AbortSignal.timeout(asked.within),
      });
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let body = '';
      let bytes = 0;
      let cut = false;
      for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
        bytes += part.value.length;
        body += decoder.decode(part.value, { stream: true });
        cut = body.length > asked.most;
        if (cut) {
          void reader?.cancel();
          break;
        }
      }
      return {
        status: response.status,
        statusText: response.statusText,
        url: response.url,
        headers: [...response.headers],
        body: secret.scrubber()(body.slice(0, asked.most)),
        bytes,
        cut,
        took: took(),
      };
    } catch (error) {
      return { failed: names.cut(String(error), 200), took: took() };
    }
  },
);
