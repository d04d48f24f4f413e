import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Bodies } from '../../../src/webhook/body.ts';
import { eventually } from '../../support/eventually.ts';

const bodies = new Bodies({ bodyBytes: 1024 * 1024, heldBytes: 8 * 1024 * 1024 });
const outcomes: string[] = [];
/** The most bytes of a body that waited in its stream. */
let waiting = 0;

const server = createServer((request, response) => {
  watch(request);
  void answer(request, response);
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { body, release } = await bodies.receive(request, request.socket.remoteAddress ?? '');
    outcomes.push(`${Buffer.concat(body.chunks).length}`);
    release();
    response.end();
  } catch (error) {
    outcomes.push((error as Error).message);
    response.writeHead(413, { connection: 'close' }).end();
  }
}

/** Looks in each turn of the event loop until the request is over. */
function watch(request: IncomingMessage): void {
  waiting = Math.max(waiting, request.readableLength);
  if (!request.destroyed) setImmediate(watch, request);
}

async function send(body: string, localAddress = '127.0.0.1'): Promise<void> {
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', localAddress });
  client.on('error', () => undefined).resume();
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`);
  await once(client, 'close');
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => void server.close());

test('pieces of one byte do not wait in the streams of their bodies', async () => {
  waiting = 0;
  outcomes.length = 0;
  await Promise.all(Array.from({ length: 8 }, () => send('1\r\n{\r\n'.repeat(100_000))));
  expect(outcomes).toEqual(Array(8).fill('the body was rejected: too-large'));
  expect(waiting).toBeLessThan(1_000);
  expect(bodies.held).toBe(0);
});

test('bodies that take several turns of the event loop arrive whole', async () => {
  outcomes.length = 0;
  const piece = 'x'.repeat(0x8000);
  await Promise.all(Array.from({ length: 6 }, () => send(`8000\r\n${piece}\r\n`.repeat(30))));
  expect(outcomes).toEqual(Array(6).fill(`${30 * 0x8000}`));
  expect(bodies.held).toBe(0);
});

test.each([
  ['client', '127.0.0.67', 'alice'],
  ['user of the same client', '127.0.0.1', 'mallory'],
])('a %s that holds many bytes leaves room for the large bodies of others', async (_who, localAddress, user) => {
  outcomes.length = 0;
  const pieceOf = (name: string): string => `"userInfo":{"username":"${name}"`.padEnd(0x8000, 'x');
  const port = (server.address() as AddressInfo).port;
  const holding = Array.from({ length: 16 }, () => {
    const client = connect({ port, host: '127.0.0.1', localAddress })
      .on('error', () => undefined)
      .resume();
    client.write(
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${`8000\r\n${pieceOf(user)}\r\n`.repeat(25)}`,
    );
    return client;
  });
  await eventually(() => expect(outcomes).toContain('the body was rejected: busy'));
  await send(`8000\r\n${pieceOf('alice')}\r\n`.repeat(20));
  expect(outcomes.filter((outcome) => outcome !== 'the body was rejected: busy')).toEqual([`${20 * 0x8000}`]);
  for (const client of holding) client.destroy();
  await eventually(() => expect(bodies.held).toBe(0));
});
