import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Session } from '../../../src/core/routing/config.ts';
import { closeBackends, startBackend, startEcho, startHttp2Backend } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { closeHttp2, openHttp2, request } from '../../support/http2.ts';
import { backendOf, closeProxies, routeTo, send, startProxy, type Received, type Sent } from '../../support/proxy.ts';

afterEach(async () => {
  closeHttp2();
  await closeProxies();
  await closeBackends();
});

const session: Session = { type: 'cookie', identity: 'HTTPRoute/shop/web 0', name: 'app', path: '/', permanent: false };
const keys = [{ id: '00000001', secret: randomBytes(32).toString('base64url'), from: 0 }];

interface Seen {
  readonly backend: string;
  readonly fields: readonly string[];
}

function seen({ body }: Received): Seen {
  return JSON.parse(body) as Seen;
}

function cookieFrom({ headers }: Received): string {
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

async function echoes(...names: readonly string[]): Promise<readonly number[]> {
  return (await Promise.all(names.map((name) => startEcho(name)))).map(({ port }) => port);
}

/** A replica with the keys that all of them share. */
async function replica(ports: readonly number[], terms: Session = session) {
  const started = await startProxy([endpointsConfig('app', ...ports), routeTo('app', { session: terms })]);
  started.proxy.setSessionKeys(keys);
  return started;
}

async function backendsOf(port: number, count: number, sent: Sent): Promise<readonly string[]> {
  const answers: string[] = [];
  for (let turn = 0; turn < count; turn += 1) answers.push(seen(await send(port, '/', sent)).backend);
  return [...new Set(answers)];
}

describe('session persistence through a data plane', () => {
  test('a client with its cookie stays at one endpoint, on every replica; others are balanced', async () => {
    const ports = await echoes('a', 'b', 'c');
    const [here, there] = [await replica(ports), await replica(ports)];
    expect((await backendsOf(here.port, 6, {})).toSorted()).toEqual(['a', 'b', 'c']);
    const first = await send(here.port, '/');
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(/^app=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    const headers = { cookie: `theme=dark; ${cookieFrom(first)}` };
    expect(await backendsOf(here.port, 10, { headers })).toEqual([seen(first).backend]);
    expect(await backendsOf(there.port, 10, { headers })).toEqual([seen(first).backend]);
    const again = await send(there.port, '/', { headers });
    expect(again.headers['set-cookie']).toBeUndefined();
    // The specification: gateways should forward the cookie.
    expect(seen(again).fields.join(' ')).toContain(headers.cookie);
    expect(here.proxy.counters().sessions).toMatchObject({ new: 7, honored: 10 });
    expect(there.proxy.counters().sessions).toMatchObject({ new: 0, honored: 11 });
  });

  test('a client stays at its endpoint when others come and go, and moves when it goes', async () => {
    const ports = await echoes('a', 'b', 'c');
    const { port, apply } = await replica(ports);
    const first = await send(port, '/');
    const own = seen(first).backend;
    const headers = { cookie: cookieFrom(first) };
    const index = ['a', 'b', 'c'].indexOf(own);
    const others = ports.filter((_, position) => position !== index);
    await apply(endpointsConfig('app', ports[index] ?? 0, others[0] ?? 0));
    expect(await backendsOf(port, 5, { headers })).toEqual([own]);
    await apply(endpointsConfig('app', ...others));
    const moved = await send(port, '/', { headers });
    expect(seen(moved).backend).not.toBe(own);
    expect(await backendsOf(port, 5, { headers: { cookie: cookieFrom(moved) } })).toEqual([seen(moved).backend]);
  });

  test('where its endpoint does not accept connections, the client moves within the same request', async () => {
    const [kept = 0] = await echoes('kept');
    const leaving = await startEcho('leaving');
    const { port, apply } = await replica([leaving.port]);
    const headers = { cookie: cookieFrom(await send(port, '/')) };
    await apply(endpointsConfig('app', kept, leaving.port));
    await leaving.close();
    const moved = await send(port, '/', { headers });
    expect([moved.status, seen(moved).backend]).toEqual([200, 'kept']);
    expect(moved.headers['set-cookie']).toHaveLength(1);
  });

  test('the choice among backends is left to their weights; the client has one endpoint at each', async () => {
    const [a = 0, b = 0, c = 0, d = 0] = await echoes('one-a', 'one-b', 'two-a', 'two-b');
    const backends = [backendOf('one', { weight: 3 }), backendOf('two', { weight: 1 })];
    const { port, proxy } = await startProxy([
      endpointsConfig('one', a, b),
      endpointsConfig('two', c, d),
      routeTo('one', { session, backends }),
    ]);
    proxy.setSessionKeys(keys);
    let cookie = '';
    const answers: string[] = [];
    for (let turn = 0; turn < 40; turn += 1) {
      const answer = await send(port, '/', cookie === '' ? {} : { headers: { cookie } });
      cookie = cookieFrom(answer) || cookie;
      answers.push(seen(answer).backend);
    }
    expect(new Set(answers).size).toBe(2);
    expect(answers.filter((name) => name.startsWith('one')).length).toBe(30);
  });

  test.each(['app=', 'app=forged', `app=${'A'.repeat(4000)}`, 'app', '=', 'app="x"', 'APP=1', 'app=%00%0d%0a'])(
    'a cookie that is none is ignored and forwarded: %s',
    async (cookie) => {
      const { port } = await replica(await echoes('a'));
      const answer = await send(port, '/', { headers: { cookie } });
      expect([answer.status, cookieFrom(answer)]).toEqual([200, expect.stringMatching(/^app=[\w-]{40,}$/)]);
      expect(seen(answer).fields.join(' ')).toContain(cookie);
    },
  );

  test('the cookies of the backend stay beside it, and a header serves as well', async () => {
    const backend = await startBackend((_request, response) =>
      response.writeHead(200, { 'set-cookie': ['theme=dark', 'app=own'] }).end('{"backend":"b"}'),
    );
    const { port } = await replica([backend.port]);
    expect((await send(port, '/')).headers['set-cookie']).toEqual([
      'theme=dark',
      'app=own',
      expect.stringMatching(/^app=[\w-]{40,};/),
    ]);
    const ports = await echoes('a', 'b');
    const other = await replica(ports, { type: 'header', identity: 'r', name: 'X-Session' });
    const first = await send(other.port, '/');
    const headers = { 'x-session': String(first.headers['x-session']) };
    expect(await backendsOf(other.port, 6, { headers })).toEqual([seen(first).backend]);
    expect((await send(other.port, '/', { headers })).headers['x-session']).toBeUndefined();
  });

  test('without keys, and for rules without it, no cookie is set', async () => {
    const [a = 0] = await echoes('a');
    const { port, proxy, apply } = await startProxy([endpointsConfig('app', a), routeTo('app', { session })]);
    expect((await send(port, '/')).headers['set-cookie']).toBeUndefined();
    proxy.setSessionKeys(keys);
    expect((await send(port, '/')).headers['set-cookie']).toHaveLength(1);
    await apply(routeTo('app'));
    expect((await send(port, '/')).headers['set-cookie']).toBeUndefined();
  });

  test('gRPC calls over one HTTP/2 connection keep a session by header, and their status', async () => {
    const answering = (name: string): Promise<{ readonly port: number }> =>
      startHttp2Backend((stream) => {
        stream.resume();
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(name);
      });
    const backends = await Promise.all(['a', 'b', 'c'].map(answering));
    const { port } = await replica(
      backends.map((backend) => backend.port),
      { type: 'header', identity: 'GRPCRoute/shop/web 0', name: 'X-Session' },
    );
    const call = { ':method': 'POST', ':path': '/shop.Cart/Add', 'content-type': 'application/grpc', te: 'trailers' };
    const client = openHttp2(port);
    const first = await request(client, call, 'x');
    const headers = { ...call, 'x-session': String(first.headers['x-session']) };
    for (let turn = 0; turn < 6; turn += 1) {
      const answer = await request(client, headers, 'x');
      expect([answer.body, answer.trailers['grpc-status']]).toEqual([first.body, '0']);
      expect(answer.headers['x-session']).toBeUndefined();
    }
  });
});
