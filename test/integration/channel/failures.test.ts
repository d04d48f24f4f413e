import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ConfigurationSink, ConfigurationSource, type ChannelConnection } from '../../../src/channel/index.ts';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import { connectTo, startChannel, tokenOf, type TestChannel } from '../../support/channel.ts';
import { endpointsConfig } from '../../support/config.ts';
import { until } from '../../support/until.ts';

const gateway = 'shop/web';
const open: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const opened of open.splice(0).toReversed()) await opened.close();
});

async function serve(
  source: ConfigurationSource,
  options: Parameters<typeof startChannel>[1] = {},
): Promise<TestChannel> {
  const channel = await startChannel((name) => (name === gateway ? source : undefined), options);
  open.push({ close: () => channel.server.close() });
  return channel;
}

function follow(
  channel: TestChannel,
  options: Partial<Parameters<typeof connectTo>[1]> = {},
): { readonly sink: ConfigurationSink; readonly connection: ChannelConnection } {
  const sink = new ConfigurationSink(() => []);
  const connection = connectTo(channel, { gateway, sink, ...options });
  open.push({ close: () => connection.close() });
  return { sink, connection };
}

/** A stream of a client that may do as it likes. */
function openStream(
  channel: TestChannel,
  fields: Record<string, string> = {},
  port = channel.server.port,
): { readonly session: ClientHttp2Session; readonly stream: ClientHttp2Stream } {
  const session = connect(`https://127.0.0.1:${port}`, { ca: channel.authority.certificate });
  session.on('error', () => {});
  open.push({ close: () => session.destroy() });
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': '/v1/configuration',
      'sallyport-gateway': gateway,
      authorization: `Bearer ${tokenOf(gateway)}`,
      ...fields,
    },
    { endStream: false },
  );
  stream.on('error', () => {});
  return { session, stream };
}

/** A way to a port on which everything can get stuck without anything being closed. */
async function startRelay(target: number): Promise<{ readonly port: number; freeze(): void }> {
  const sockets: Socket[] = [];
  const relay = createServer((socket) => {
    const onward = connectSocket(target, '127.0.0.1');
    for (const end of [socket, onward]) sockets.push(end.on('error', () => {}));
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  });
  return {
    port: (relay.address() as AddressInfo).port,
    freeze: () => sockets.forEach((socket) => socket.unpipe().pause()),
  };
}

async function statusOf(stream: ClientHttp2Stream): Promise<number | undefined> {
  const [headers] = (await once(stream, 'response')) as [{ readonly ':status'?: number }];
  return headers[':status'];
}

describe('a controller refuses', () => {
  test.each([
    ['a token of another Gateway', { authorization: `Bearer ${tokenOf('shop/other')}` }, 401],
    ['no token', { authorization: '' }, 401],
    [
      'a Gateway that it does not serve',
      { 'sallyport-gateway': 'shop/other', authorization: `Bearer ${tokenOf('shop/other')}` },
      404,
    ],
    ['another path', { ':path': '/' }, 404],
    ['another method', { ':method': 'PUT' }, 405],
  ])('%s', async (_what, fields, status) => {
    const source = new ConfigurationSource();
    const { stream } = openStream(await serve(source), fields);
    expect(await statusOf(stream)).toBe(status);
    expect(source.states()).toEqual([]);
  });

  test('for now, where it cannot judge the token', async () => {
    const channel = await serve(new ConfigurationSource(), {
      authenticate: () => Promise.reject(new Error('API server away')),
    });
    expect(await statusOf(openStream(channel).stream)).toBe(503);
  });
});

describe('a controller ends the stream of a proxy that', () => {
  test.each([
    ['sends no JSON', 'hello\n'],
    ['sends something else than an object', '[]\n'],
    ['says hello without digests', '{"type":"hello"}\n'],
    ['says hello with capabilities that are no texts', '{"type":"hello","digests":{},"capabilities":[1]}\n'],
    ['acknowledges nothing', '{"type":"acknowledge","id":"1","problems":[]}\n'],
    ['sends a line without an end', 'x'.repeat(17 * 2 ** 20)],
    [
      'names more resources than a Gateway may have',
      `{"type":"hello","digests":{${Array.from({ length: 250_001 }, (_, number) => `"r/${number}":""`).join(',')}}}\n`,
    ],
    ['says hello twice', '{"type":"hello","digests":{}}\n{"type":"hello","digests":{}}\n'],
    ['acknowledges at length', `{"type":"hello","digests":{}}\n${'x'.repeat(5 * 2 ** 20)}`],
  ])('%s', async (_what, text) => {
    const source = new ConfigurationSource();
    const { stream } = openStream(await serve(source));
    expect(await statusOf(stream)).toBe(200);
    expect(source.states()).toHaveLength(1);
    stream.resume();
    const closed = once(stream, 'close');
    stream.write(text);
    await closed;
    expect(source.states()).toEqual([]);
  });

  test('does not read, when more is due than may wait for it', async () => {
    const source = new ConfigurationSource();
    const { stream } = openStream(await serve(source, { limits: { backlog: 2 ** 20 } }));
    stream.write('{"type":"hello","digests":{}}\n');
    await until(() => expect(source.states()).toMatchObject([{ sent: 0 }]));
    const large = {
      ...endpointsConfig('cart'),
      addresses: Array.from({ length: 50_000 }, (_, port) => ({ host: '127.0.0.1', port })),
    };
    source.publish([large], []);
    expect(source.states()).toHaveLength(1);
    source.publish([], [large.key]);
    await until(() => expect(source.states()).toEqual([]));
  });

  test('gives no sign of life', async () => {
    const source = new ConfigurationSource();
    const channel = await serve(source, { limits: { heartbeat: 100 } });
    const relay = await startRelay(channel.server.port);
    const { stream } = openStream(channel, {}, relay.port);
    expect(await statusOf(stream)).toBe(200);
    relay.freeze();
    await until(() => expect(source.states()).toEqual([]));
  });
});

