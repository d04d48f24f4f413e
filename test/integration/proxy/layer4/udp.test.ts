import { execFile, spawnSync } from 'node:child_process';
import { createSocket, Socket } from 'node:dgram';
import type { RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { promisify } from 'node:util';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { closeBackends, startRawBackend } from '../../../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../../../support/config.ts';
import { eventually } from '../../../support/eventually.ts';
import { backendTo, dial, hostOf, layer4Route, startLayer4, tcp, tcpRoute, udp } from '../../../support/layer4.ts';
import type { Layer4UnderTest } from '../../../support/layer4.ts';
import { closeProxies, receiveUntil, throwFault } from '../../../support/proxy.ts';

const sockets = new Set<Socket>();
afterEach(closeProxies);
afterEach(closeBackends);
afterEach(() => {
  for (const socket of sockets) socket.close();
  sockets.clear();
});

async function bound(host = '127.0.0.1'): Promise<Socket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  sockets.add(socket.on('error', () => undefined));
  socket.bind(0, host);
  await once(socket, 'listening');
  return socket;
}

function closeSocket(socket: Socket): void {
  sockets.delete(socket);
  socket.close();
}

/** A backend that answers each datagram with its name and the datagram, and keeps the addresses that they came from. */
async function startUdp(
  name: string,
): Promise<{ readonly port: number; readonly socket: Socket; readonly peers: RemoteInfo[] }> {
  const socket = await bound();
  const peers: RemoteInfo[] = [];
  socket.on('message', (message, from) => {
    peers.push(from);
    socket.send(Buffer.concat([Buffer.from(`${name} `), message]), from.port, from.address);
  });
  return { port: socket.address().port, socket, peers };
}

const route = layer4Route('UDPRoute', udp);

function start(ports: readonly number[], limits = {}): Promise<Layer4UnderTest> {
  return startLayer4([udp, endpointsConfig('app', ...ports), route], { onFault: throwFault, limits });
}

/** Sends a datagram and takes the next one that comes. */
async function ask(
  client: Socket,
  started: Layer4UnderTest,
  text: string,
): Promise<{ readonly text: string; readonly from: RemoteInfo }> {
  const answer = once(client, 'message');
  client.send(text, started.portOf(udp), hostOf(2));
  const [message, from] = (await answer) as [Buffer, RemoteInfo];
  return { text: message.toString(), from };
}

/** Sends a datagram again and again until the answer is this one, as clients of UDP do. */
async function askUntil(client: Socket, started: Layer4UnderTest, expected: RegExp): Promise<void> {
  const answers: string[] = [];
  const take = (message: Buffer): number => answers.push(message.toString());
  client.on('message', take);
  await eventually(async () => {
    client.send('again', started.portOf(udp), hostOf(2));
    await new Promise(setImmediate);
    expect(answers.at(-1)).toMatch(expected);
  });
  client.off('message', take);
}

