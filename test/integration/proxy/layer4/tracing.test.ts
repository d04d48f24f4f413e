import { createSocket } from 'node:dgram';
import type { Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority } from '../../../../src/certificates/index.ts';
import {
  readTrace,
  readTraceAnswer,
  signTrace,
  traceBytes,
  traceKeyOf,
  traceProtocol,
  type TracedConnection,
} from '../../../../src/channel/trace.ts';
import type { ConfigResource } from '../../../../src/core/routing/config.ts';
import type { CertificatePair } from '../../../../src/proxy/listen/identities.ts';
import { parseNetworks } from '../../../../src/core/text/proxy-protocol.ts';
import { closeBackends, refusingPort, startRawBackend, type Backend } from '../../../support/backends.ts';
import { issueLeaf } from '../../../support/certificates.ts';
import { helloOf } from '../../../support/client-hello.ts';
import { endpointsConfig, listenerConfig } from '../../../support/config.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  dial,
  endOf,
  hostOf,
  layer4Route,
  startLayer4,
  tcp,
  tcpRoute,
  tlsListener,
  udp,
  type Layer4UnderTest,
} from '../../../support/layer4.ts';
import { closeProxies, receiveUntil, throwFault } from '../../../support/proxy.ts';

const key = traceKeyOf('secret', 'infra/gateway');
const ofTcp: TracedConnection = { protocol: 'TCP', port: tcp.port, serverName: '' };
const ofUdp: TracedConnection = { protocol: 'UDP', port: udp.port, serverName: '' };
const pairs = new Map<string, CertificatePair>();
const datagrams = new Set<Datagrams>();

beforeAll(async () => {
  pairs.set('infra/server', await issueLeaf(await createAuthority(), { dnsNames: ['a.example.com'], commonName: 'a' }));
});
afterEach(closeProxies);
afterEach(closeBackends);
afterEach(() => {
  for (const socket of datagrams) socket.close();
  datagrams.clear();
});

async function start(resources: readonly ConfigResource[], options = {}): Promise<Layer4UnderTest> {
  const started = await startLayer4(resources, {
    certificates: (secret: string) => pairs.get(secret),
    onFault: throwFault,
    ...options,
  });
  started.proxy.setTraceKey(key);
  return started;
}

/** A backend that keeps what it gets. With a greeting, it sends first. */
async function startKeeping(greeting = ''): Promise<{ readonly backend: Backend; readonly got: () => string }> {
  let got = '';
  const backend = await startRawBackend((socket) => {
    socket.write(greeting);
    socket.on('data', (chunk: Buffer) => {
      got += chunk.toString('latin1');
      socket.write(chunk);
    });
    socket.on('end', () => socket.end());
  });
  return { backend, got: () => got };
}

function signed(connection: TracedConnection, by = key): { readonly value: string; readonly nonce: string } {
  const value = signTrace(by, connection, Date.now());
  return { value, nonce: readTrace(value)?.nonce ?? '' };
}

/** Writes bytes, and reads the answer to a trace at the end of the connection. */
async function answerTo(socket: Socket, bytes: Buffer, nonce: string) {
  socket.write(bytes);
  const { received, how } = await endOf(socket);
  return { how, received, report: readTraceAnswer(key, nonce, Buffer.from(received, 'latin1')) };
}

const served = {
  listener: tcp.key,
  listenerGeneration: tcp.generation,
  route: 'TCPRoute/shop/tcproute',
  routeGeneration: 1,
  rule: 0,
  backend: 'shop/app/80',
};

