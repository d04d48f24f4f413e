import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect as connectSocket, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { ConfigurationSink, ConfigurationSource } from '../../../src/channel/index.ts';
import type { ConfigResource, EndpointsConfig } from '../../../src/core/routing/config.ts';
import { connectTo, startChannel, tokenOf, type TestChannel } from '../../support/channel.ts';
import { until } from '../../support/until.ts';

// Whoever reaches the port can open connections; proxies must still get through.

const gateway = 'shop/web';
const open: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const opened of open.splice(0).toReversed()) await opened.close();
});

async function serve(options: Parameters<typeof startChannel>[1] = {}): Promise<TestChannel> {
  const source = new ConfigurationSource();
  const channel = await startChannel((name) => (name === gateway ? source : undefined), options);
  open.push({ close: () => channel.server.close() });
  return channel;
}

function openSilent({ server: { port } }: TestChannel, from = '127.0.0.1'): Socket {
  const socket = connectSocket({ port, host: '127.0.0.1', localAddress: from }).on('error', () => {});
  open.push({ close: () => void socket.destroy() });
  return socket;
}

function request(
  channel: TestChannel,
  { name = gateway, token = tokenOf(name), from = '127.0.0.1' } = {},
): { readonly session: ClientHttp2Session; readonly stream: ClientHttp2Stream } {
  const options = { ca: channel.authority.certificate, localAddress: from };
  const session = connect(`https://127.0.0.1:${channel.server.port}`, options);
  session.on('error', () => {});
  open.push({ close: () => session.destroy() });
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': '/v1/configuration',
      'sallyport-gateway': name,
      authorization: `Bearer ${token}`,
    },
    { endStream: false },
  );
  stream.on('error', () => {});
  return { session, stream };
}

async function follow(channel: TestChannel): Promise<void> {
  const connection = connectTo(channel, { gateway, sink: new ConfigurationSink(() => []) });
  open.push({ close: () => connection.close() });
  await until(() => expect(connection.isConnected).toBe(true));
}

test('connections that have not authenticated are limited, and the oldest of them is closed for a new one', async () => {
  const channel = await serve({ limits: { pending: 4 } });
  const silent = Array.from({ length: 4 }, () => openSilent(channel));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  const oldestClosed = once(silent[0] as Socket, 'close');
  await follow(channel);
  await oldestClosed;
  // The connection of the proxy is no longer among those that wait: more silent ones do not end it.
  const more = Array.from({ length: 8 }, () => openSilent(channel));
  await once(more[0] as Socket, 'close');
  expect(channel.server.connections()).toEqual({ open: 5, authenticated: 1 });
});

test('tokens under review are limited: beyond the limit a proxy is told to come back', async () => {
  const gate = Promise.withResolvers<boolean>();
  let reviews = 0;
  const channel = await serve({
    limits: { reviews: 2 },
    authenticate: () => {
      reviews += 1;
      return gate.promise;
    },
  });
  const waiting = [request(channel), request(channel)];
  await until(() => expect(reviews).toBe(2));
  const [refused] = (await once(request(channel).stream, 'response')) as [{ readonly ':status'?: number }];
  expect(refused[':status']).toBe(503);
  expect(reviews).toBe(2);
  gate.resolve(true);
  for (const { stream } of waiting) expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 200 });
});

test('one client address does not use up the reviews of tokens', async () => {
  const gate = Promise.withResolvers<boolean>();
  let reviews = 0;
  const channel = await serve({
    limits: { reviews: 16 },
    authenticate: ({ token }) => {
      reviews += 1;
      return token === 'wrong' ? gate.promise : Promise.resolve(true);
    },
  });
  const greedy = Array.from({ length: 16 }, () => request(channel, { token: 'wrong', from: '127.0.0.2' }));
  const refused = await Promise.any(greedy.map(({ stream }) => once(stream, 'response')));
  expect(refused[0]).toMatchObject({ ':status': 503 });
  await until(() => expect(reviews).toBe(14));
  expect((await once(request(channel).stream, 'response'))[0]).toMatchObject({ ':status': 200 });
  gate.resolve(false);
});

