import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends, refusingPort, startRawBackend } from '../../../support/backends.ts';
import type { Backend } from '../../../support/backends.ts';
import { endpointsConfig } from '../../../support/config.ts';
import { eventually } from '../../../support/eventually.ts';
import { backendTo, dial, endOf, layer4Route, startLayer4, tcp, tcpRoute } from '../../../support/layer4.ts';
import type { Layer4UnderTest } from '../../../support/layer4.ts';
import { closeProxies, receiveUntil, throwFault } from '../../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);

/** A backend that answers each connection with its name, and then with what comes. */
function startNamed(name: string): Promise<Backend> {
  return startRawBackend((socket) => {
    socket.write(`${name}\n`);
    socket.pipe(socket);
  });
}

/** A backend whose connections are handed over. */
async function startHeld(): Promise<{ readonly backend: Backend; readonly next: () => Promise<Socket> }> {
  const arrived: Socket[] = [];
  const waiting: ((socket: Socket) => void)[] = [];
  const backend = await startRawBackend((socket) => {
    const taker = waiting.shift();
    if (taker === undefined) arrived.push(socket);
    else taker(socket);
  });
  return {
    backend,
    next: () =>
      new Promise((resolve) => {
        const socket = arrived.shift();
        if (socket === undefined) waiting.push(resolve);
        else resolve(socket);
      }),
  };
}

async function nameOf(started: Layer4UnderTest): Promise<string> {
  const client = dial(started);
  const name = await receiveUntil(client, '\n');
  client.end();
  return name.trim();
}

