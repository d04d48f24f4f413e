import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Session } from '../../src/core/routing/config.ts';
import { closeBackends, startEcho } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { closeProxies, routeTo, send, startProxy, type Received } from '../support/proxy.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';

const session: Session = { type: 'cookie', identity: 'HTTPRoute/shop/web 0', name: 'app', path: '/', permanent: false };
const keys = [{ id: '00000001', secret: randomBytes(32).toString('base64url'), from: 0 }];
const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

let proxy: Awaited<ReturnType<typeof startProxy>>;
let other: Awaited<ReturnType<typeof startProxy>>;
beforeAll(async () => {
  const ports = (await Promise.all(['a', 'b', 'c'].map((name) => startEcho(name)))).map(({ port }) => port);
  const serving = async (identity: string) => {
    const started = await startProxy([
      endpointsConfig('app', ...ports),
      routeTo('app', { session: { ...session, identity } }),
    ]);
    started.proxy.setSessionKeys(keys);
    return started;
  };
  proxy = await serving(session.identity);
  other = await serving('HTTPRoute/other/web 0');
});
afterAll(closeProxies);
afterAll(closeBackends);

function tokenFrom({ headers }: Received): string {
  return headers['set-cookie']?.[0]?.split(';')[0]?.slice('app='.length) ?? '';
}

/** How often a session was honored for requests with these cookies, which all get an answer. */
async function honored(cookies: readonly string[]): Promise<number> {
  const before = proxy.proxy.counters().sessions.honored;
  for (const cookie of cookies) expect((await send(proxy.port, '/', { headers: { cookie } })).status).toBe(200);
  return proxy.proxy.counters().sessions.honored - before;
}

test('no changed token is a session', async () => {
  const token = tokenFrom(await send(proxy.port, '/'));
  expect(await honored([`app=${token}`])).toBe(1);
  const random = randomFrom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const changes: readonly (() => string)[] = [
    // Another character that changes bits which count: the last one may have unused bits.
    () => {
      const at = below(token.length - 1);
      const before = characters.indexOf(token.charAt(at));
      return `${token.slice(0, at)}${characters[(before + 1 + below(63)) % 64]}${token.slice(at + 1)}`;
    },
    () => token.slice(0, below(token.length)),
    () => token.slice(1 + below(token.length - 1)),
    () => `${token}${token.slice(0, 1 + below(token.length))}`,
    () => randomBytes(1 + below(700)).toString('base64url'),
    () => `${token}${'\u0000\t =,"'.charAt(1 + below(5))}x`,
    () => token.toLowerCase() + String(below(10)),
  ];
  const forged = Array.from(
    { length: scaled(300, 20_000) },
    (_, index) => `app=${changes[index % changes.length]?.()}`,
  );
  expect(await honored(forged)).toBe(0);
}, 300_000);

test('a token of another route is no session, although the key is the same', async () => {
  const foreign = tokenFrom(await send(other.port, '/'));
  expect(foreign).not.toBe('');
  expect(await honored([`app=${foreign}`])).toBe(0);
});

test('only the first tokens of thousands count, and huge ones are ignored', async () => {
  const token = tokenFrom(await send(proxy.port, '/'));
  expect(await honored([`app=1; app=2; app=3; app=${token}`])).toBe(1);
  expect(await honored([`${'app=1; '.repeat(1_500)}app=${token}`, `app=${'A'.repeat(12_000)}`])).toBe(0);
});
