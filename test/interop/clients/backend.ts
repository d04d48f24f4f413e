import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { encodeFrame, finalClose, finalPing, finalPong, frameReader } from './websocket-frames.ts';

/**
 * Serves HTTP/1.1 on a loopback port until the process ends. `/bytes/N` is N bytes long; every other path answers with method,
 * Via, length and SHA-256 of the request as JSON. A WebSocket gets back each of its messages.
 *
 * @returns the port
 */
export async function startClientBackend(): Promise<number> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const length = /^\/bytes\/(?<length>\d+)$/.exec(request.url ?? '')?.groups?.['length'];
    if (length === undefined) describeRequest(request, response);
    else response.end(Buffer.alloc(Number(length), 'sallyport '));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => echoFrames(request, socket, head));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  return (server.address() as AddressInfo).port;
}

function describeRequest(request: IncomingMessage, response: ServerResponse): void {
  const hash = createHash('sha256');
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ method: request.method, via: request.headers.via, bytes, sha256: hash.digest('hex') }),
    );
  });
}

function echoFrames({ headers }: IncomingMessage, socket: Duplex, head: Buffer): void {
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  const read = frameReader();
  const echo = (chunk: Buffer): void => {
    for (const { first, payload } of read(chunk)) {
      socket.write(encodeFrame({ first: first === finalPing ? finalPong : first, payload }));
      if (first === finalClose) socket.end();
    }
  };
  socket.on('error', () => socket.destroy());
  socket.on('data', echo);
  if (head.length > 0) echo(head);
}
