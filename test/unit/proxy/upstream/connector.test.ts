import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { createAuthority } from '../../../../src/certificates/index.ts';
import { FormerContexts } from '../../../../src/proxy/limits/former-contexts.ts';
import { Connector } from '../../../../src/proxy/upstream/connector.ts';
import type { ConnectorOptions } from '../../../../src/proxy/upstream/connector.ts';
import { secureContextOf } from '../../../../src/proxy/upstream/secure-contexts.ts';
import { differentCertificates, issueLeaf } from '../../../support/certificates.ts';

const optionsOf = (timeout: number): ConnectorOptions => ({
  protocols: [],
  timeout,
  contexts: new FormerContexts(0, () => undefined),
});

/** Resolves with the result of a connection attempt. `timeout` in milliseconds. */
function attempt(port: number, timeout: number): Promise<Socket | Error> {
  return new Promise((resolve) => {
    new Connector({ host: '127.0.0.1', port }, optionsOf(timeout)).connect({ established: resolve, failed: resolve });
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
    const connector = new Connector({ host: '127.0.0.1', port: 1 }, optionsOf(20), silent);
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
    const connector = new Connector(upstream, optionsOf(60_000), { plain: carrier, carrier });
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

  /** An attempt with these CA certificates, which calls `opened` when it begins. */
  function attemptWith(authorities: readonly string[], opened: () => void) {
    const carrier = (): Socket => {
      opened();
      return new Socket();
    };
    const tls = { serverName: 'a.example', subjectAltNames: [], authorities };
    const connector = new Connector({ host: '127.0.0.1', port: 1, tls }, optionsOf(60_000), {
      plain: carrier,
      carrier,
    });
    const { promise: failed, resolve } = Promise.withResolvers<Error>();
    return { attempt: connector.connect({ established: () => undefined, failed: resolve }), failed };
  }

  // The owner of a namespace with 31 backends delayed the first connection to every other backend with TLS by seconds.
  test('with few CA certificates do not wait for those with many', async () => {
    const { certificate } = await createAuthority();
    const order: string[] = [];
    const many = Array.from({ length: 8 }, (_, index) => [
      ...differentCertificates(certificate, 500),
      ...differentCertificates(certificate, index),
    ]);
    const attempts = many.map((authorities) => attemptWith(authorities, () => order.push('many')));
    attempts.push(attemptWith([certificate], () => order.push('few')));
    while (order.length < attempts.length) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const { attempt } of attempts) attempt.destroy();
    await Promise.all(attempts.map(({ failed }) => failed));
    expect(order.indexOf('few')).toBeLessThanOrEqual(1);
  });

  // Each connection of a TLSRoute, and each new endpoint of a Service, has a connector of its own.
  test('begin at once if another connector has loaded the same settings', async () => {
    const authorities = [(await createAuthority()).certificate];
    secureContextOf({ authorities });
    const opened: string[] = [];
    const { attempt, failed } = attemptWith(authorities, () => opened.push('carrier'));
    expect(opened).toEqual(['carrier']);
    attempt.destroy();
    await failed;
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
    const connector = new Connector(upstream, optionsOf(60_000), { plain: carrier, carrier });
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

/** Listens in front of a TLS server, and passes the first answers of all `count` connections on together. Returns the port. */
async function answerTogether(server: Server, count: number): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const held: (() => void)[] = [];
  const relay = createServer((client) => {
    const behind = connect(port, '127.0.0.1');
    client.pipe(behind);
    behind.once('data', (first: Buffer) => {
      behind.pause();
      held.push(() => {
        client.write(first);
        behind.pipe(client);
      });
      if (held.length === count) for (const pass of held) pass();
    });
    client.on('error', () => behind.destroy()).on('close', () => behind.destroy());
    behind.on('error', () => client.destroy());
  });
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  server.once('close', () => relay.close());
  return (relay.address() as AddressInfo).port;
}

// 500 clients of a backend that ended each connection kept the event loop busy for half a second at a time.
test('TLS handshakes that backends answer in the same moment are completed in several turns of the event loop', async () => {
  const authority = await createAuthority();
  const server = createTlsServer(await issueLeaf(authority, { dnsNames: ['a.example'] })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const count = 64;
  const tls = { serverName: 'a.example', subjectAltNames: [], authorities: [authority.certificate] };
  const upstream = { host: '127.0.0.1', port: await answerTogether(server, count), tls };
  const connector = new Connector(upstream, optionsOf(60_000));
  let thisTurn = 0;
  let most = 0;
  const endTurn = (): void => {
    most = Math.max(most, thisTurn);
    thisTurn = 0;
  };
  const connected = Array.from({ length: count }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const established = (socket: Socket): void => {
      if (thisTurn === 0) setImmediate(endTurn);
      thisTurn += 1;
      resolve(socket);
    };
    connector.connect({ established, failed: reject });
    return promise;
  });
  for (const socket of await Promise.all(connected)) socket.destroy();
  await new Promise(setImmediate);
  server.close();
  expect(most).toBeLessThanOrEqual(8);
});