test('a connection that has not authenticated is closed for one of its own address before one of another', async () => {
  const gate = Promise.withResolvers<boolean>();
  const channel = await serve({ limits: { pending: 4 }, authenticate: () => gate.promise });
  const { stream } = request(channel);
  await until(() => expect(channel.server.connections().open).toBe(1));
  const silent = Array.from({ length: 8 }, () => openSilent(channel, '127.0.0.2'));
  await Promise.all(silent.slice(0, 5).map((socket) => once(socket, 'close')));
  gate.resolve(true);
  expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 200 });
  expect(channel.server.connections()).toEqual({ open: 4, authenticated: 1 });
});

test('a client that leaves during the review of its token gives its place back', async () => {
  const gates: ((value: boolean) => void)[] = [];
  const channel = await serve({
    limits: { reviews: 1 },
    authenticate: () => new Promise((resolve) => gates.push(resolve)),
  });
  const { session } = request(channel);
  await until(() => expect(gates).toHaveLength(1));
  session.destroy();
  gates[0]?.(true);
  await until(() => expect(channel.server.connections().open).toBe(0));
  const { stream } = request(channel);
  await until(() => expect(gates).toHaveLength(2));
  gates[1]?.(true);
  expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 200 });
});

test('tokens that cannot be one are refused without a review', async () => {
  let reviews = 0;
  const channel = await serve({
    authenticate: () => {
      reviews += 1;
      return Promise.resolve(true);
    },
  });
  const session = connect(`https://127.0.0.1:${channel.server.port}`, { ca: channel.authority.certificate });
  open.push({ close: () => session.destroy() });
  const stream = session.request({
    ':method': 'POST',
    ':path': '/v1/configuration',
    'sallyport-gateway': gateway,
    authorization: `Bearer ${'x'.repeat(9_000)}`,
  });
  expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 401 });
  expect(reviews).toBe(0);
});

test('the connections of one Gateway are limited, and those of others are accepted', async () => {
  const others = new ConfigurationSource();
  const source = new ConfigurationSource();
  const channel = await startChannel((name) => (name === gateway ? source : others), { limits: { perGateway: 2 } });
  open.push({ close: () => channel.server.close() });
  const taken = [request(channel), request(channel)];
  for (const { stream } of taken) expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 200 });
  expect((await once(request(channel).stream, 'response'))[0]).toMatchObject({ ':status': 429 });
  const other = connectTo(channel, { gateway: 'shop/other', sink: new ConfigurationSink(() => []) });
  open.push({ close: () => other.close() });
  await until(() => expect(other.isConnected).toBe(true));
  taken[0]?.session.destroy();
  await until(() => expect(source.states()).toHaveLength(1));
  expect((await once(request(channel).stream, 'response'))[0]).toMatchObject({ ':status': 200 });
});

test('a namespace with most of all connections gives one up for another namespace, and gets no more', async () => {
  const channel = await startChannel(() => new ConfigurationSource(), { limits: { authenticated: 3 } });
  open.push({ close: () => channel.server.close() });
  const taken = ['many/a', 'many/b', 'many/c'].map((name) => request(channel, { name }));
  for (const { stream } of taken) expect((await once(stream, 'response'))[0]).toMatchObject({ ':status': 200 });
  expect((await once(request(channel, { name: 'many/d' }).stream, 'response'))[0]).toMatchObject({ ':status': 429 });
  await follow(channel);
  await until(() => expect(taken.map(({ session }) => session.destroyed)).toEqual([false, false, true]));
  expect((await once(request(channel, { name: 'many/c' }).stream, 'response'))[0]).toMatchObject({ ':status': 429 });
  await until(() => expect(channel.server.connections().authenticated).toBe(3));
});

test('incomplete messages of all Gateways of a namespace are limited: another namespace keeps its own', async () => {
  const channel = await startChannel(() => new ConfigurationSource(), { limits: { allReceived: 2 ** 20 } });
  open.push({ close: () => channel.server.close() });
  const start = (length: number) => `{"type":"hello","digests":{"a":"${'x'.repeat(length)}`;
  const modest = request(channel);
  await once(modest.stream, 'response');
  modest.stream.write(start(400 * 1024));
  const hellos = Array.from({ length: 4 }, (_, index) => request(channel, { name: `many/${index}` }));
  for (const { stream } of hellos) {
    await once(stream, 'response');
    stream.write(start(256 * 1024));
  }
  await until(() => expect(hellos.filter(({ session }) => session.destroyed)).toHaveLength(2));
  expect(modest.session.destroyed).toBe(false);
});

