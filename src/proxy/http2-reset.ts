import type { ClientHttp2Stream, Http2Stream, ServerHttp2Stream } from 'node:http2';

// A reset with NO_ERROR is an ordinary end of the data to Node: it turns off the timeout of the stream, lets `end` follow, and
// emits no `close` while anything is unread or unsent. But it may come before the end (RFC 9113 section 8.1).

/** Destroys the stream of a client that resets it with NO_ERROR before it has received the whole response. */
export function destroyOnSilentReset(stream: ServerHttp2Stream): void {
  replaceEnd(stream, () => stream.closed && (stream.aborted || !stream.writableFinished), () => undefined);
}

/** Destroys the stream of a backend that resets it with NO_ERROR before the end of the response, and calls `truncated`. */
export function onTruncation(stream: ClientHttp2Stream, truncated: () => void): void {
  let isWhole = false;
  // Node marks a stream closed before it ends the data because of a reset, and after it where END_STREAM is the cause.
  const isReset = (): boolean => {
    isWhole ||= !stream.closed;
    return !isWhole;
  };
  replaceEnd(stream, isReset, truncated);
}

/** Where the data ends by a reset, destroys the stream in place of `end`, and then calls `destroyed`. */
function replaceEnd(stream: Http2Stream, isReset: () => boolean, destroyed: () => void): void {
  const push = stream.push.bind(stream);
  stream.push = (chunk, encoding) => {
    if (chunk !== null || stream.destroyed || !isReset()) return push(chunk, encoding);
    // Node is not done with the stream before its own call returns.
    process.nextTick(() => {
      stream.destroy();
      destroyed();
    });
    return false;
  };
}
