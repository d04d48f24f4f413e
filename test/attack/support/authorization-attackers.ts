import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Place } from './bystander.ts';

/** Not the address of anybody else on loopback. */
const attackerAddress = '127.0.0.68';
/** Milliseconds within which each request has to end: more than the timeouts of the routes. */
const patience = 15_000;

type Client = (at: Place, host: string) => Promise<void>;

/** Clients of a route whose authorization server is hostile. Each ends when its request has ended, or leaves on its own. */
const clients: readonly Client[] = [
  (at, host) => raw(at, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
  (at, host) => raw(at, `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello`),
  // The body stops in the middle.
  (at, host) => raw(at, `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9\r\n\r\nhello`, 700),
  (at, host) =>
    raw(
      at,
      `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\na\r\n'.repeat(20_000)}`,
      500,
    ),
  // Leaves while the server is asked.
  (at, host) => raw(at, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(20), 60),
  (at, host) =>
    raw(
      at,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      1_500,
    ),
  overHttp2,
];

/** Sends requests to the route of each host, one after another on so many lines for each, for so many milliseconds. Returns how many requests did not end. */
export async function attackAuthorization(
  at: Place,
  hosts: readonly string[],
  { lines, duration }: { readonly lines: number; readonly duration: number },
): Promise<number> {
  const end = performance.now() + duration;
  let unended = 0;
  const line = async (host: string, number: number): Promise<void> => {
    for (let turn = number; performance.now() < end; turn += 1) {
      const request = clients[turn % clients.length]?.(at, host);
      if (await Promise.race([request?.then(() => false), delay(patience, true, { ref: false })])) unended += 1;
      await delay(20);
    }
  };
  await Promise.all(
    hosts.flatMap((host, index) => Array.from({ length: lines }, (_, number) => line(host, index + number))),
  );
  return unended;
}

/** Writes bytes and waits for the end of the connection, or ends it after so many milliseconds. */
function raw({ host, port }: Place, bytes: string, leaves = 0): Promise<void> {
  const socket = connect({ host, port, localAddress: attackerAddress }).on('error', () => undefined);
  socket.resume().write(bytes, 'latin1');
  if (leaves > 0) setTimeout(() => socket.destroy(), leaves).unref();
  return new Promise((resolve) => void socket.on('close', () => resolve()));
}

/** Several requests of one connection: whole ones, one that is reset, and one whose body stops. */
async function overHttp2({ host, port }: Place, authority: string): Promise<void> {
  const session = connectHttp2(`http://${host}:${port}`, {
    createConnection: () => connect({ host, port, localAddress: attackerAddress }),
  }).on('error', () => undefined);
  const open = (method: string, body: Buffer | undefined, whole: boolean): Promise<void> => {
    const stream = session.request(
      { ':method': method, ':path': '/', ':authority': authority },
      { endStream: body === undefined },
    );
    stream.on('error', () => undefined).resume();
    if (body !== undefined) stream[whole ? 'end' : 'write'](body);
    if (!whole) setTimeout(() => stream.close(), 300).unref();
    return new Promise((resolve) => void stream.on('close', () => resolve()));
  };
  await Promise.all([
    open('GET', undefined, true),
    open('GET', undefined, false),
    open('POST', Buffer.alloc(1_000), true),
    open('POST', Buffer.alloc(40_000), false),
    open('POST', Buffer.alloc(200_000), true),
  ]);
  session.destroy();
}

if (process.argv[1]?.endsWith('authorization-attackers.ts') === true) {
  const [host = '', port, lines, duration, ...hosts] = process.argv.slice(2);
  const unended = await attackAuthorization({ host, port: Number(port) }, hosts, {
    lines: Number(lines),
    duration: Number(duration),
  });
  process.exit(Math.min(unended, 100));
}