describe('a UDPRoute', () => {
  test('keeps a flow for each client, and leaves an account of it', async () => {
    const backend = await startUdp('a');
    const started = await start([backend.port], { udpIdleTimeout: 100 });
    const [one, two] = [await bound(), await bound()];
    expect((await ask(one, started, 'x')).text).toBe('a x');
    expect((await ask(one, started, 'y')).text).toBe('a y');
    expect((await ask(two, started, 'z')).text).toBe('a z');
    const ports = backend.peers.map(({ port }) => port);
    expect(ports[0]).toBe(ports[1]);
    expect(ports[2]).not.toBe(ports[0]);
    expect(started.proxy.counters().layer4).toMatchObject({
      started: { udp: 2 },
      open: { udp: 2 },
      received: { udp: 3 },
      sent: { udp: 9 },
    });
    await eventually(() => expect(started.connections).toHaveLength(2));
    expect(started.connections.find(({ receivedBytes }) => receivedBytes === 2)).toMatchObject({
      transport: 'udp',
      client: '127.0.0.1',
      sentBytes: 6,
      listener: udp.key,
      route: 'UDPRoute/shop/udproute',
      backend: 'shop/app/80',
      upstream: `127.0.0.1:${backend.port}`,
    });
    expect(started.connections[0]).not.toHaveProperty('reason');
    expect(started.proxy.counters().layer4.open.udp).toBe(0);
  });

  test('answers from the address and port that received the datagram', async () => {
    const backend = await startUdp('a');
    const started = await start([backend.port]);
    const client = await bound();
    client.connect(started.portOf(udp), hostOf(2));
    await once(client, 'connect');
    // A connected socket takes nothing from anywhere else.
    client.send('x');
    const [message] = (await once(client, 'message')) as [Buffer];
    expect(message.toString()).toBe('a x');
  });

  test.each(['::', '0.0.0.0'])(
    'answers from the address that received the datagram where it is bound to %s',
    async (host) => {
      const backend = await startUdp('a');
      const started = await startLayer4([udp, endpointsConfig('app', backend.port), route], {
        bind: () => [{ host, port: 0 }],
        onFault: throwFault,
      });
      for (const address of ['127.0.0.1', ...(host === '::' ? ['::1'] : [])]) {
        const client = await bound(address);
        client.connect(started.portOf(udp), address);
        await once(client, 'connect');
        client.send('x');
        await once(client, 'message');
      }
      expect(started.proxy.counters().layer4.open.udp).toBe(host === '::' ? 2 : 1);
    },
  );

  test('chooses a backend for each flow by weight', async () => {
    const [a, b] = [await startUdp('a'), await startUdp('b')];
    const weighted = { ...route, backends: [backendTo('a', 3), backendTo('b', 1)] };
    const started = await startLayer4([udp, endpointsConfig('a', a.port), endpointsConfig('b', b.port), weighted]);
    const names: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      const client = await bound();
      names.push((await ask(client, started, 'x')).text, (await ask(client, started, 'x')).text);
    }
    expect(names.filter((name) => name === 'a x')).toHaveLength(12);
    expect(names.filter((name) => name === 'b x')).toHaveLength(4);
  });

  test.each([0, 1, 1_472, 65_507])('carries datagrams of %i bytes', async (size) => {
    const backend = await bound();
    backend.on('message', (message, from) => backend.send(message, from.port, from.address));
    const started = await start([backend.address().port]);
    const client = await bound();
    const message = Buffer.alloc(size, 'x');
    const answer = once(client, 'message');
    client.send(message, started.portOf(udp), hostOf(2));
    expect(((await answer) as [Buffer])[0].equals(message)).toBe(true);
  });

  test('drops datagrams for which there is no backend', async () => {
    const started = await startLayer4([udp, layer4Route('UDPRoute', udp, { backends: [backendTo('missing')] })], {
      onFault: throwFault,
    });
    const client = await bound();
    client.send('x', started.portOf(udp), hostOf(2));
    await eventually(() =>
      expect(started.proxy.counters().layer4).toMatchObject({
        droppedDatagrams: 1,
        open: { udp: 0 },
        reasons: { 'no-endpoints': 1 },
      }),
    );
    const backend = await startUdp('a');
    await started.apply(endpointsConfig('missing', backend.port));
    expect((await ask(client, started, 'y')).text).toBe('a y');
  });

  test('closes the sockets of flows whose datagrams are refused at the same moment in several turns', async () => {
    const connecting = jest.spyOn(Socket.prototype, 'connect');
    const backend = await startUdp('a');
    const started = await start([backend.port]);
    const clients = await Promise.all(Array.from({ length: 100 }, () => bound()));
    for (const client of clients) expect((await ask(client, started, 'x')).text).toBe('a x');
    const ofFlows = connecting.mock.contexts as Socket[];
    connecting.mockRestore();
    expect(ofFlows).toHaveLength(100);
    const refused = (): number => started.proxy.counters().upstreamConnectFailures;
    for (const socket of ofFlows) socket.emit('error', new Error('recvmsg ECONNREFUSED'));
    expect(refused()).toBe(0);
    await new Promise(setImmediate);
    expect(refused()).toBeLessThan(100);
    await eventually(() => expect(refused()).toBe(100));
  });

  test('chooses another endpoint where one is gone from its Service', async () => {
    const [a, b] = [await startUdp('a'), await startUdp('b')];
    const started = await start([a.port]);
    const client = await bound();
    expect((await ask(client, started, 'x')).text).toBe('a x');
    await started.apply(endpointsConfig('app', a.port, b.port));
    expect((await ask(client, started, 'x')).text).toBe('a x');
    await started.apply(endpointsConfig('app', b.port));
    expect((await ask(client, started, 'x')).text).toBe('b x');
    expect(started.proxy.counters().layer4.started.udp).toBe(1);
  });

  test('chooses another endpoint where one refuses', async () => {
    const [a, b] = [await startUdp('a'), await startUdp('b')];
    const started = await start([a.port, b.port]);
    const client = await bound();
    const { text } = await ask(client, started, 'x');
    closeSocket(text === 'a x' ? a.socket : b.socket);
    await askUntil(client, started, text === 'a x' ? /^b / : /^a /);
    expect(started.proxy.counters().upstreamConnectFailures).toBeGreaterThan(0);
  });

  test('goes on with flows when routes change', async () => {
    const [a, b] = [await startUdp('a'), await startUdp('b')];
    const started = await start([a.port]);
    const client = await bound();
    await ask(client, started, 'x');
    await started.apply(endpointsConfig('b', b.port), { ...route, backends: [backendTo('b')] });
    expect((await ask(client, started, 'x')).text).toBe('a x');
    expect((await ask(await bound(), started, 'x')).text).toBe('b x');
  });

  test('logs the route of the backend that a flow had last', async () => {
    const [a, b] = [await startUdp('a'), await startUdp('b')];
    const started = await start([a.port]);
    const client = await bound();
    await ask(client, started, 'x');
    const other = layer4Route('UDPRoute', udp, {
      key: 'route/UDPRoute/shop/other',
      route: 'shop/other',
      backends: [backendTo('b')],
    });
    await started.proxy.apply({
      upserts: [endpointsConfig('app'), endpointsConfig('b', b.port), other],
      removals: [route.key],
    });
    expect((await ask(client, started, 'x')).text).toBe('b x');
    await started.proxy.close({ graceMs: 0 });
    expect(started.connections).toEqual([
      expect.objectContaining({ route: 'UDPRoute/shop/other', backend: 'shop/b/80' }),
    ]);
  });

  test('ends the flow that has been silent longest where there is no room', async () => {
    const backend = await startUdp('a');
    const started = await start([backend.port], { udpFlows: 2 });
    const [one, two, three] = [await bound(), await bound(), await bound()];
    await ask(one, started, 'x');
    await ask(two, started, 'x');
    await ask(one, started, 'x');
    await ask(three, started, 'x');
    expect(started.connections.map(({ reason }) => reason)).toEqual(['evicted']);
    expect(started.proxy.counters()).toMatchObject({ layer4: { open: { udp: 2 } }, limitsReached: { 'udp-flows': 1 } });
    await ask(one, started, 'x');
    expect(started.proxy.counters().layer4.started.udp).toBe(3);
  });

  test('shares its port number with a TCPRoute', async () => {
    const [datagrams, stream] = [await startUdp('udp'), await startRawBackend((socket) => socket.write('tcp'))];
    const probe = await bound(hostOf(2));
    const { port } = probe.address();
    closeSocket(probe);
    const resources = [
      tcp,
      udp,
      endpointsConfig('app', datagrams.port),
      route,
      endpointsConfig('stream', stream.port),
      tcpRoute('stream'),
    ];
    const started = await startLayer4(resources, {
      bind: ({ port: asked }) => [{ host: hostOf(asked), port: asked === 2 ? port : 0 }],
    });
    expect(started.portOf(tcp)).toBe(started.portOf(udp));
    expect((await ask(await bound(), started, 'x')).text).toBe('udp x');
    const client = dial(started);
    expect(await receiveUntil(client, 'tcp')).toBe('tcp');
    client.destroy();
  });
});

