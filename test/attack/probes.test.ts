import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { isFull, scaled } from './support/scale.ts';
import { startTarget, type Target } from './support/target.ts';

let target: Target;
const open = new Set<Socket>();

beforeAll(async () => {
  target = await startTarget('');
}, 60_000);
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await target.stop();
});

function dial(localAddress = '127.0.0.1'): Socket {
  const socket = connect({ host: '127.0.0.1', port: target.probePort, localAddress });
  open.add(socket);
  return socket.on('error', () => undefined);
}

const health = async (): Promise<number> => (await fetch(`http://127.0.0.1:${target.probePort}/healthz`)).status;
const refused = (reason: string): Promise<number> =>
  target.metric('sallyport_probe_requests_refused_total', `{reason="${reason}"}`);

test.each([
  ['metrics', 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['metrics in HTTP/1.0', 'GET /metrics HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
  ['nothing, without a host', 'GET / HTTP/1.1\r\n\r\n'],
])(
  'clients that pipeline requests for %s get one response each',
  async (_name, kind) => {
    const request = kind.repeat(scaled(2_000, 20_000));
    const responses = await Promise.all(
      Array.from({ length: scaled(5, 50) }, async () => {
        const socket = dial();
        let count = 0;
        socket.on('data', (chunk: Buffer) => (count += chunk.toString('latin1').split('HTTP/1.1 200 OK').length - 1));
        socket.write(request);
        const { promise: closed, resolve } = Promise.withResolvers<void>();
        socket.once('close', () => resolve());
        await closed;
        return count;
      }),
    );
    // A reset can discard the one response on its way.
    expect(Math.max(...responses)).toBeLessThanOrEqual(1);
    expect(target.isAlive()).toBe(true);
    expect(await health()).toBe(200);
    expect(await refused('pipelined')).toBeGreaterThan(0);
    if (isFull) expect(target.held().memory).toBeLessThan(512);
  },
  60_000,
);

test('one address cannot take all connections', async () => {
  const sockets = Array.from({ length: 200 }, () => dial('127.0.0.9'));
  await eventually(async () => expect(await refused('connections')).toBeGreaterThanOrEqual(100));
  expect(await health()).toBe(200);
  for (const socket of sockets) socket.destroy();
  await eventually(() => expect(target.held().descriptors).toBeLessThan(150));
}, 60_000);
