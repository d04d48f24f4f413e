import type { ClientHttp2Stream } from 'node:http2';

/**
 * Destroys the stream of a backend that resets it with NO_ERROR before the end of the response, and calls `truncated`.
 *
 * Node handles such a reset as an ordinary end of the data: it disables the timeout of the stream, emits `end`, and emits no
 * `close` while anything is unread or unsent. But it may arrive before the end (RFC 9113 section 8.1).
 */
export function onTruncation(stream: ClientHttp2Stream, truncated: () => void): void {
  let isWhole = false;
  const push = stream.push.bind(stream);
  stream.push = (chunk, encoding) => {
    if (chunk !== null || stream.destroyed) return push(chunk, encoding);
    // On a reset, Node marks a stream as closed before it ends the data; on END_STREAM, afterwards.
    isWhole ||= !stream.closed;
    if (isWhole) return push(chunk, encoding);
    // Node still uses the stream until its own call returns.
    process.nextTick(() => {
      stream.destroy();
      truncated();
    });
    return false;
  };
}