describe('a TCPRoute', () => {
  test('forwards bytes both ways and leaves an account', async () => {
    const backend = await startNamed('a');
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
      onFault: throwFault,
    });
    const client = dial(started);
    await receiveUntil(client, 'a\n');
    client.end('hello');
    expect(await endOf(client)).toEqual({ received: 'hello', how: 'end' });
    await eventually(() => expect(started.connections).toHaveLength(1));
    expect(started.connections[0]).toMatchObject({
      transport: 'tcp',
      client: '127.0.0.1',
      receivedBytes: 5,
      sentBytes: 7,
      listener: tcp.key,
      route: 'TCPRoute/shop/tcproute',
      backend: 'shop/app/80',
      upstream: `127.0.0.1:${backend.port}`,
    });
    expect(started.connections[0]).not.toHaveProperty('reason');
    expect(started.proxy.counters().layer4).toMatchObject({
      started: { tcp: 1 },
      open: { tcp: 0 },
      received: { tcp: 5 },
      sent: { tcp: 7 },
    });
  });

  test('chooses a backend for each connection by weight', async () => {
    const [a, b] = [await startNamed('a'), await startNamed('b')];
    const route = layer4Route('TCPRoute', tcp, { backends: [backendTo('a', 3), backendTo('b', 1), backendTo('c', 0)] });
    const started = await startLayer4([tcp, endpointsConfig('a', a.port), endpointsConfig('b', b.port), route]);
    const names: string[] = [];
    for (let count = 0; count < 8; count += 1) names.push(await nameOf(started));
    expect(names.filter((name) => name === 'a')).toHaveLength(6);
    expect(names.filter((name) => name === 'b')).toHaveLength(2);
  });

  test('uses another endpoint where no connection comes about, and leaves that one out', async () => {
    const [live, dead] = [await startNamed('live'), await refusingPort()];
    const started = await startLayer4([tcp, endpointsConfig('app', dead, live.port), tcpRoute('app')]);
    for (let count = 0; count < 4; count += 1) expect(await nameOf(started)).toBe('live');
    expect(started.proxy.counters().upstreamConnectFailures).toBe(1);
  });

  test.each([undefined, 'bf2d46e8c5a1'])(
    'leaves what the client sends in the kernel until there is a backend, with the trace key %s',
    async (traceKey) => {
      // The handshake with the backend never ends.
      const { backend, next } = await startHeld();
      const tls = { serverName: 'a.test', subjectAltNames: [], authorities: 'system' } as const;
      const started = await startLayer4([tcp, { ...endpointsConfig('app', backend.port), tls }, tcpRoute('app')]);
      started.proxy.setTraceKey(traceKey);
      const accepted: Socket[] = [];
      const accept = (message: unknown): void => void accepted.push((message as { readonly socket: Socket }).socket);
      subscribe('net.server.socket', accept);
      const client = dial(started);
      await next();
      unsubscribe('net.server.socket', accept);
      const own = accepted.find(({ localPort }) => localPort === started.portOf(tcp));
      client.write('first');
      // A key is looked for in the first bytes.
      if (traceKey !== undefined) await eventually(() => expect(own?.bytesRead).toBe(5));
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
      await new Promise((sent) => client.write(Buffer.alloc(100_000), sent));
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      expect(own?.bytesRead).toBe(traceKey === undefined ? 0 : 5);
      client.resetAndDestroy();
      await eventually(() => expect(started.connections).toMatchObject([{ reason: 'client-reset' }]));
    },
  );

  test('lets the oldest of several routes have the connections', async () => {
    const [a, b] = [await startNamed('a'), await startNamed('b')];
    const younger = layer4Route('TCPRoute', tcp, {
      key: 'route/TCPRoute/shop/b',
      route: 'shop/b',
      created: '2026-02-01T00:00:00Z',
      backends: [backendTo('b')],
    });
    const started = await startLayer4([
      tcp,
      endpointsConfig('a', a.port),
      endpointsConfig('b', b.port),
      younger,
      tcpRoute('a'),
    ]);
    expect([await nameOf(started), await nameOf(started)]).toEqual(['a', 'a']);
    await started.proxy.apply({ upserts: [], removals: [tcpRoute('a').key] });
    expect(await nameOf(started)).toBe('b');
  });

  const refusals = [
    { why: 'no-route', resources: [] },
    { why: 'rule-failure', resources: [layer4Route('TCPRoute', tcp, { failure: 'invalid' })] },
    { why: 'no-backend', resources: [layer4Route('TCPRoute', tcp, { backends: [] })] },
    { why: 'no-backend', resources: [layer4Route('TCPRoute', tcp, { backends: [backendTo('app', 0)] })] },
    {
      why: 'invalid-backend',
      resources: [
        layer4Route('TCPRoute', tcp, { backends: [{ weight: 1, target: { type: 'invalid', reason: 'not found' } }] }),
      ],
    },
    {
      why: 'invalid-backend',
      resources: [tcpRoute('app'), { ...endpointsConfig('app', 1), failure: 'invalid policy' }],
    },
    { why: 'no-endpoints', resources: [tcpRoute('app')] },
    { why: 'no-endpoints', resources: [tcpRoute('app'), endpointsConfig('app')] },
  ] as const;

  test.each(refusals)('resets connections and keeps the port open: $why', async ({ why, resources }) => {
    const started = await startLayer4([tcp, ...resources]);
    for (let count = 0; count < 2; count += 1) expect((await endOf(dial(started))).how).toBe('reset');
    await eventually(() => expect(started.connections.map(({ reason }) => reason)).toEqual([why, why]));
    expect(started.proxy.counters().layer4).toMatchObject({ open: { tcp: 0 }, reasons: { [why]: 2 } });
  });

  test('resets connections whose endpoints all refuse', async () => {
    const started = await startLayer4([tcp, endpointsConfig('app', await refusingPort()), tcpRoute('app')]);
    expect((await endOf(dial(started))).how).toBe('reset');
    await eventually(() => expect(started.connections[0]?.reason).toBe('connect-failed'));
  });

  test('resets only the share of an invalid backend', async () => {
    const backend = await startNamed('a');
    const route = layer4Route('TCPRoute', tcp, {
      backends: [backendTo('app'), { weight: 1, target: { type: 'invalid', reason: 'not found' } }],
    });
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), route]);
    const ends: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      const client = dial(started);
      client.end();
      ends.push((await endOf(client)).how);
    }
    expect(ends.toSorted()).toEqual(['end', 'end', 'reset', 'reset']);
  });
});

