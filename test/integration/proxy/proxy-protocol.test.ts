import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../src/certificates/index.ts';
import type { ConfigResource, ListenerConfig } from '../../../src/core/routing/config.ts';
import { parseNetworks, parseProxyVersions } from '../../../src/core/text/proxy-protocol.ts';
import type { ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import { parseProxyHeader } from '../../../src/proxy/proxy-protocol/parse.ts';
import type { ProxyProtocolSettings } from '../../../src/proxy/proxy-protocol/settings.ts';
import type { CertificatePair } from '../../../src/proxy/listen/identities.ts';
import { closeBackends, startEcho, startRawBackend } from '../../support/backends.ts';
import type { Backend, Echo } from '../../support/backends.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import {
  backendTo,
  endOf,
  hostOf,
  layer4Route,
  startLayer4,
  tcp,
  tcpRoute,
  tlsListener,
} from '../../support/layer4.ts';
import type { Layer4UnderTest } from '../../support/layer4.ts';
import { v2 } from '../../support/proxy-protocol.ts';
import { closeProxies, fieldValues, receiveUntil, routeTo, startProxy, throwFault } from '../../support/proxy.ts';
import type { ProxyUnderTest } from '../../support/proxy.ts';
import { until } from '../../support/until.ts';

let authority: Authority;
const pairs = new Map<string, CertificatePair>();
const closers: (() => void)[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  pairs.set('infra/server', await issueLeaf(authority, { dnsNames: ['a.example.com'], commonName: 'server' }));
});
afterEach(closeProxies);
afterEach(closeBackends);
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** The settings that these two parameters stand for. */
function settings(accept: string | undefined, send?: string): ProxyProtocolSettings {
  const [networks, versions] = [parseNetworks(accept ?? '192.0.2.1'), parseProxyVersions(send ?? '1=v1')];
  if (!networks.ok || !versions.ok) throw new Error('invalid settings');
  return { accept: networks.value, send: versions.value };
}

const loopback = '127.0.0.0/8';
const line = (client = '203.0.113.9') => `PROXY TCP4 ${client} 198.51.100.1 55555 443\r\n`;
const binary = v2(0x21, 0x11, 'cb007109c6336401d90301bb');
const get = 'GET / HTTP/1.1\r\nHost: a.example.com\r\nConnection: close\r\n\r\n';

async function startHttp(
  limits: Partial<ProxyLimits> = {},
  accept = loopback,
): Promise<ProxyUnderTest & { readonly backend: Backend }> {
  const backend = await startEcho();
  const started = await startProxy([endpointsConfig('app', backend.port), routeTo('app')], {
    limits,
    proxyProtocol: settings(accept),
    onFault: throwFault,
  });
  return { ...started, backend };
}

/** Writes on a connection and takes everything until it ends. */
async function exchange(port: number, ...writes: readonly (Buffer | string)[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true });
  const end = endOf(socket);
  for (const bytes of writes) {
    socket.write(bytes);
    await setImmediate();
  }
  const { received, how } = await end;
  socket.destroy();
  return how === 'end' ? received : how;
}

function echoIn(answer: string): Echo {
  return JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as Echo;
}

