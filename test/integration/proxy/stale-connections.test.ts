import { afterEach, expect, test } from '@jest/globals';
import { closeBackends, startRawBackend } from '../../support/backends.ts';
import type { Backend } from '../../support/backends.ts';
import { closeProxies, send, startProxyTo } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

interface Closing extends Backend {
  /** The number of requests that the backend has received on all its connections. */
  received(): number;
}

/** A backend that does not say so, but closes each connection as soon as a second request arrives on it. `hold` delays the responses. */
async function startClosing(hold: (respond: () => void) => void): Promise<Closing> {
  let received = 0;
  const backend = await startRawBackend((socket) => {
    let isFirst = true;
    socket
      .on('error', () => undefined)
      .on('data', () => {
        received += 1;
        if (isFirst) hold(() => socket.write(ok));
        else socket.destroy();
        isFirst = false;
      });
  });
  return { ...backend, received: () => received };
}

/** Returns a function that holds responses until it has as many as `count`, and from then on none. */
function together(count: number): (respond: () => void) => void {
  const held: (() => void)[] = [];
  let isOver = false;
  return (respond) => {
    if (isOver) {
      respond();
      return;
    }
    held.push(respond);
    if (held.length < count) return;
    isOver = true;
    for (const one of held) one();
  };
}

const statuses = async (port: number, count: number): Promise<readonly number[]> => {
  const responses = await Promise.all(Array.from({ length: count }, () => send(port, '/')));
  return responses.map(({ status }) => status);
};

test('a request meets one closing connection at most, however many there are', async () => {
  const backend = await startClosing(together(10));
  const { port } = await startProxyTo(backend.port);
  expect(await statuses(port, 10)).toEqual(Array(10).fill(200));
  for (let left = 10; left > 0; left -= 1) expect(await statuses(port, 1)).toEqual([200]);
  expect(backend.received()).toBeLessThanOrEqual(30);
});

test('requests that need new connections get them, although all connections are idle or in use', async () => {
  const backend = await startClosing(together(4));
  const { port } = await startProxyTo(backend.port, { connectionsPerEndpoint: 4 });
  for (let round = 0; round < 20; round += 1) expect(await statuses(port, 4)).toEqual(Array(4).fill(200));
});

test('requests that wait while many others end get new connections', async () => {
  const backend = await startClosing((respond) => setImmediate(respond));
  const { port } = await startProxyTo(backend.port, { connectionsPerEndpoint: 4 });
  for (let round = 0; round < 10; round += 1) expect(await statuses(port, 50)).toEqual(Array(50).fill(200));
  expect(backend.received()).toBeLessThanOrEqual(1_000);
});