describe('the end of a connection', () => {
  async function pair(limits = {}): Promise<{
    readonly started: Layer4UnderTest;
    readonly client: Socket;
    readonly server: Socket;
    readonly backend: Backend;
  }> {
    const { backend, next } = await startHeld();
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
      onFault: throwFault,
      limits,
    });
    const client = dial(started);
    const server = await next();
    return { started, client, server, backend };
  }

  test('of the client’s direction leaves the backend’s open', async () => {
    const { client, server, started } = await pair();
    client.end('question');
    expect(await endOf(server)).toEqual({ received: 'question', how: 'end' });
    server.write('answer');
    await receiveUntil(client, 'answer');
    server.end('!');
    expect((await endOf(client)).how).toBe('end');
    await eventually(() => expect(started.connections[0]).toMatchObject({ receivedBytes: 8, sentBytes: 7 }));
    expect(started.connections[0]).not.toHaveProperty('reason');
  });

  test('of the backend’s direction leaves the client’s open', async () => {
    const { client, server, started } = await pair();
    server.end('greeting');
    expect(await endOf(client)).toEqual({ received: 'greeting', how: 'end' });
    client.write('still here');
    await receiveUntil(server, 'still here');
    client.end();
    expect((await endOf(server)).how).toBe('end');
    await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
  });

  test('by a reset of the client resets the backend', async () => {
    const { client, server, started } = await pair();
    server.resume();
    client.resetAndDestroy();
    expect((await endOf(server)).how).toBe('reset');
    await eventually(() => expect(started.connections[0]?.reason).toBe('client-reset'));
  });

  test('by a reset of the backend resets the client', async () => {
    const { client, server, started } = await pair();
    server.write('greeting');
    await receiveUntil(client, 'greeting');
    server.resetAndDestroy();
    expect((await endOf(client)).how).toBe('reset');
    await eventually(() => expect(started.connections[0]?.reason).toBe('backend-reset'));
  });

  test('by a reset after both have stopped reading is noticed', async () => {
    const { client, server, started } = await pair();
    // Nobody reads: the proxy has stopped reading both sides.
    server.pause();
    client.pause();
    const megabytes = Buffer.alloc(32 * 2 ** 20);
    client.write(megabytes);
    server.write(megabytes);
    await eventually(() => expect(started.proxy.counters().layer4.received.tcp).toBeGreaterThan(2 ** 16));
    client.resetAndDestroy();
    await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
    server.resume();
    await eventually(() => expect(server.destroyed).toBe(true));
  });

  test('by a reset behind the end of both directions is released', async () => {
    const { client, server, started } = await pair();
    client.end();
    await endOf(server);
    // Node cannot reset a socket before its end is out.
    await eventually(() => expect(client.writableFinished).toBe(true));
    client.resetAndDestroy();
    await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
    // The backend has read everything, so it learns of the reset when it writes.
    await eventually(() => {
      server.write('x');
      expect(server.destroyed).toBe(true);
    });
  });

  test('comes where neither side sends anything for too long', async () => {
    const { client, server, started } = await pair({ tcpIdleTimeout: 50 });
    expect((await endOf(client)).how).toBe('reset');
    expect((await endOf(server)).how).toBe('reset');
    expect(started.connections[0]?.reason).toBe('idle');
    expect(started.proxy.counters().limitsReached['tcp-idle']).toBe(1);
  });

  test('comes where the open direction is silent for too long', async () => {
    const { client, server, started } = await pair({ tcpHalfClosedTimeout: 50 });
    client.end();
    await endOf(server);
    expect((await endOf(client)).how).toBe('reset');
    expect(started.proxy.counters().limitsReached['tcp-half-closed']).toBe(1);
  });

  test('sends everything that is on its way first', async () => {
    const { client, server, started } = await pair();
    const size = 8 * 2 ** 20;
    client.pause();
    server.end(Buffer.alloc(size));
    client.end();
    server.resume();
    await once(server, 'end');
    let received = 0;
    client.on('data', (chunk: Buffer) => (received += chunk.length));
    client.resume();
    await once(client, 'end');
    expect(received).toBe(size);
    await eventually(() => expect(started.connections).toHaveLength(1));
    expect(started.connections[0]).not.toHaveProperty('reason');
  });
});