describe('an HTTP listener that accepts PROXY headers', () => {
  test.each([
    ['1', line()],
    ['2', binary],
  ])('tells the backend and the log the client of a header of version %s', async (_version, header) => {
    const { port, log, proxy } = await startHttp();
    const answer = await exchange(port, Buffer.concat([Buffer.from(header as string, 'latin1'), Buffer.from(get)]));
    expect(fieldValues(echoIn(answer), 'x-forwarded-for')).toEqual(['203.0.113.9']);
    await eventually(() => expect(log).toMatchObject([{ client: '203.0.113.9', status: 200 }]));
    expect(proxy.counters()).toMatchObject({ proxyHeaderFailures: 0, openConnections: 0 });
  });

  test.each([
    ['1', Buffer.from(line())],
    ['2', binary],
  ])('reads a header of version %s that comes byte by byte', async (_version, header) => {
    const { port, log } = await startHttp();
    const bytes = [...header].map((byte) => Buffer.from([byte]));
    expect(await exchange(port, ...bytes, get)).toContain('HTTP/1.1 200');
    await eventually(() => expect(log).toMatchObject([{ client: '203.0.113.9' }]));
  });

  test.each([
    ['LOCAL', v2(0x20, 0, '')],
    ['UNKNOWN', 'PROXY UNKNOWN\r\n'],
  ])('%s leaves the address of the connection', async (_command, header) => {
    const { port, log } = await startHttp();
    expect(await exchange(port, header, get)).toContain('HTTP/1.1 200');
    await eventually(() => expect(log).toMatchObject([{ client: '127.0.0.1' }]));
  });

  test.each([
    ['no header', get],
    ['a wrong header', 'PROXY TCP4 1.2.3.4\r\n'],
    ['TLS', '\u0016\u0003\u0001'],
    ['half a header at its end', 'PROXY TC'],
  ])('resets a connection with %s', async (_what, bytes) => {
    const { port, proxy, backend } = await startHttp({ proxyHeaderTimeout: 20 });
    expect(await exchange(port, bytes)).toBe('reset');
    expect(proxy.counters().proxyHeaderFailures).toBe(1);
    expect(backend.connections()).toBe(0);
  });

  test('a header that does not come in time, or is too long, reaches a limit', async () => {
    const { port, proxy } = await startHttp({ proxyHeaderTimeout: 20, proxyHeaderBytes: 20 });
    expect(await exchange(port)).toBe('reset');
    expect(await exchange(port, binary)).toBe('reset');
    expect(await exchange(port, 'PROXY UNKNOWN '.padEnd(108, 'x'))).toBe('reset');
    expect(proxy.counters().limitsReached).toMatchObject({ 'proxy-header-time': 1, 'proxy-header': 2 });
    expect(proxy.counters().proxyHeaderFailures).toBe(3);
  });

  test('does not take headers from other addresses', async () => {
    const { port, log } = await startHttp({}, '127.0.0.2, 10.0.0.0/8');
    expect(await exchange(port, line(), get)).toContain('HTTP/1.1 400');
    expect(await exchange(port, get)).toContain('HTTP/1.1 200');
    await eventually(() => expect(log.map(({ client }) => client)).toEqual(['127.0.0.1', '127.0.0.1']));
  });

  test('connections count to the client of the header, not to the load balancer', async () => {
    const { port, proxy } = await startHttp({ connectionsPerClient: 2 });
    const open = async (client: string): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => undefined);
      socket.write(`${line(client)}GET / HTTP/1.1\r\nHost: a.example.com\r\n\r\n`);
      return socket;
    };
    const held: Socket[] = [];
    for (const client of ['203.0.113.1', '203.0.113.1', '203.0.113.2', '203.0.113.3']) {
      const socket = await open(client);
      await receiveUntil(socket, '}');
      held.push(socket);
    }
    expect((await endOf(await open('203.0.113.1'))).how).toBe('reset');
    expect(proxy.counters().limitsReached['client-connections']).toBe(1);
    held[0]?.destroy();
    await eventually(() => expect(proxy.counters().openConnections).toBe(3));
    await receiveUntil(await open('203.0.113.1'), '}');
  });

  test('half headers make room for clients that have something to ask', async () => {
    const { port, proxy } = await startHttp({ connections: 8, connectionsPerClient: 100 });
    const flood = Array.from({ length: 40 }, () => connect({ host: '127.0.0.1', port }).on('error', () => undefined));
    for (const socket of flood) socket.write('PROXY TCP4 1');
    await eventually(() => expect(proxy.counters().connections).toBe(40));
    await eventually(() => expect(proxy.counters().openConnections).toBe(8));
    expect(await exchange(port, line(), get)).toContain('HTTP/1.1 200');
    for (const socket of flood) socket.destroy();
    await eventually(() => expect(proxy.counters().openConnections).toBe(0));
  });

  test('half headers of one address have its share', async () => {
    const { port, proxy } = await startHttp({ connectionsPerClient: 3 });
    const flood = Array.from({ length: 10 }, () => connect({ host: '127.0.0.1', port }).on('error', () => undefined));
    for (const socket of flood) socket.write('PROXY TCP4 1');
    await eventually(() => expect(proxy.counters().limitsReached['client-connections']).toBe(7));
    for (const socket of flood) socket.destroy();
  });
});

