import type { Socket } from 'node:net';
import { startRawBackend } from '../support/backends.ts';
import { frame, literal, receiveFrames } from '../support/http2.ts';
import { framesOf } from '../support/http2-backend.ts';

export const backendOperations = [
  'interim response',
  'head',
  'part of a body',
  'more than anybody holds',
  'whole answer',
  'refusal',
  'switch',
  'stop reading',
  'resume',
  'cancel',
  'end',
  'reset',
  'close',
] as const;
export type BackendOperation = (typeof backendOperations)[number];

/** A backend that accepts everything and does as it is told, with the request that came last. */
export interface LifecycleBackend {
  readonly port: number;
  do(operation: BackendOperation): void;
  /** How often bytes of requests have come so far. */
  asked(): number;
  /** Connections with a request that has been neither answered nor given up, as far as the backend can see. */
  held(): number;
  /** Resets every connection, and each new one until `return`. */
  leave(): void;
  return(): void;
}

const large = Buffer.alloc(16_000_000);

interface Line {
  readonly socket: Socket;
  /** Whether a request waits that is not given up. */
  isHeld(): boolean;
  say(operation: BackendOperation): void;
}

/** Starts a backend on bare connections; `lineOf` speaks the protocol. */
async function start(lineOf: (socket: Socket, asked: () => void) => Line): Promise<LifecycleBackend> {
  const lines = new Set<Line>();
  let last: Line | undefined;
  let isAway = false;
  let asked = 0;
  const { port } = await startRawBackend((socket) => {
    if (isAway) {
      socket.resetAndDestroy();
      return;
    }
    const line = lineOf(socket, () => {
      asked += 1;
      last = line;
    });
    lines.add(line);
    socket.on('close', () => lines.delete(line));
  });
  return {
    port,
    asked: () => asked,
    do: (operation) => {
      if (last === undefined || last.socket.destroyed) return;
      const act = actions[operation];
      if (act !== undefined) act(last.socket);
      else if (last.socket.writable) last.say(operation);
    },
    held: () => {
      for (const { socket } of lines) socket.resume();
      return [...lines].filter((line) => !line.socket.destroyed && !line.socket.readableEnded && line.isHeld()).length;
    },
    leave: () => {
      isAway = true;
      last = undefined;
      for (const { socket } of lines) reset(socket);
    },
    return: () => (isAway = false),
  };
}

/** What is done to a connection; everything else is said on it. */
const actions: Partial<Record<BackendOperation, (socket: Socket) => void>> = {
  'stop reading': (socket) => void socket.pause(),
  resume: (socket) => void socket.resume(),
  end: (socket) => void socket.end(),
  close: (socket) => void socket.destroy(),
  reset,
};

function reset(socket: Socket): void {
  if (!socket.writableEnded) socket.resetAndDestroy();
  socket.destroy();
}

const http1Words: Partial<Record<BackendOperation, Buffer | string>> = {
  'interim response': 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  head: 'HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n',
  'part of a body': 'part',
  'more than anybody holds': large,
  'whole answer': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  refusal: 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n',
  switch:
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nhello',
};
const http1Answers: ReadonlySet<BackendOperation> = new Set(['whole answer', 'refusal']);

/** Starts a backend that speaks HTTP/1.1. */
export function startHttp1Actor(): Promise<LifecycleBackend> {
  return start((socket, asked) => {
    let isHeld = false;
    socket.on('data', () => {
      isHeld = true;
      asked();
    });
    return {
      socket,
      isHeld: () => isHeld,
      say: (operation) => {
        const words = http1Words[operation];
        if (words === undefined) return;
        // The first one in a row is an answer; whatever else was said before, nobody counts on it.
        if (http1Answers.has(operation)) isHeld = false;
        socket.write(words);
      },
    };
  });
}

const endHeaders = 4;
const endStream = 1;
/** Extended CONNECT is taken (RFC 8441 section 3). */
const settings = frame('settings', 0, 0, Buffer.from([0, 8, 0, 0, 0, 1]));

const http2Words: Partial<Record<BackendOperation, (stream: number) => Buffer>> = {
  'interim response': (stream) => frame('headers', endHeaders, stream, literal([':status', '103'], ['link', '</a>'])),
  head: (stream) => frame('headers', endHeaders, stream, literal([':status', '200'])),
  switch: (stream) => frame('headers', endHeaders, stream, literal([':status', '200'])),
  'part of a body': (stream) => frame('data', 0, stream, Buffer.from('part')),
  'more than anybody holds': (stream) =>
    Buffer.concat(Array.from({ length: 8 }, () => frame('data', 0, stream, Buffer.alloc(16_384)))),
  'whole answer': (stream) => frame('headers', endHeaders | endStream, stream, literal([':status', '200'])),
  refusal: (stream) => frame('headers', endHeaders | endStream, stream, literal([':status', '503'])),
  cancel: (stream) => frame('reset', 0, stream, Buffer.from([0, 0, 0, 8])),
};
const http2Ends: ReadonlySet<BackendOperation> = new Set(['whole answer', 'refusal', 'cancel']);

/** Starts a backend that speaks HTTP/2 without TLS. It makes no room for bodies beyond the first window. */
export function startHttp2Actor(): Promise<LifecycleBackend> {
  return start((socket, asked) => {
    const raw = receiveFrames(socket);
    const ended = new Set<number>();
    let last = 0;
    socket.write(settings);
    socket.on('data', () => {
      const stream = framesOf(raw, 'headers').at(-1)?.stream ?? 0;
      if (stream === last) return;
      last = stream;
      asked();
    });
    return {
      socket,
      isHeld: () =>
        framesOf(raw, 'headers').some(
          ({ stream }) => !ended.has(stream) && !framesOf(raw, 'reset').some((gone) => gone.stream === stream),
        ),
      say: (operation) => {
        const words = http2Words[operation];
        if (words === undefined || last === 0) return;
        if (http2Ends.has(operation)) ended.add(last);
        socket.write(words(last));
      },
    };
  });
}