describe('a trace of a TCP connection', () => {
  test('gets the decision, once, and the backend gets nothing', async () => {
    const { backend, got } = await startKeeping();
    const started = await start([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
    const { value, nonce } = signed(ofTcp);
    const { report, how } = await answerTo(dial(started), traceBytes(value), nonce);
    expect(report).toEqual({ ...served, upstream: `127.0.0.1:${backend.port}` });
    expect(how).toBe('end');
    const again = await answerTo(dial(started), traceBytes(value), nonce);
    expect(again).toEqual({ how: 'reset', received: '', report: undefined });
    expect(got()).toBe('');
    await eventually(() => expect(started.connections.map(({ reason }) => reason)).toEqual(['trace', 'trace']));
    expect(started.proxy.counters().layer4).toMatchObject({ open: { tcp: 0 }, reasons: { trace: 2 } });
    await eventually(() => expect(backend.openConnections()).toBe(0));
  });

  test('comes after the greeting of a server that sends first', async () => {
    const { backend, got } = await startKeeping('220 ready\r\n');
    const started = await start([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
    const client = dial(started);
    expect(await receiveUntil(client, '\n')).toBe('220 ready\r\n');
    const { value, nonce } = signed(ofTcp);
    expect((await answerTo(client, traceBytes(value), nonce)).report).toMatchObject(served);
    client.destroy();
    expect(got()).toBe('');
    await eventually(() => expect(started.connections.map(({ reason }) => reason)).toEqual(['trace']));
    await eventually(() => expect(backend.openConnections()).toBe(0));
  });

  test('cannot be read by the backend if only its rest comes after the first bytes were passed on', async () => {
    const { backend, got } = await startKeeping();
    const started = await start([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
    const client = dial(started);
    const { value, nonce } = signed(ofTcp);
    const bytes = traceBytes(value);
    client.write(bytes.subarray(0, 1));
    await eventually(() => expect(got()).toBe(bytes.toString('latin1', 0, 1)));
    expect((await answerTo(client, bytes.subarray(1), nonce)).report).toMatchObject(served);
    expect(got()).toHaveLength(1);
  });

  test('gets the reason why no backend is reached', async () => {
    const started = await start([tcp]);
    const ask = async () => {
      const { value, nonce } = signed(ofTcp);
      return (await answerTo(dial(started), traceBytes(value), nonce)).report;
    };
    const { listener, listenerGeneration } = served;
    expect(await ask()).toEqual({ listener, listenerGeneration, reason: 'no-route' });
    await started.apply(layer4Route('TCPRoute', tcp, { failure: 'invalid' }));
    expect(await ask()).toMatchObject({ route: served.route, reason: 'rule-failure' });
    await started.apply(endpointsConfig('app'), tcpRoute('app'));
    expect(await ask()).toMatchObject({ route: served.route, reason: 'no-endpoints' });
    const closed = await refusingPort();
    await started.apply(endpointsConfig('app', closed));
    expect(await ask()).toEqual({ ...served, upstream: `127.0.0.1:${closed}`, reason: 'connect-failed' });
  });

  test('is found after a PROXY header', async () => {
    const loopback = parseNetworks('127.0.0.0/8');
    const networks = loopback.ok ? loopback.value : [];
    const { backend, got } = await startKeeping();
    const started = await start([tcp, endpointsConfig('app', backend.port), tcpRoute('app')], {
      proxyProtocol: { accept: networks },
    });
    const header = Buffer.from('PROXY TCP4 203.0.113.9 198.51.100.1 55555 443\r\n');
    const { value, nonce } = signed(ofTcp);
    const client = dial(started);
    expect((await answerTo(client, Buffer.concat([header, traceBytes(value)]), nonce)).report).toMatchObject(served);
    expect(got()).toBe('');
    await eventually(() => expect(started.connections[0]).toMatchObject({ client: '203.0.113.9', reason: 'trace' }));
  });
});

describe('other TCP connections', () => {
  test.each([
    ['no key', undefined],
    ['the key of another Gateway', traceKeyOf('secret', 'shop/web')],
  ])('pass unchanged, also traces with %s', async (_name, other) => {
    const { backend } = await startKeeping();
    const started = await start([tcp, endpointsConfig('app', backend.port), tcpRoute('app')]);
    started.proxy.setTraceKey(other);
    const bytes = traceBytes(signed(ofTcp).value);
    const client = dial(started);
    const end = endOf(client);
    client.write(bytes.subarray(0, 30));
    client.write(bytes.subarray(30));
    client.end('more');
    expect(await end).toEqual({ received: `${bytes.toString('latin1')}more`, how: 'end' });
  });

  test('without a backend are reset, whether the client sends or not', async () => {
    const started = await start([tcp]);
    const [silent, sending] = [dial(started), dial(started)];
    sending.write('hello');
    expect([(await endOf(sending)).how, (await endOf(silent)).how]).toEqual(['reset', 'reset']);
    await eventually(() => expect(started.connections.map(({ reason }) => reason)).toEqual(['no-route', 'no-route']));
  });
});

describe('a trace of a TLS connection', () => {
  const passthrough = tlsListener('passthrough', 'Passthrough', { hostname: 'pass.example.com' });
  const terminate = tlsListener('terminate', 'Terminate', { hostname: 'a.example.com' });
  const https = listenerConfig('https', {
    protocol: 'HTTPS',
    port: 3,
    hostname: 'web.example.com',
    certificates: ['infra/server'],
  });

  async function startAll() {
    const { backend, got } = await startKeeping();
    const route = layer4Route('TLSRoute', passthrough, {
      attachments: [passthrough, terminate].map((listener) => ({ listener: listener.key, hostnames: [''] })),
    });
    const resources = [passthrough, terminate, https, endpointsConfig('app', backend.port), route];
    return { started: await start(resources), backend, got };
  }

  async function ask(started: Layer4UnderTest, serverName: string) {
    const { value, nonce } = signed({ protocol: 'TLS', port: 3, serverName });
    const hello = await helloOf({ servername: serverName, ALPNProtocols: [`${traceProtocol}${value}`] });
    return { ...(await answerTo(dial(started, passthrough), hello, nonce)), hello, nonce };
  }

  test.each([
    ['pass.example.com', passthrough],
    ['a.example.com', terminate],
  ])('gets the decision before TLS, once: %s', async (serverName, listener) => {
    const { started, backend, got } = await startAll();
    const { report, hello, nonce } = await ask(started, serverName);
    expect(report).toEqual({
      ...served,
      listener: listener.key,
      listenerGeneration: listener.generation,
      route: 'TLSRoute/shop/tlsroute',
      upstream: `127.0.0.1:${backend.port}`,
    });
    const again = await answerTo(dial(started, passthrough), hello, nonce);
    expect(again).toEqual({ how: 'reset', received: '', report: undefined });
    expect(got()).toBe('');
    expect(started.proxy.counters().layer4.reasons.trace).toBe(2);
  });

  test('names the listener for HTTPS, which routes requests', async () => {
    const { started } = await startAll();
    const { listener, listenerGeneration } = { listener: https.key, listenerGeneration: https.generation };
    expect((await ask(started, 'web.example.com')).report).toEqual({ listener, listenerGeneration });
  });

  test('says that no listener has the server name', async () => {
    const { started } = await startAll();
    expect((await ask(started, 'other.example.com')).report).toEqual({ reason: 'no-listener' });
  });

  test('is an ordinary ClientHello without the key', async () => {
    const { started, got } = await startAll();
    started.proxy.setTraceKey(undefined);
    const { value } = signed({ protocol: 'TLS', port: 3, serverName: 'pass.example.com' });
    const hello = await helloOf({ servername: 'pass.example.com', ALPNProtocols: [`${traceProtocol}${value}`] });
    const client = dial(started, passthrough);
    client.write(hello);
    await eventually(() => expect(got()).toBe(hello.toString('latin1')));
    client.destroy();
  });
});

describe('a trace of a datagram', () => {
  async function bound(): Promise<Datagrams> {
    const socket = createSocket('udp4');
    datagrams.add(socket.on('error', () => undefined));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return socket;
  }

  async function startUdp() {
    const backend = await bound();
    const got: string[] = [];
    backend.on('message', (message, from) => {
      got.push(message.toString('latin1'));
      backend.send(message, from.port, from.address);
    });
    const { port } = backend.address();
    const route = layer4Route('UDPRoute', udp);
    return { started: await start([udp, endpointsConfig('app', port), route]), got, port };
  }

  async function ask(started: Layer4UnderTest, client: Datagrams, bytes: Buffer | string): Promise<Buffer> {
    const answer = once(client, 'message');
    client.send(bytes, started.portOf(udp), hostOf(2));
    const [message] = (await answer) as [Buffer];
    return message;
  }

  test('gets the decision, also within a flow, and the backend gets nothing', async () => {
    const { started, got, port } = await startUdp();
    const client = await bound();
    for (const text of ['first', 'second']) {
      const { value, nonce } = signed(ofUdp);
      expect(readTraceAnswer(key, nonce, await ask(started, client, traceBytes(value)))).toEqual({
        ...served,
        listener: udp.key,
        listenerGeneration: udp.generation,
        route: 'UDPRoute/shop/udproute',
        upstream: `127.0.0.1:${port}`,
      });
      // The copy is dropped. Only the next datagram is answered.
      client.send(traceBytes(value), started.portOf(udp), hostOf(2));
      expect((await ask(started, client, text)).toString()).toBe(text);
    }
    expect(got).toEqual(['first', 'second']);
    expect(started.proxy.counters().layer4).toMatchObject({ started: { udp: 1 }, reasons: { trace: 4 } });
  });

  test('gets the reason why no backend gets it', async () => {
    const started = await start([udp]);
    const { value, nonce } = signed(ofUdp);
    const answer = await ask(started, await bound(), traceBytes(value));
    expect(readTraceAnswer(key, nonce, answer)).toMatchObject({ listener: udp.key, reason: 'no-route' });
    expect(started.proxy.counters().layer4.reasons['no-route']).toBe(0);
  });

  test('is an ordinary datagram without the key, or with another one', async () => {
    const { started } = await startUdp();
    for (const other of [undefined, traceKeyOf('secret', 'shop/web')]) {
      started.proxy.setTraceKey(other);
      const bytes = traceBytes(signed(ofUdp).value);
      expect(await ask(started, await bound(), bytes)).toEqual(bytes);
    }
  });
});