describe('a UDP port', () => {
  test('that cannot be bound is a problem of its listener', async () => {
    const taken = await bound(hostOf(2));
    const { port } = taken.address();
    const { proxy } = await startLayer4([], {
      bind: ({ port: asked }) => [{ host: hostOf(asked), port: asked === 2 ? port : 0 }],
    });
    const problems = await proxy.apply({ upserts: [udp], removals: [] });
    expect(problems).toEqual([
      { key: udp.key, message: expect.stringContaining('the port is already in use'), isWorthRetry: true },
    ]);
    closeSocket(taken);
    expect(await proxy.apply({ upserts: [], removals: [] })).toEqual([]);
  });

  test('bound to all addresses notices that another process has it', async () => {
    const taken = await bound('0.0.0.0');
    const { port } = taken.address();
    const { proxy } = await startLayer4([], {
      bind: ({ port: asked }) => [asked === 2 ? { host: '0.0.0.0', port } : { host: hostOf(asked), port: 0 }],
    });
    const problems = await proxy.apply({ upserts: [udp], removals: [] });
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('the port is already in use')]);
  });

  test('serves one listener', async () => {
    const { proxy } = await startLayer4([udp]);
    const another = listenerConfig('another', { protocol: 'UDP', port: 2 });
    expect(await proxy.apply({ upserts: [another], removals: [] })).toEqual([
      { key: another.key, message: `${udp.key} already serves this port` },
    ]);
  });

  test('that is removed takes no new flows and lets the others end', async () => {
    const backend = await startUdp('a');
    const started = await start([backend.port]);
    const client = await bound();
    await ask(client, started, 'x');
    const port = started.portOf(udp);
    const closed = started.proxy.close({ graceMs: 200 });
    const answer = once(client, 'message');
    client.send('last', port, hostOf(2));
    expect(String(((await answer) as [Buffer])[0])).toBe('a last');
    await closed;
    expect(started.connections).toMatchObject([{ reason: 'cut', receivedBytes: 5 }]);
  });
});