const https = listenerConfig('https', { protocol: 'HTTPS', port: 3, certificates: ['infra/server'] });

/** Headers go to the backends of all ports, or of those listed. */
function start(
  resources: readonly ConfigResource[],
  proxyProtocol: ProxyProtocolSettings,
  limits: Partial<ProxyLimits> = {},
): Promise<Layer4UnderTest> {
  return startLayer4(resources, {
    certificates: (secret) => pairs.get(secret),
    onFault: throwFault,
    proxyProtocol,
    limits,
  });
}

/** Sends a header on a connection to a listener. */
function dialWith(started: Layer4UnderTest, listener: ListenerConfig, header: Buffer | string): Socket {
  const socket = connect({
    host: hostOf(listener.port),
    port: started.portOf(listener),
    allowHalfOpen: true,
    localAddress: '127.0.0.1',
  }).on('error', () => undefined);
  if (header.length > 0) socket.write(header);
  return socket;
}

/** Does a handshake on a connection, sends a line and takes the answer. */
async function askOverTls(carrier: Socket, sent: string): Promise<string> {
  const socket = connectTls({ socket: carrier, ca: authority.certificate, servername: 'a.example.com' });
  socket.write(sent);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(socket, 'end');
  carrier.destroy();
  return received;
}

test('an HTTPS listener takes the header before the handshake', async () => {
  const backend = await startEcho();
  const route = { ...routeTo('app'), attachments: [{ listener: https.key, hostnames: [''] }] };
  const started = await start([https, route, endpointsConfig('app', backend.port)], settings(loopback));
  const answer = await askOverTls(dialWith(started, https, binary), get);
  expect(fieldValues(echoIn(answer), 'x-forwarded-for')).toEqual(['203.0.113.9']);
});

/** A backend that answers with everything that came, once the client is done. */
function startRecorder(): Promise<Backend> {
  return startRawBackend((socket) => {
    const chunks: Buffer[] = [];
    socket
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => socket.end(Buffer.concat(chunks)))
      .on('error', () => undefined);
  });
}

const origin = { client: { host: '203.0.113.9', port: 55_555 }, destination: { host: '198.51.100.1', port: 443 } };

