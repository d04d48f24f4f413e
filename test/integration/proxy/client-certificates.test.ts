import { request as startRequest, type RequestOptions } from 'node:https';
import { connect as connectPlain, createServer, type AddressInfo } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { once } from 'node:events';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../src/certificates/index.ts';
import type { ClientValidation } from '../../../src/core/routing/config.ts';
import { defaultLimits, type ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import type { CertificatePair } from '../../../src/proxy/listen/identities.ts';
import { eventually } from '../../support/eventually.ts';
import { closeBackends, startEcho } from '../../support/backends.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { closeProxies, routeTo, startProxy, web } from '../../support/proxy.ts';
import { routeConfig } from '../../support/routes.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const name = 'shop.example.com';
let servers: Authority;
let clients: Authority;
let strangers: Authority;
let serving: CertificatePair;
let client: CertificatePair;
let stranger: CertificatePair;

beforeAll(async () => {
  [servers, clients, strangers] = await Promise.all([
    createAuthority(),
    createAuthority(undefined, 'clients'),
    createAuthority(undefined, 'strangers'),
  ]);
  [serving, client, stranger] = await Promise.all([
    issueLeaf(servers, { dnsNames: [name] }),
    issueLeaf(clients, {}),
    issueLeaf(strangers, {}),
  ]);
});

const listener = (clientValidation?: ClientValidation) =>
  listenerConfig('secure', {
    port: 443,
    protocol: 'HTTPS',
    certificates: ['shop/shop'],
    ...(clientValidation && { clientValidation }),
  });
const validation = (mode: ClientValidation['mode'] = 'AllowValidOnly', authority = clients): ClientValidation => ({
  authorities: [authority.certificate],
  mode,
});

async function startSecure(clientValidation?: ClientValidation, limits: Partial<ProxyLimits> = {}) {
  const backend = await startEcho();
  const secure = listener(clientValidation);
  const route = routeConfig('shop/web', {
    attachments: [{ listener: secure.key, hostnames: [''] }],
    rules: routeTo('app').rules,
  });
  const started = await startProxy([secure, endpointsConfig('app', backend.port), route], {
    certificates: () => serving,
    limits: { ...defaultLimits, ...limits },
  });
  await started.proxy.apply({ upserts: [], removals: [web.key] });
  const port = started.proxy.addressesOf(secure.key)[0]?.port ?? 0;
  return { port, apply: started.apply, counters: () => started.proxy.counters() };
}

const repeat = (text: string, count: number): string[] => Array.from({ length: count }, () => text);

/** The status of the answer, or `refused`. */
function ask(port: number, options: RequestOptions = {}): Promise<number | 'refused'> {
  return new Promise((resolve) => {
    const request = startRequest({
      host: '127.0.0.1',
      port,
      servername: name,
      ca: servers.certificate,
      agent: false,
      headers: { host: name },
      ...options,
    });
    request
      .on('error', () => resolve('refused'))
      .on('response', (response) => resolve(response.resume().statusCode ?? 0))
      .end();
  });
}

test.each([
  ['with', {}],
  ['without', { servername: '', checkServerIdentity: () => undefined }],
])('only valid clients are served, %s a server name', async (_with, options) => {
  const { port } = await startSecure(validation());
  expect(await ask(port, { ...options, ...client })).toBe(200);
  expect(await ask(port, { ...options, ...stranger })).toBe('refused');
  expect(await ask(port, options)).toBe('refused');
});

test('where it is allowed others are served as well', async () => {
  const { port } = await startSecure(validation('AllowInsecureFallback'));
  expect(await Promise.all([ask(port, client), ask(port, stranger), ask(port)])).toEqual([200, 200, 200]);
});

test('where it is allowed even those are served whose authority only has the name of the right one', async () => {
  const { port } = await startSecure(validation('AllowInsecureFallback'));
  const namesake = await issueLeaf(await createAuthority(undefined, 'clients'), {});
  expect(await Promise.all([ask(port, namesake), ask(port, { ...namesake, maxVersion: 'TLSv1.2' })])).toEqual([
    200, 200,
  ]);
  expect(await connectWith(port, namesake)).toMatchObject({ outcome: 'new' });
});

test.each(['AllowValidOnly', 'AllowInsecureFallback'] as const)(
  '%s: clients are asked for a certificate, also where they need none',
  async (mode) => {
    const { port } = await startSecure(validation(mode));
    expect(await asksForCertificate(port)).toBe(true);
  },
);

test('nobody is valid by the name of an authority alone', async () => {
  const { port } = await startSecure(validation());
  expect(await ask(port, await issueLeaf(await createAuthority(undefined, 'clients'), {}))).toBe('refused');
});

test('nobody is valid where no authority is known', async () => {
  const { port } = await startSecure({ authorities: [], mode: 'AllowValidOnly' });
  expect(await ask(port, client)).toBe('refused');
});

test('a certificate that is not for clients is refused', async () => {
  const { port } = await startSecure(validation());
  expect(await ask(port, await issueLeaf(clients, { usages: ['serverAuth'] }))).toBe('refused');
});

/** Whether the server's half of a handshake has a CertificateRequest, which TLS 1.2 shows in plain text. */
async function asksForCertificate(port: number): Promise<boolean> {
  const seen: Buffer[] = [];
  const relay = createServer((client) => {
    const server = connectPlain(port, '127.0.0.1');
    server.on('data', (chunk) => seen.push(chunk)).on('error', () => client.destroy());
    client
      .on('error', () => server.destroy())
      .pipe(server)
      .pipe(client);
  });
  await new Promise<void>((resolve) => {
    relay.listen(0, '127.0.0.1', resolve);
  });
  const socket = connect({
    host: '127.0.0.1',
    port: (relay.address() as AddressInfo).port,
    servername: name,
    ca: servers.certificate,
    maxVersion: 'TLSv1.2',
  });
  await new Promise((resolve) => {
    socket.on('error', resolve).on('secureConnect', resolve);
  });
  socket.destroy();
  relay.close();
  return [...handshakeMessages(Buffer.concat(seen))].includes(13);
}

/** The types of the handshake messages up to ServerHelloDone (RFC 5246 sections 6.2.1 and 7.4). */
function* handshakeMessages(bytes: Buffer): Iterable<number> {
  const records: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length; at += 5 + bytes.readUInt16BE(at + 3)) {
    if (bytes[at] === 22) records.push(bytes.subarray(at + 5, at + 5 + bytes.readUInt16BE(at + 3)));
  }
  const messages = Buffer.concat(records);
  for (let at = 0; at + 4 <= messages.length; at += 4 + messages.readUIntBE(at + 1, 3)) {
    yield messages.readUInt8(at);
    if (messages[at] === 14) return;
  }
}