test('incomplete messages of one Gateway are limited: the longest of them is dropped, and a short one gets through', async () => {
  const channel = await serve({ limits: { received: 2 ** 20 } });
  const hellos = Array.from({ length: 4 }, () => request(channel));
  for (const { stream } of hellos) await once(stream, 'response');
  // 4 × 384 KiB are more than 1 MiB: two connections keep theirs.
  for (const { stream } of hellos) stream.write(`{"type":"hello","digests":{"a":"${'x'.repeat(384 * 1024)}`);
  await until(() => expect(hellos.filter(({ session }) => session.destroyed)).toHaveLength(2));
  await follow(channel);
  expect(channel.server.connections().authenticated).toBe(3);
});

test('messages queued for the proxies of one Gateway are limited: a proxy that reads nothing does not keep out another', async () => {
  const source = new ConfigurationSource();
  const secret = 'x'.repeat(2 ** 20);
  source.publish([{ kind: 'traceKey', key: 'traceKey/current', secret }], []);
  const channel = await startChannel(() => source, { limits: { queued: 3 * 2 ** 20 } });
  open.push({ close: () => channel.server.close() });
  const silent = Array.from({ length: 6 }, () => request(channel));
  for (const { stream } of silent) {
    await once(stream, 'response');
    stream.write('{"type":"hello","digests":{}}\n');
  }
  await until(() => expect(source.states().length).toBeLessThanOrEqual(3));
  const sink = new ConfigurationSink(() => []);
  const connection = connectTo(channel, { gateway, sink });
  open.push({ close: () => connection.close() });
  await until(() =>
    expect(source.states().some(({ name, acknowledged }) => name === 'web-1' && acknowledged === 1)).toBe(true),
  );
});

test.each([
  ['nothing', ''],
  ['a part of its hello', '{"type":"hello",'],
  ['a part of its second message', '{"type":"hello","digests":{}}\n{"type":"ackn'],
])('a proxy that sends %s and then no more is disconnected', async (_what, bytes) => {
  const channel = await serve({ limits: { message: 50 } });
  const { session, stream } = request(channel);
  await once(stream, 'response');
  const closed = once(session, 'close');
  stream.write(bytes);
  await closed;
  await until(() => expect(channel.server.connections().authenticated).toBe(0));
});

test('a proxy that sends nothing after its hello stays connected', async () => {
  const channel = await serve({ limits: { message: 50 } });
  const quiet = request(channel);
  await once(quiet.stream, 'response');
  quiet.stream.write('{"type":"hello","digests":{}}\n');
  const slow = request(channel);
  // This one began later, and its time is over.
  await once(slow.session, 'close');
  expect(quiet.session.destroyed).toBe(false);
});

test('a Gateway with more configuration than any queue holds is served, and changes of neighbors arrive', async () => {
  const source = new ConfigurationSource();
  const channel = await startChannel(() => source);
  open.push({ close: () => channel.server.close() });
  const endpointsOf = (namespace: string, index: number, bundle: string): EndpointsConfig => ({
    kind: 'endpoints',
    key: `endpoints/${namespace}/s${index}/80`,
    addresses: [],
    tls: { serverName: 's', subjectAltNames: [], authorities: [bundle] },
  });
  const bundle = 'A'.repeat(512 * 1024);
  // 70 MiB. Without a limit, the end mark finds more than 64 MiB in the queue, and the connection is closed again and again.
  source.publish(
    Array.from({ length: 140 }, (_, index) => endpointsOf('attacker', index, `${index}${bundle}`)),
    [],
  );
  const applied: ConfigResource[] = [];
  const sink = new ConfigurationSink(({ upserts }) => {
    applied.push(...upserts);
    return [];
  });
  const connection = connectTo(channel, { gateway, sink });
  open.push({ close: () => connection.close() });
  await sink.synchronised;
  expect(applied).toHaveLength(140);
  expect(applied.filter((resource) => 'failure' in resource).length).toBe(109);
  const victim = endpointsOf('victim', 0, 'B');
  source.publish([victim], []);
  await until(() => expect(applied).toContainEqual(victim));
});