describe('a TCPRoute', () => {
  test.each([
    ['v1', 'v2'],
    ['v2', 'v1'],
  ])('that accepts %s and sends %s keeps the client', async (accepted, sent) => {
    const backend = await startRecorder();
    const started = await start([tcp, tcpRoute('app'), endpointsConfig('app', backend.port)], settings(loopback, sent));
    const client = dialWith(started, tcp, accepted === 'v1' ? line() : binary);
    client.end('hello');
    const received = Buffer.from((await endOf(client)).received, 'latin1');
    const header = parseProxyHeader(received, 4_096);
    expect(header).toEqual({ length: received.length - 'hello'.length, origin });
    expect(received.subarray(-5).toString()).toBe('hello');
    expect(received.toString('latin1').startsWith('PROXY')).toBe(sent === 'v1');
    await eventually(() => expect(started.connections).toMatchObject([{ client: '203.0.113.9', receivedBytes: 5 }]));
  });

  test('tells the addresses of the connection where no header came', async () => {
    const backend = await startRecorder();
    const started = await start(
      [tcp, tcpRoute('app'), endpointsConfig('app', backend.port)],
      settings(undefined, '2=v1, 3=v2'),
    );
    const client = dialWith(started, tcp, '');
    await once(client, 'connect');
    const { localPort } = client;
    client.end('hello');
    expect((await endOf(client)).received).toBe(
      `PROXY TCP4 127.0.0.1 127.0.0.2 ${localPort} ${started.portOf(tcp)}\r\nhello`,
    );
  });

  test('sends nothing on ports that are not listed', async () => {
    const backend = await startRecorder();
    const started = await start(
      [tcp, tcpRoute('app'), endpointsConfig('app', backend.port)],
      settings(undefined, '3=v2'),
    );
    const client = dialWith(started, tcp, '');
    client.end(line());
    expect((await endOf(client)).received).toBe(line());
  });

  test('serves protocols in which the server speaks first, and loses no byte behind the header', async () => {
    const backend = await startRawBackend((socket) => {
      socket.write('220 ready\r\n');
      socket.pipe(socket);
    });
    const started = await start([tcp, tcpRoute('app'), endpointsConfig('app', backend.port)], settings(loopback));
    const greeted = dialWith(started, tcp, line());
    await receiveUntil(greeted, 'ready\r\n');
    greeted.end();
    const long = 'x'.repeat(300_000);
    const eager = dialWith(started, tcp, line() + long);
    eager.end();
    expect((await endOf(eager)).received).toBe(`220 ready\r\n${long}`);
  });

  test('that leads to its own listener is still found', async () => {
    const started = await start([tcp, tcpRoute('app')], settings(loopback, 'v2'));
    await started.apply({ ...endpointsConfig('app'), addresses: [{ host: hostOf(2), port: started.portOf(tcp) }] });
    expect((await endOf(dialWith(started, tcp, `${line()}x`))).received).toBe('');
    await eventually(() => expect(started.proxy.counters().layer4.open.tcp).toBe(0));
    expect(started.proxy.counters().layer4.started.tcp).toBeLessThan(16);
    await eventually(() => expect(started.connections.map(({ reason }) => reason)).toContain('loop-detected'));
  });
});