test('nobody is asked for a certificate where none is needed', async () => {
  const { port } = await startSecure();
  expect(await asksForCertificate(port)).toBe(false);
  expect(await ask(port)).toBe(200);
});

/** Asks on a connection of its own: whether a session was resumed, `refused` where the connection ended, and a session for later. */
function connectWith(
  port: number,
  options: ConnectionOptions,
): Promise<{ outcome: 'resumed' | 'new' | 'refused'; session?: Buffer }> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, servername: name, ca: servers.certificate, ...options });
    let session: Buffer | undefined;
    socket.on('session', (ticket: Buffer) => {
      session = ticket;
    });
    socket.on('error', () => resolve({ outcome: 'refused' })).on('close', () => resolve({ outcome: 'refused' }));
    socket.on('data', () => {
      resolve({ outcome: socket.isSessionReused() ? 'resumed' : 'new', ...(session && { session }) });
      socket.destroy();
    });
    socket.write(`GET / HTTP/1.1\r\nhost: ${name}\r\n\r\n`);
  });
}

// A session contains the certificate of the client. It can be resumed for two hours, in which the certificate can expire.
test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a session of %s does not replace a valid certificate',
  async (maxVersion) => {
    const { port } = await startSecure(validation());
    const { session = Buffer.alloc(0) } = await connectWith(port, { ...client, maxVersion });
    expect(session).not.toHaveLength(0);
    expect(await connectWith(port, { session, maxVersion })).toMatchObject({ outcome: 'refused' });
    expect(await connectWith(port, { ...client, session, maxVersion })).toMatchObject({ outcome: 'new' });
  },
);

