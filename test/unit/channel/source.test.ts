import { describe, expect, test } from '@jest/globals';
import { capabilities, tooOld } from '../../../src/channel/capabilities.ts';
import { digestOf } from '../../../src/channel/digest.ts';
import type { ToProxy } from '../../../src/channel/messages.ts';
import { ConfigurationSource } from '../../../src/channel/source.ts';
import { maxProblemCharacters } from '../../../src/channel/wire.ts';
import { authorizedBy } from '../../support/authorization.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { prefixRule, webRoute } from '../../support/proxy.ts';
import { routeConfig } from '../../support/routes.ts';

function session(source: ConfigurationSource, name = 'proxy-0') {
  const sent: ToProxy[] = [];
  return { sent, peer: source.connect(name, (message) => sent.push(message)) };
}

describe('a source', () => {
  test('sends nothing before hello', () => {
    const source = new ConfigurationSource();
    const { sent, peer } = session(source);
    source.publish([listenerConfig('web')], []);
    expect(sent).toEqual([]);
    void peer.receive({ type: 'hello', digests: {} });
    expect(sent.map(({ type, id }) => [type, id])).toEqual([
      ['transaction', 1],
      ['end', 1],
    ]);
  });

  test('answers a hello that lacks nothing with the end mark alone', () => {
    const source = new ConfigurationSource();
    const web = listenerConfig('web');
    source.publish([web], []);
    const { sent, peer } = session(source);
    void peer.receive({ type: 'hello', digests: { [web.key]: digestOf(web) } });
    expect(sent).toEqual([{ type: 'end', id: 1 }]);
  });

  test('removes what a proxy holds and nobody knows, users first', () => {
    const source = new ConfigurationSource();
    const { sent, peer } = session(source);
    const stale = ['endpoints/a/b/80', 'listener/a/b/c', 'novelty/a', 'route/a/b', 'nonsense'];
    void peer.receive({ type: 'hello', digests: Object.fromEntries(stale.map((key) => [key, 'x'])) });
    expect(sent[0]).toMatchObject({
      removals: ['novelty/a', 'nonsense', 'route/a/b', 'listener/a/b/c', 'endpoints/a/b/80'],
    });
  });

  test('a key both removed and upserted stays; of two upserts the last counts', () => {
    const source = new ConfigurationSource();
    const { sent, peer } = session(source);
    void peer.receive({ type: 'hello', digests: {} });
    const [one, two] = [endpointsConfig('cart', 1), endpointsConfig('cart', 2)];
    source.publish([one, two], [one.key]);
    expect(sent.at(-1)).toEqual({
      type: 'transaction',
      id: 1,
      upserts: [{ digest: digestOf(two), resource: two }],
      removals: [],
    });
    expect(source.publish([one, two], [one.key])).toBe(1);
  });

  test('believes no acknowledgement of what it did not send, and none that goes back', () => {
    const source = new ConfigurationSource();
    const { peer } = session(source);
    void peer.receive({ type: 'acknowledge', id: 0, problems: [] });
    void peer.receive({ type: 'hello', digests: {} });
    source.publish([listenerConfig('web')], []);
    void peer.receive({ type: 'acknowledge', id: 9, problems: [] });
    expect(source.states()).toEqual([
      { name: 'proxy-0', sent: 1, acknowledged: undefined, problems: new Map(), isOutdated: false },
    ]);
    void peer.receive({ type: 'acknowledge', id: 1, problems: [] });
    void peer.receive({ type: 'acknowledge', id: 0, problems: [{ key: 'k', message: 'm' }] });
    expect(source.states()).toEqual([
      { name: 'proxy-0', sent: 1, acknowledged: 1, problems: new Map(), isOutdated: false },
    ]);
  });

  test('tells who lags behind', () => {
    const source = new ConfigurationSource();
    const quick = session(source, 'quick');
    const slow = session(source, 'slow');
    for (const { peer } of [quick, slow]) void peer.receive({ type: 'hello', digests: {} });
    const id = source.publish([routeConfig('shop/cart')], []);
    void quick.peer.receive({ type: 'acknowledge', id, problems: [] });
    expect(source.laggards(id).map(({ name }) => name)).toEqual(['slow']);
    slow.peer.close();
    void slow.peer.receive({ type: 'acknowledge', id, problems: [] });
    expect(source.states().map(({ name }) => name)).toEqual(['quick']);
    expect(source.laggards(id)).toEqual([]);
  });
});