describe('a TLSRoute', () => {
  /** A backend that takes a header of version 2 and TLS behind it, and answers with the client's address and what it sent. */
  async function startTlsBehindHeader(): Promise<number> {
    const secure = createTlsServer({ ...pairs.get('infra/server') });
    const server = createServer((socket) => {
      socket.once('readable', () => {
        const bytes = socket.read() as Buffer;
        const header = parseProxyHeader(bytes, 4_096);
        if (typeof header !== 'object') throw new Error(`no header: ${String(header)}`);
        if (header.length < bytes.length) socket.unshift(bytes.subarray(header.length));
        secure.once('secureConnection', (decrypted) =>
          decrypted.once('data', (chunk: Buffer) =>
            decrypted.end(`${header.origin?.client.host} sent ${chunk.toString()}`),
          ),
        );
        secure.emit('connection', socket);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  test.each([
    ['passes through', tlsListener('tls', 'Passthrough'), {}],
    ['is encrypted again', tlsListener('tls', 'Terminate'), { subjectAltNames: [], serverName: 'a.example.com' }],
  ])('whose TLS %s sends the header before the handshake', async (_mode, listener, tls) => {
    const route = layer4Route('TLSRoute', listener, {
      attachments: [{ listener: listener.key, hostnames: ['a.example.com'] }],
      backends: [backendTo('app')],
    });
    const endpoints = {
      ...endpointsConfig('app', await startTlsBehindHeader()),
      ...('serverName' in tls ? { tls: { ...tls, authorities: [authority.certificate] } } : {}),
    };
    const started = await start([listener, route, endpoints], settings(loopback, 'v2'));
    expect(await askOverTls(dialWith(started, listener, line()), 'hello')).toBe('203.0.113.9 sent hello');
    await eventually(() =>
      expect(started.connections).toMatchObject([{ client: '203.0.113.9', serverName: 'a.example.com' }]),
    );
  });

  test('whose TLS is terminated sends the header in front of what was decrypted', async () => {
    const backend = await startRawBackend((socket) => {
      socket.once('data', (chunk: Buffer) => socket.end(chunk));
    });
    const listener = tlsListener('tls', 'Terminate');
    const route = layer4Route('TLSRoute', listener, {
      attachments: [{ listener: listener.key, hostnames: ['a.example.com'] }],
      backends: [backendTo('app')],
    });
    const started = await start([listener, route, endpointsConfig('app', backend.port)], settings(loopback, 'v1'));
    expect(await askOverTls(dialWith(started, listener, binary), 'hello')).toContain(line());
  });
});

const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;

(hasHaproxy ? describe : describe.skip)('HAProxy', () => {
  async function freePort(): Promise<number> {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    return port;
  }

  /** Runs HAProxy with these sections until the end of the test; it listens on `port`. */
  async function startHaproxy(port: number, sections: string): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'haproxy-'));
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(
      file,
      `defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n${sections}`,
    );
    const child = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' });
    closers.push(() => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    });
    await until(async () => {
      const socket = connect({ host: '127.0.0.1', port });
      await once(socket, 'connect');
      socket.destroy();
    });
  }

  test.each(['send-proxy', 'send-proxy-v2', 'send-proxy-v2 proxy-v2-options crc32c,authority'])(
    'in front of an HTTP listener, with %s',
    async (option) => {
      const { port, log } = await startHttp();
      const front = await freePort();
      await startHaproxy(
        front,
        `listen front\n  bind 127.0.0.1:${front}\n  server sallyport 127.0.0.1:${port} ${option}\n`,
      );
      const socket = connect({ host: '127.0.0.1', port: front, localAddress: '127.0.0.77', allowHalfOpen: true });
      socket.write(get);
      expect(fieldValues(echoIn((await endOf(socket)).received), 'x-forwarded-for')).toEqual(['127.0.0.77']);
      expect(log.map(({ client }) => client)).toContain('127.0.0.77');
    },
  );

  test('in front of an HTTP listener, as its health checks', async () => {
    const { port, log, proxy } = await startHttp();
    const front = await freePort();
    await startHaproxy(
      front,
      `listen front\n  bind 127.0.0.1:${front}\n  option httpchk GET /\n  server sallyport 127.0.0.1:${port} send-proxy-v2 check inter 50 check-send-proxy\n`,
    );
    await until(() => expect(log.length).toBeGreaterThan(0));
    expect(log[0]?.client).toBe('127.0.0.1');
    expect(proxy.counters().proxyHeaderFailures).toBe(0);
  });

  test.each(['v1', 'v2'])('as a backend of a TCPRoute, with %s', async (version) => {
    const port = await freePort();
    await startHaproxy(
      port,
      `frontend back\n  bind 127.0.0.1:${port} accept-proxy\n  http-request return status 200 content-type text/plain lf-string "%[src] %[src_port] %[dst] %[dst_port]"\n`,
    );
    const started = await start([tcp, tcpRoute('app'), endpointsConfig('app', port)], settings(loopback, version));
    const client = dialWith(started, tcp, line() + get);
    expect((await endOf(client)).received).toContain('203.0.113.9 55555 198.51.100.1 443');
  });
});

const curlHelp = spawnSync('curl', ['--help', 'all'], { encoding: 'utf8' });
const hasCurl = curlHelp.status === 0 && curlHelp.stdout.includes('--haproxy-protocol');

(hasCurl ? describe : describe.skip)('curl', () => {
  test('--haproxy-protocol', async () => {
    const { port, log } = await startHttp();
    const child = spawn(
      'curl',
      ['-s', '--haproxy-protocol', '--interface', '127.0.0.78', `http://127.0.0.1:${port}/`],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    let answer = '';
    child.stdout.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await once(child, 'close');
    expect(fieldValues(echoIn(answer), 'x-forwarded-for')).toEqual(['127.0.0.78']);
    expect(log).toMatchObject([{ client: '127.0.0.78' }]);
  });
});
