import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { startRawBackend } from './backends.ts';
import type { ServingPair } from './backends.ts';
import { frame, frameTypes, receiveFrames } from './http2.ts';
import type { RawHttp2 } from './http2.ts';

/** A backend that speaks HTTP/2 in bare frames, for what no HTTP/2 server would send. */
export interface FrameBackend {
  readonly port: number;
  /** In the order in which they came. */
  readonly connections: readonly RawHttp2[];
  /** Requests received so far. */
  requests(): number;
  /** Requests received on connections that stand, without those that were reset. */
  held(): number;
  /** Bytes of request bodies received so far. */
  bodyBytes(): number;
}

/** Bytes of a request's body that the backend takes; it makes no further room. */
export const backendWindow = 16_384;

/** The window, and that extended CONNECT is taken (RFC 8441 section 3). */
const settings = frame(
  'settings',
  0,
  0,
  Buffer.from([0, 4, 0, 0, backendWindow >> 8, backendWindow & 0xff, 0, 8, 0, 0, 0, 1]),
);

/** Starts a backend that calls `answer` for each request; over TLS with `pair`. `closeBackends` ends it. */
export async function startFrameBackend(
  answer: (raw: RawHttp2, stream: number) => void,
  pair?: ServingPair,
): Promise<FrameBackend> {
  const connections: RawHttp2[] = [];
  const serve = (socket: Socket): void => {
    const raw = receiveFrames(socket);
    connections.push(raw);
    socket.write(settings);
    let seen = 0;
    socket.on('data', () => {
      for (; seen < raw.frames.length; seen += 1) {
        const { type, stream } = raw.frames[seen]!;
        if (type === frameTypes.headers) answer(raw, stream);
      }
    });
    socket.on('error', () => undefined).on('end', () => socket.destroy());
  };
  const termination = pair && createTlsServer({ ...pair, ALPNProtocols: ['h2'], allowHalfOpen: true }, serve);
  const backend = await startRawBackend((socket) =>
    termination === undefined ? serve(socket) : termination.emit('connection', socket),
  );
  const sum = (value: (raw: RawHttp2) => number): number => connections.reduce((total, raw) => total + value(raw), 0);
  return {
    port: backend.port,
    connections,
    requests: () => sum((raw) => framesOf(raw, 'headers').length),
    held: () =>
      sum((raw) => (raw.socket.destroyed ? 0 : framesOf(raw, 'headers').length - framesOf(raw, 'reset').length)),
    bodyBytes: () => sum((raw) => framesOf(raw, 'data').reduce((bytes, { payload }) => bytes + payload.length, 0)),
  };
}

/** The frames of one type that were received on a connection. */
export function framesOf({ frames }: RawHttp2, type: keyof typeof frameTypes): RawHttp2['frames'] {
  return frames.filter((received) => received.type === frameTypes[type]);
}