test('a changed check holds for the next connection, even for a session that was begun before', async () => {
  const { port, apply } = await startSecure(validation('AllowInsecureFallback'));
  const { session = Buffer.alloc(0) } = await connectWith(port, client);
  expect(await connectWith(port, { ...client, session })).toMatchObject({ outcome: 'resumed' });
  await apply(listener(validation('AllowValidOnly', strangers)));
  expect(await connectWith(port, { ...client, session })).toMatchObject({ outcome: 'refused' });
  expect(await connectWith(port, stranger)).toMatchObject({ outcome: 'new' });
});

test('a listener that starts to require certificates refuses clients without one', async () => {
  const { port, apply } = await startSecure();
  const { outcome, session = Buffer.alloc(0) } = await connectWith(port, {});
  expect(outcome).toBe('new');
  await apply(listener(validation()));
  expect(await ask(port)).toBe('refused');
  expect(await ask(port, { servername: '', checkServerIdentity: () => undefined })).toBe('refused');
  expect(await connectWith(port, { session })).toMatchObject({ outcome: 'refused' });
  expect(await ask(port, client)).toBe(200);
});

test('a listener that stops requiring certificates serves clients without one', async () => {
  const { port, apply } = await startSecure(validation());
  expect(await ask(port)).toBe('refused');
  await apply(listener());
  expect(await ask(port)).toBe(200);
});

// Each connection keeps the TLS contexts of its handshake. 339 changes of 100 CA certificates under connections that stayed open took 552 MiB.
test.each(['a server name', 'none'])(
  'connections with %s whose CA certificates were replaced long ago are closed',
  async (withName) => {
    const { port, apply, counters } = await startSecure(validation());
    const sockets: TLSSocket[] = [];
    for (let index = 0; index < 30; index += 1) {
      // Half of the memory of all former certificates with a few changes. The first one is another one each time.
      const authorities = [`${clients.certificate}${'\n'.repeat(index)}`, ...repeat(clients.certificate, 999)];
      await apply(listener({ authorities, mode: 'AllowValidOnly' }));
      const socket = connect({
        host: '127.0.0.1',
        port,
        ca: servers.certificate,
        ...client,
        ...(withName === 'none' ? { checkServerIdentity: () => undefined } : { servername: name }),
      });
      sockets.push(socket.on('error', () => undefined));
      socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
      await once(socket, 'data');
    }
    await eventually(() => expect(sockets[0]?.closed).toBe(true));
    expect(sockets.slice(-4).every(({ readyState }) => readyState === 'open')).toBe(true);
    expect(counters().limitsReached['former-certificates']).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
  },
);

test('a connection counts for its certificates', async () => {
  const { port, counters } = await startSecure(validation(), { connections: 16 });
  expect(await ask(port, client)).toBe(200);
  expect(counters().limitsReached['client-share']).toBe(0);
  // 60 KB.
  const chain = [String(client.cert), ...repeat(String(stranger.cert), 150)].join('\n');
  const options = { host: '127.0.0.1', servername: name, ca: servers.certificate };
  const socket = connect({ port, ...options, ...client, cert: chain }).on('error', () => undefined);
  await once(socket, 'close');
  expect(counters().limitsReached['client-share']).toBeGreaterThan(0);
  await eventually(() => expect(counters().openConnections).toBe(0));
  expect(await ask(port, client)).toBe(200);
});