describe('a proxy that does not know the filters that protect', () => {
  const guarded = listenerConfig('web', { hostname: 'shop.example.com', filters: [authorizedBy('auth')] });
  const open = listenerConfig('web', { hostname: 'shop.example.com' });
  const withheld = { ...open, key: `${open.key}/withheld` };

  function old(source: ConfigurationSource, digests: Readonly<Record<string, string>> = {}) {
    const opened = session(source, 'old');
    void opened.peer.receive({ type: 'hello', digests });
    return opened;
  }

  test('gets a listener with filters under a key that no route names', () => {
    const source = new ConfigurationSource();
    source.publish([guarded, listenerConfig('other')], []);
    const { sent } = old(source, { [open.key]: digestOf(open) });
    expect(sent[0]).toMatchObject({
      upserts: [{ digest: digestOf(withheld), resource: withheld }, { resource: listenerConfig('other') }],
      removals: [open.key],
    });
    // It holds that already when it reconnects.
    const held = {
      [withheld.key]: digestOf(withheld),
      'listener/infra/gateway/other': digestOf(listenerConfig('other')),
    };
    expect(old(source, held).sent).toEqual([{ type: 'end', id: 1 }]);
  });

  test('gets a listener that is invalid the same way, and the listener itself without the failure', () => {
    const source = new ConfigurationSource();
    const { sent } = old(source);
    source.publish([listenerConfig('web', { hostname: 'shop.example.com', failure: 'no such filter' })], []);
    expect(sent.at(-1)).toMatchObject({ upserts: [{ resource: withheld }], removals: [open.key] });
    source.publish([open], []);
    expect(sent.at(-1)).toMatchObject({ upserts: [{ resource: open }], removals: [withheld.key] });
    source.publish([], [open.key]);
    expect(sent.at(-1)).toMatchObject({ upserts: [], removals: [open.key, withheld.key] });
  });

  test('gets a rule with ExternalAuth as a failure, and other rules unchanged', () => {
    const source = new ConfigurationSource();
    const { sent } = old(source);
    const route = webRoute(prefixRule('/admin', [authorizedBy('auth')]), prefixRule('/', []));
    source.publish([route], []);
    const [admin, rest] = route.rules;
    expect(sent.at(-1)).toMatchObject({
      upserts: [{ resource: { ...route, rules: [{ ...admin, failure: tooOld, filters: [], backends: [] }, rest] } }],
    });
  });

  test('has the problem in its state until the configuration is safe for it', () => {
    const source = new ConfigurationSource();
    const { peer } = old(source);
    source.publish([guarded], []);
    void peer.receive({ type: 'acknowledge', id: 1, problems: [] });
    expect(source.states()).toMatchObject([{ problems: new Map([[guarded.key, tooOld]]), isOutdated: true }]);
    source.publish([open], []);
    void peer.receive({ type: 'acknowledge', id: 2, problems: [] });
    expect(source.states()).toMatchObject([{ problems: new Map(), isOutdated: false }]);
  });

  test('has one route among its problems, which is another one when the first needs no permission any more', () => {
    const source = new ConfigurationSource();
    const { peer } = old(source);
    const [first, second] = ['shop/one', 'shop/two'].map((name) => ({
      ...routeConfig(name),
      rules: [prefixRule('/', [authorizedBy('auth')])],
    }));
    source.publish([first!, second!], []);
    void peer.receive({ type: 'acknowledge', id: 1, problems: [] });
    expect(source.states()).toMatchObject([{ problems: new Map([[first!.key, tooOld]]) }]);
    source.publish([routeConfig('shop/one')], []);
    void peer.receive({ type: 'acknowledge', id: 2, problems: [] });
    expect(source.states()).toMatchObject([{ problems: new Map([[second!.key, tooOld]]) }]);
    source.publish([], [second!.key]);
    void peer.receive({ type: 'acknowledge', id: 3, problems: [] });
    expect(source.states()).toMatchObject([{ problems: new Map() }]);
  });

  test('acknowledges without a look at every resource', () => {
    const source = new ConfigurationSource();
    const { peer } = old(source);
    let reads = 0;
    const routes = Array.from({ length: 100 }, (_, index) => ({
      ...routeConfig(`shop/route-${index}`),
      get rules() {
        reads += 1;
        return [prefixRule('/', [authorizedBy('auth')])];
      },
    }));
    source.publish(routes, []);
    reads = 0;
    void peer.receive({ type: 'acknowledge', id: 1, problems: [] });
    expect(source.states()[0]?.problems.size).toBe(1);
    expect(reads).toBe(0);
  });

  test('is told apart by its hello: one that knows them gets everything', () => {
    const source = new ConfigurationSource();
    source.publish([guarded], []);
    const { sent, peer } = session(source);
    void peer.receive({ type: 'hello', digests: {}, capabilities: [...capabilities, 'novelty'] });
    expect(sent[0]).toMatchObject({ upserts: [{ digest: digestOf(guarded), resource: guarded }], removals: [] });
  });
});

describe('the problems that a source keeps', () => {
  const web = listenerConfig('web');

  function reporting(source: ConfigurationSource, name: string, ...problems: { key: string; message: string }[]) {
    const { sent, peer } = session(source, name);
    void peer.receive({ type: 'hello', digests: {} });
    void peer.receive({ type: 'acknowledge', id: sent.at(-1)?.id ?? 0, problems });
    return peer;
  }

  function characters(source: ConfigurationSource): number {
    return source.states().reduce((sum, { problems }) => sum + [...problems.values()].join('').length, 0);
  }

  test('are those of resources that exist', () => {
    const source = new ConfigurationSource();
    source.publish([web], []);
    const message = 'port is taken';
    const others = ['listener/a/b/c', 'endpoints/a/b/80', '__proto__'].map((key) => ({ key, message }));
    reporting(source, 'proxy-0', ...others, { key: web.key, message });
    expect(source.states()[0]?.problems).toEqual(new Map([[web.key, message]]));
  });

  test('have printable messages of limited length, because they appear in conditions', () => {
    const source = new ConfigurationSource();
    source.publish([web], []);
    reporting(source, 'proxy-0', { key: web.key, message: `\u001b[2J\u202e${'m'.repeat(100_000)}` });
    const [message = ''] = source.states()[0]?.problems.values() ?? [];
    expect(message).toMatch(/^\\u001b\[2J\\u202em+…$/);
    expect(message.length).toBeLessThan(1_100);
  });

  test('have a limited size for all proxies together, and there is room again when some are gone', () => {
    const source = new ConfigurationSource();
    source.publish([web], []);
    const problem = { key: web.key, message: 'm'.repeat(1_000) };
    const peers = Array.from({ length: 1_000 }, (_, number) => reporting(source, `proxy-${number}`, problem));
    expect(characters(source)).toBeGreaterThan(400_000);
    expect(characters(source)).toBeLessThanOrEqual(maxProblemCharacters);
    for (const peer of peers) peer.close();
    reporting(source, 'proxy-0', problem);
    expect(characters(source)).toBe(1_000);
  });
});
