import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The ends that attackers stall against. */
export interface AttackedBackend {
  readonly port: number;
  openConnections(): number;
  close(): void;
}

const large = Buffer.alloc(1024 * 1024);
const piece = Buffer.alloc(64 * 1024);
const gibibyte = 1024 * 1024 * 1024;
const webSocketKey = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/**
 * A backend that answers `ok`; `/large` with 1 MiB, `/endless` with 1 GiB, and `/slow` after a minute. `/deaf` reads no body, and
 * what comes in a WebSocket is sent back as it is.
 */
export async function startAttackedBackend(): Promise<AttackedBackend> {
  const server = createServer((request, response) => {
    if (request.url === '/deaf') return;
    if (request.url === '/slow') setTimeout(() => response.end(), 60_000).unref();
    else if (request.url === '/endless') pump(response, gibibyte);
    else void request.resume().on('end', () => response.end(request.url === '/large' ? large : 'ok'));
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${webSocketKey}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => void server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    openConnections: () => sockets.size,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Writes so many bytes as fast as the other side takes them. */
function pump(response: ServerResponse, bytes: number): void {
  let left = bytes;
  const push = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length;
      if (!response.write(piece)) {
        response.once('drain', push);
        return;
      }
    }
    response.end();
  };
  response.setHeader('content-length', bytes);
  push();
}

if (process.argv[1]?.endsWith('attacked-backend.ts') === true)
  process.stdout.write(`${(await startAttackedBackend()).port}\n`);