describe('a change of configuration', () => {
  test('of routes and endpoints ends no connection', async () => {
    const backend = await startNamed('a');
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
    const client = dial(started);
    await receiveUntil(client, 'a\n');
    await started.proxy.apply({ upserts: [], removals: [tcpRoute('app').key, endpointsConfig('app').key] });
    client.write('still here');
    await receiveUntil(client, 'still here');
    expect((await endOf(dial(started))).how).toBe('reset');
    client.destroy();
  });

  test('that removes a listener lets its connections end within the time of a drain', async () => {
    const backend = await startNamed('a');
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
      limits: { drainTimeout: 300 },
    });
    const client = dial(started);
    await receiveUntil(client, 'a\n');
    await started.proxy.apply({ upserts: [], removals: [tcp.key] });
    client.write('still here');
    await receiveUntil(client, 'still here');
    expect((await endOf(client)).how).toBe('reset');
    expect(started.connections[0]?.reason).toBe('cut');
  });

  test('that ends the data plane waits for connections, and then resets them', async () => {
    const backend = await startNamed('a');
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
    const [ending, staying] = [dial(started), dial(started)];
    await Promise.all([receiveUntil(ending, 'a\n'), receiveUntil(staying, 'a\n')]);
    const closed = started.proxy.close({ graceMs: 300 });
    ending.end('last words');
    expect(await endOf(ending)).toEqual({ received: 'last words', how: 'end' });
    expect((await endOf(staying)).how).toBe('reset');
    await closed;
    expect(started.connections.map(({ reason }) => reason)).toEqual([undefined, 'cut']);
  });
});

test('a removed listener gets no more time than the others when the data plane ends', async () => {
  const backend = await startNamed('a');
  const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
  const client = dial(started);
  await receiveUntil(client, 'a\n');
  await started.proxy.apply({ upserts: [], removals: [tcp.key] });
  const end = endOf(client);
  await started.proxy.close({ graceMs: 100 });
  expect((await end).how).toBe('reset');
  expect(started.connections.map(({ reason }) => reason)).toEqual(['cut']);
});

describe('limits', () => {
  test('of connections hold: the client that has been silent longest makes room', async () => {
    const backend = await startRawBackend((socket) => socket.pipe(socket));
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
      limits: { connections: 3 },
    });
    const speaking = dial(started);
    speaking.write('hello');
    await receiveUntil(speaking, 'hello');
    const silent = [dial(started), dial(started)];
    const ends = silent.map((socket) => endOf(socket));
    const another = dial(started);
    another.write('hello');
    await receiveUntil(another, 'hello');
    expect((await ends[0])?.how).toBe('reset');
    speaking.write('again');
    await receiveUntil(speaking, 'again');
    expect(started.proxy.counters().limitsReached.connections).toBe(1);
    for (const socket of [speaking, another, ...silent]) socket.destroy();
    await eventually(() => expect(started.proxy.counters().openConnections).toBe(0));
    await eventually(() => expect(backend.openConnections()).toBe(0));
  });

  test('of one client hold', async () => {
    const backend = await startNamed('a');
    const started = await startLayer4([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
      limits: { connectionsPerClient: 1 },
    });
    const first = dial(started);
    await receiveUntil(first, 'a\n');
    expect((await endOf(dial(started))).received).toBe('');
    first.write('x');
    await receiveUntil(first, 'x');
  });
});