test('messages of types that only later versions know are passed over', async () => {
  const source = new ConfigurationSource();
  const { stream } = openStream(await serve(source));
  stream.write('{"type":"greeting"}\n{"type":"hello","digests":{}}\n');
  await until(() => expect(source.states()).toMatchObject([{ sent: 0 }]));
});

describe('a proxy', () => {
  test('comes back when the controller ended the stream, without being sent anything again', async () => {
    const source = new ConfigurationSource();
    source.publish([endpointsConfig('cart', 1)], []);
    let connections = 0;
    const channel = await serve(source, {
      limits: { age: 20 },
      authenticate: () => Promise.resolve(++connections > 0),
    });
    let changes = 0;
    follow(channel, {
      sink: new ConfigurationSink(() => {
        changes += 1;
        return [];
      }),
    });
    await until(() => expect(connections).toBeGreaterThan(3));
    expect(changes).toBe(1);
  });

  test('is told the rest and let go when its Gateway is served no more, and finds it where it is served anew', async () => {
    const [former, next] = [new ConfigurationSource(), new ConfigurationSource()];
    let served: ConfigurationSource | undefined = former;
    const channel = await startChannel(() => served);
    open.push({ close: () => channel.server.close() });
    former.publish([endpointsConfig('cart', 1)], []);
    const held = new Set<string>();
    follow(channel, {
      sink: new ConfigurationSink(({ upserts, removals }) => {
        for (const { key } of upserts) held.add(key);
        for (const key of removals) held.delete(key);
        return [];
      }),
    });
    await until(() => expect(held.size).toBe(1));
    served = undefined;
    former.publish([], [endpointsConfig('cart', 1).key]);
    former.close();
    await until(() => expect([held.size, former.states()]).toEqual([0, []]));
    served = next;
    const id = next.publish([endpointsConfig('till', 1)], []);
    await until(() => expect(next.states()).toMatchObject([{ acknowledged: id }]));
    expect([...held]).toEqual([endpointsConfig('till', 1).key]);
  });

  test('asks for authorities and token before each attempt, until they fit', async () => {
    const source = new ConfigurationSource();
    const channel = await serve(source);
    const other = await createAuthority();
    const authorities = [other.certificate, '', channel.authority.certificate];
    const tokens = ['old', 'old', 'old'];
    const { sink, connection } = follow(channel, {
      authorities: () => Promise.resolve(authorities.shift() ?? channel.authority.certificate),
      token: () => Promise.resolve(`${tokens.shift() ?? tokenOf(gateway)}\n`),
    });
    await sink.synchronised;
    expect(tokens).toEqual([]);
    expect(connection.isConnected).toBe(true);
  });

  test('survives that files are missing and controllers cannot be reached', async () => {
    const channel = await serve(new ConfigurationSource());
    let attempts = 0;
    const { connection } = follow(channel, {
      token: () => (++attempts < 3 ? Promise.reject(new Error('ENOENT')) : Promise.resolve('x')),
      address: '127.0.0.1:1',
    });
    await until(() => expect(attempts).toBeGreaterThan(4));
    expect(connection.isConnected).toBe(false);
  });

  test('connects to a renewed certificate', async () => {
    const source = new ConfigurationSource();
    const channel = await serve(source);
    const { sink: before } = follow(channel);
    await before.synchronised;
    const renewed = await createAuthority();
    channel.certificate.replace(await issueServingCertificate(renewed, { dnsNames: [], ipAddresses: ['127.0.0.1'] }));
    const { sink: after } = follow(channel, { authorities: () => Promise.resolve(renewed.certificate) });
    await after.synchronised;
    expect(source.states()).toHaveLength(2);
  });
});
