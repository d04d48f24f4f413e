/** The part of a `Readable` by which pieces arrive. */
interface Stream {
  push(piece: unknown, encoding?: string): boolean;
}

/**
 * A stream may arrive in some small pieces. Beyond that, its pieces must have this average size: each takes some hundred bytes of memory
 * besides its length, while flow control counts only the length. The shortest messages of proxies and watches are longer, and pieces are
 * divided only where a frame, a chunk, a TLS record or a window ends.
 */
const fewPieces = 1_000;
const averagePiece = 32;

/**
 * Calls `onExcess` once if a stream arrives in too many small pieces, also while nobody reads it. Node emits no event for data of such a
 * stream, so `push` is intercepted.
 */
export function limitPieces(stream: Stream, onExcess: () => void): void {
  const push = stream.push.bind(stream);
  let count = 0;
  let bytes = 0;
  stream.push = (piece: unknown, encoding?: string): boolean => {
    if (piece instanceof Uint8Array) {
      count += 1;
      bytes += piece.length;
      if (count > fewPieces && bytes < count * averagePiece) {
        stream.push = push;
        onExcess();
      }
    }
    return push(piece, encoding);
  };
}
