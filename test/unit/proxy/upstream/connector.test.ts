import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
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

describe('the first attempts with different CA certificates', () => {
  /** An attempt that takes 10 ms to read the CA certificates. */
  function slowAttempt(opened: () => void) {
    const authorities = Object.assign(new Array<string>(), {
      toJSON: () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
        return [];
      },
    });
    const carrier = (): Socket => {
      opened();
      return new Socket();
    };
    const tls = { serverName: 'a.example', subjectAltNames: [], authorities };
    const upstream = { host: '127.0.0.1', port: 1, tls };
    const connector = new Connector(upstream, [], 60_000, { plain: carrier, carrier });
    const { promise: failed, resolve } = Promise.withResolvers<Error>();
    return { attempt: connector.connect({ established: () => undefined, failed: resolve }), failed };
  }

  // 16 backends with 500 CA certificates each blocked the data plane for 0.4 s.
  test('begin in different turns of the event loop', async () => {
    let turn = 0;
    const turns: number[] = [];
    const attempts = Array.from({ length: 5 }, () => slowAttempt(() => turns.push(turn)));
    while (turns.length < attempts.length) {
      await new Promise(setImmediate);
      turn += 1;
    }
    expect(new Set(turns).size).toBe(attempts.length);
    for (const { attempt } of attempts) attempt.destroy();
    await Promise.all(attempts.map(({ failed }) => failed));
  });

  test('fail with settings that cannot be used, and open nothing', async () => {
    const opened: string[] = [];
    const carrier = (): Socket => {
      opened.push('carrier');
      return new Socket();
    };
    const tls = {
      serverName: 'a.example',
      subjectAltNames: [],
      authorities: [],
      client: { cert: 'none', key: 'none' },
    };
    const upstream = { host: '127.0.0.1', port: 1, tls };
    const connector = new Connector(upstream, [], 60_000, { plain: carrier, carrier });
    const failure = new Promise((resolve, reject) => {
      connector.connect({ established: reject, failed: resolve });
    });
    expect(await failure).toMatchObject({ message: expect.any(String) });
    expect(opened).toEqual([]);
  });

  test('fail once they are destroyed, also before they begin', async () => {
    const opened: string[] = [];
    const [first, second] = [slowAttempt(() => opened.push('first')), slowAttempt(() => opened.push('second'))];
    first.attempt.destroy();
    expect(await first.failed).toEqual(new Error('the connection was closed'));
    second.attempt.destroy();
    expect(await second.failed).toEqual(new Error('the connection was closed'));
    expect(opened).not.toContain('first');
  });
});
