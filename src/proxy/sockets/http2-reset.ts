import type { ClientHttp2Stream, Http2Stream, ServerHttp2Stream } from 'node:http2';

// Node handles a reset with NO_ERROR as an ordinary end of the data: it disables the timeout of the stream, emits
// `end`, and emits no `close` while anything is unread or unsent. But such a reset may arrive before the end (RFC 9113
// section 8.1).

/** Destroys the stream of a client that resets it with NO_ERROR before receiving the complete response. */
export function destroyOnSilentReset(stream: ServerHttp2Stream): void {
  replaceEnd(
    stream,
    () => stream.closed && (stream.aborted || !stream.writableFinished),
    () => undefined,
  );
}

/** Destroys the stream of a backend that resets it with NO_ERROR before the end of the response, and calls `truncated`. */
export function onTruncation(stream: ClientHttp2Stream, truncated: () => void): void {
  let isWhole = false;
  // On a reset, Node marks a stream as closed before it ends the data; on END_STREAM, afterwards.
  const isReset = (): boolean => {
    isWhole ||= !stream.closed;
    return !isWhole;
  };
  replaceEnd(stream, isReset, truncated);
}

/** If the data ends because of a reset, destroys the stream instead of emitting `end`, and then calls `destroyed`. */
function replaceEnd(stream: Http2Stream, isReset: () => boolean, destroyed: () => void): void {
  const push = stream.push.bind(stream);
  stream.push = (chunk, encoding) => {
    if (chunk !== null || stream.destroyed || !isReset()) return push(chunk, encoding);
    // Node still uses the stream until its own call returns.
    process.nextTick(() => {
      stream.destroy();
      destroyed();
    });
    return false;
  };
}
