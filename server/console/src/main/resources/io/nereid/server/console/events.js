// @ts-check
// Server-sent events, read with fetch: EventSource can send no token.

/**
 * The events of a reply as they come; it ends with the reply.
 *
 * @param {Response} response
 * @returns {AsyncGenerator<{event: string, data: string}>}
 */
export async function* eventsOf(response) {
  const body = /** @type {ReadableStream<Uint8Array>} */ (response.body);
  const reader = body.pipeThrough(/** @type {any} */ (new TextDecoderStream())).getReader();
  let rest = '';
  let event = 'message';
  /** @type {string[]} */
  let data = [];
  try {
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r?\n/);
      rest = /** @type {string} */ (lines.pop());
      for (const line of lines) {
        if (line === '') {
          if (data.length) yield {event, data: data.join('\n')};
          event = 'message';
          data = [];
        } else if (line.startsWith('data:')) {
          data.push(line.slice(line[5] === ' ' ? 6 : 5));
        } else if (line.startsWith('event:')) {
          event = line.slice(6).trim();
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