test('a UDP port that is removed while it has flows, and created again, keeps them and takes new ones', async () => {
  const backend = await startUdp('a');
  const probe = await bound(hostOf(2));
  const { port } = probe.address();
  closeSocket(probe);
  const started = await startLayer4([udp, endpointsConfig('app', backend.port), route], {
    onFault: throwFault,
    bind: ({ port: asked }) => [{ host: hostOf(asked), port }],
  });
  const [client, another] = [await bound(), await bound()];
  await ask(client, started, 'x');
  for (let time = 0; time < 3; time += 1) {
    await started.proxy.apply({ upserts: [], removals: [udp.key] });
    expect(started.proxy.addressesOf(udp.key)).toEqual([]);
    expect(await started.apply(udp)).toEqual([]);
    expect((await ask(client, started, 'y')).text).toBe('a y');
    expect((await ask(another, started, 'z')).text).toBe('a z');
  }
  expect(started.proxy.counters().layer4.started.udp).toBe(2);
});

const run = promisify(execFile);

const hasDig = spawnSync('dig', ['-v']).status === 0;

/** A link-local address of this machine, with its zone; `undefined` without one. */
const linkLocal = Object.entries(networkInterfaces())
  .flatMap(([name, addresses = []]) => addresses.map((address) => ({ name, ...address })))
  .filter((one) => one.family === 'IPv6' && one.scopeid !== 0)
  .map(({ name, address }) => `${address}%${name}`)[0];

(linkLocal === undefined ? describe.skip : describe)('link-local', () => {
  test('a client with an IPv6 link-local address gets responses, from the address that it wrote to', async () => {
    const address = linkLocal ?? '';
    const backend = await startUdp('a');
    const started = await startLayer4([udp, endpointsConfig('app', backend.port), route], {
      bind: () => [{ host: '::', port: 0 }],
      onFault: throwFault,
    });
    const client = await bound(address);
    for (const text of ['x', 'y']) {
      const answer = once(client, 'message');
      client.send(text, started.portOf(udp), address);
      const [message, from] = (await answer) as [Buffer, RemoteInfo];
      expect([message.toString(), from.address, from.port]).toEqual([`a ${text}`, address, started.portOf(udp)]);
    }
    expect(started.proxy.counters().layer4).toMatchObject({ started: { udp: 1 }, droppedDatagrams: 0 });
  });
});

(hasDig ? describe : describe.skip)('dig', () => {
  /** The answer to a query for an A record: 192.0.2.7. */
  function dnsAnswer(query: Buffer): Buffer {
    const end = query.indexOf(0, 12) + 5;
    const header = Buffer.concat([query.subarray(0, 2), Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])]);
    return Buffer.concat([
      header,
      query.subarray(12, end),
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]),
    ]);
  }

  test('asks a DNS server by UDP and by TCP on one port', async () => {
    const datagrams = await bound();
    datagrams.on('message', (query, from) => datagrams.send(dnsAnswer(query), from.port, from.address));
    const stream = await startRawBackend((socket) => {
      socket
        .once('data', (query: Buffer) => {
          const answer = dnsAnswer(query.subarray(2));
          socket.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]));
        })
        .on('end', () => socket.end());
    });
    const probe = await bound(hostOf(2));
    const { port } = probe.address();
    closeSocket(probe);
    const resources = [
      tcp,
      udp,
      endpointsConfig('app', datagrams.address().port),
      route,
      endpointsConfig('stream', stream.port),
      tcpRoute('stream'),
    ];
    await startLayer4(resources, {
      bind: ({ port: asked }) => [{ host: hostOf(asked), port: asked === 2 ? port : 0 }],
    });
    for (const transport of ['+notcp', '+tcp']) {
      const { stdout } = await run('dig', [
        `@${hostOf(2)}`,
        '-p',
        String(port),
        transport,
        '+short',
        '+noedns',
        '+tries=1',
        'shop.example.com',
        'A',
      ]);
      expect(stdout.trim()).toBe('192.0.2.7');
    }
  });
});
