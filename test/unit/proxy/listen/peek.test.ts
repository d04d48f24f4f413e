import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { detectProtocol, peek } from '../../../../src/proxy/listen/peek.ts';
import { eventually } from '../../../support/eventually.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test.each([
  ['\x16\x03\x01', 'tls'],
  ['\x16', 'tls'],
  ['GET / HTTP/1.1\r\n', 'http1'],
  ['P', undefined],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r', undefined],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'http2'],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0', 'http2'],
  ['PRI * HTTP/1.1\r\n', 'http1'],
  ['POST', 'http1'],
  ['\0', 'http1'],
])('%j opens %s', (bytes, protocol) => {
  expect(detectProtocol(Buffer.from(bytes, 'latin1'))).toBe(protocol);
});

describe('a connection', () => {
  const server = createServer({ allowHalfOpen: true });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());

  /** A connection of a client, and what the server has found. */
  async function accept(timeout = 10_000) {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    const [socket] = (await once(server, 'connection')) as [Socket];
    const found: string[] = [];
    let overdue = 0;
    peek(
      socket.on('error', () => undefined),
      { timeout, overdue: () => (overdue += 1) },
      (protocol) => found.push(protocol),
    );
    return { client, socket, found, overdue: () => overdue };
  }

  test('releases its first bytes when they are read', async () => {
    collect();
    const before = process.memoryUsage().arrayBuffers;
    const sockets: Socket[] = [];
    for (let count = 0; count < 10; count += 1) {
      const { client, socket } = await accept();
      client.write('\x16'.repeat(40_000));
      await eventually(() => expect(socket.readableLength).toBe(40_000));
      socket.read();
      sockets.push(client, socket);
    }
    await new Promise(setImmediate);
    collect();
    // Each 40 KB before.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200_000);
    for (const socket of sockets) socket.destroy();
  });

  test('keeps its first bytes and the further ones, in any number of pieces', async () => {
    const { client, socket, found } = await accept();
    client.write('PRI * HTTP/2.0');
    await eventually(() => expect(socket.bytesRead).toBe(14));
    expect(found).toEqual([]);
    client.write('\r\n\r\nSM\r\n\r\nframes');
    await eventually(() => expect(found).toHaveLength(1));
    const first = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nframes';
    expect(found).toEqual(['http2']);
    expect(socket.readableLength).toBe(first.length);
    client.write('more');
    await eventually(() => expect(socket.bytesRead).toBe(first.length + 4));
    const large = 'x'.repeat(300_000);
    client.end(large);
    let all = '';
    for await (const piece of socket) all += String(piece);
    expect(all).toBe(`${first}more${large}`);
    expect(found).toHaveLength(1);
  });

  test('that ends before is closed', async () => {
    const { client, socket, found, overdue } = await accept();
    client.end('PRI');
    await eventually(() => expect(socket.destroyed).toBe(true));
    expect([found, overdue()]).toEqual([[], 0]);
  });

  test('that stays undecided is closed on the timeout', async () => {
    const { client, socket, found, overdue } = await accept(20);
    client.write('PRI');
    await eventually(() => expect(socket.destroyed).toBe(true));
    expect([found, overdue()]).toEqual([[], 1]);
  });
});
