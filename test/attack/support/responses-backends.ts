import type { Socket } from 'node:net';
import { startBackend, startRawBackend } from '../../support/backends.ts';
import type { Backend } from '../../support/backends.ts';
import { startRawHttp2Backend } from '../../support/raw-http2.ts';
import { http1Plan, http2Plan, tagOf } from './responses-grammar.ts';
import type { Plan } from './responses-grammar.ts';

/** Backends whose responses follow the number in the path of a request (HTTP/1) or in its content (HTTP/2). */
export interface HostileBackends {
  readonly http1: Backend;
  readonly http2: Backend;
  /** Answers everything with 200 and the tag of the request. */
  readonly good: Backend;
}

export async function startHostileBackends(): Promise<HostileBackends> {
  const http1 = await startRawBackend((socket) => {
    let held = '';
    socket
      .on('end', () => socket.end())
      .on('data', (bytes: Buffer) => {
        held += bytes.toString('latin1');
        const request = /^[A-Z]+ \/(?<id>\d+) [^]*?\r\n\r\n/.exec(held);
        if (request === null) return;
        held = '';
        const id = Number(request.groups?.['id']);
        const isUpgrade = /\r\nupgrade: websocket/i.test(request[0]);
        void follow(socket, isUpgrade ? upgradePlan(id) : http1Plan(id));
      });
  });
  const http2 = await startRawHttp2Backend((socket, stream, { type, payload }) => {
    const id = /^<(?<id>\d+)>$/.exec(payload.toString('latin1'))?.groups?.['id'];
    if (type === 'data' && id !== undefined) void follow(socket, http2Plan(Number(id), stream));
  });
  const good = await startBackend((request, response) => {
    request.resume();
    response
      .setHeader('x-tag', tagOf(Number(request.url?.slice(1) ?? 0)))
      .end(tagOf(Number(request.url?.slice(1) ?? 0)));
  });
  return { http1, http2, good };
}

/** A switch of protocols with fields that do not belong there, then the tag, then the end. */
function upgradePlan(id: number): Plan {
  const extras = [
    'Trailer: X',
    'Transfer-Encoding: chunked',
    'Content-Length: 5',
    'Keep-Alive: timeout=5',
    'Trailer: X\r\nTransfer-Encoding: chunked',
    'HTTP2-Settings: a',
    'X-Bad: \0',
    'X-Fine: a',
  ];
  const text = `HTTP/1.1 101 A\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Tag: ${tagOf(id)}\r\n${extras[id % extras.length]}\r\n\r\n${tagOf(id)}`;
  return id % 3 === 0
    ? http1Plan(id)
    : { pieces: [Buffer.from(text, 'latin1')], end: id % 2 === 0 ? 'close' : 'reset', outcome: 'either' };
}

async function follow(socket: Socket, { pieces, end }: Plan): Promise<void> {
  for (const piece of pieces) {
    if (piece.length > 0) socket.write(piece);
    // The next one comes in a packet of its own.
    if (pieces.length > 1) await new Promise(setImmediate);
  }
  if (end === 'close') socket.end();
  if (end === 'reset') socket.resetAndDestroy();
}
