import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { Connector } from '../../../../src/proxy/upstream/connector.ts';

/** Resolves with the result of a connection attempt. `timeout` in milliseconds. */
function attempt(port: number, timeout: number): Promise<Socket | Error> {
  return new Promise((resolve) => {
    new Connector({ host: '127.0.0.1', port }, [], timeout).connect({ established: resolve, failed: resolve });
  });
}

test('a connection that was established while the process did not run is not too late', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const result = attempt((server.address() as AddressInfo).port, 20);
  // The kernel establishes the connection meanwhile.
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60));
  const socket = await result;
  server.close();
  expect(socket).not.toBeInstanceOf(Error);
  (socket as Socket).destroy();
});

test('a connection that is not established in time fails', async () => {
  const silent = { plain: () => new Socket(), carrier: () => new Socket() };
  const result = new Promise((resolve) => {
    const connector = new Connector({ host: '127.0.0.1', port: 1 }, [], 20, silent);
    connector.connect({ established: resolve, failed: resolve });
  });
  expect(await result).toEqual(new Error('the connection took too long'));
});
