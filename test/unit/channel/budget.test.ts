import { describe, expect, test } from '@jest/globals';
import { configurationLimits, sharedWeightOf, weightOf } from '../../../src/channel/budget.ts';
import { fingerprintOfResource } from '../../../src/channel/bundles.ts';
import type { ChannelResource, ToProxy } from '../../../src/channel/messages.ts';
import { ConfigurationSource } from '../../../src/channel/source.ts';
import type { EndpointsConfig, ListenerConfig, RouteConfig } from '../../../src/core/routing/config.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { routeConfig } from '../../support/routes.ts';

const limits = { routes: 10_000, endpoints: 100_000, listeners: 30_000 };

/** A route of about this many bytes, created on a day of January. */
function route(namespace: string, name: string, { bytes = 1_000, day = 1 } = {}): RouteConfig {
  const own = `${namespace}/${name}`;
  const created = `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  const hostnames = ['h'.repeat(Math.max(0, bytes - 300))];
  return routeConfig(`HTTPRoute/${own}`, { route: own, created, attachments: [{ listener: 'web', hostnames }] });
}

function endpoints(service: string, count: number): EndpointsConfig {
  return endpointsConfig(service, ...Array.from({ length: count }, (_, index) => index + 1));
}

/** A proxy that holds what the messages say. */
function proxyOf(source: ConfigurationSource) {
  const held = new Map<string, ChannelResource>();
  const peer = source.connect('proxy-0', (message: ToProxy) => {
    if (message.type !== 'transaction') return;
    for (const key of message.removals) held.delete(key);
    for (const { digest, resource } of message.upserts) {
      expect(digest).toBe(fingerprintOfResource(resource).digest);
      held.set(resource.key, resource);
    }
    void peer.receive({ type: 'acknowledge', id: message.id, problems: [] });
  });
  void peer.receive({ type: 'hello', digests: {} });
  return held;
}

function started(...resources: readonly ChannelResource[]) {
  const source = new ConfigurationSource(limits);
  const held = proxyOf(source);
  source.publish(resources, []);
  return { source, held, withheld: () => [...source.withheld.keys()].sort() };
}

const keyOf = (name: string): string => `route/HTTPRoute/${name}`;

describe('the configuration of a Gateway', () => {
  test('is limited, and the limits together fit into the queue of a data plane', () => {
    const { routes, endpoints: ofBackends, listeners } = configurationLimits();
    const textOfBackends = ofBackends / weightOf(endpointsConfig('cart'), 1);
    const textOfListeners = listeners / weightOf(listenerConfig('web'), 1);
    expect(routes + textOfBackends + textOfListeners).toBeLessThan(64 * 2 ** 20);
  });

  test('depends on the heap of the data planes, up to a limit', () => {
    const usual = configurationLimits(384 * 2 ** 20);
    expect(configurationLimits(192 * 2 ** 20).routes).toBe(usual.routes / 2);
    expect(configurationLimits(2 ** 40)).toEqual(usual);
    expect(configurationLimits()).toEqual(usual);
  });

  test('new limits withhold what does not fit any more, and send what fits now', () => {
    const { held, source, withheld } = started(route('a', 'one'), route('a', 'two', { day: 2 }));
    source.setLimits({ ...limits, routes: 1_500 });
    expect(withheld()).toEqual([keyOf('a/two')]);
    expect([...held.keys()]).toEqual([keyOf('a/one')]);
    source.setLimits(limits);
    expect(withheld()).toEqual([]);
    expect(held.size).toBe(2);
  });

  test('addresses, certificates and TLS contexts count as much as they take in a data plane', () => {
    expect(weightOf(endpointsConfig('cart', 1, 2, 3), 500)).toBe(1_500 + 2_400);
    const plain = endpointsConfig('cart');
    expect(sharedWeightOf(plain)).toBeUndefined();
    const tls = { serverName: 'cart', subjectAltNames: [], authorities: ['x'.repeat(997), 'y'.repeat(996)] };
    const one = sharedWeightOf({ ...plain, tls });
    expect(one?.bytes).toBe(3 * 2_000 + 2 * 4_000 + 20_000);
    // Each client certificate needs a context of its own, also with the CA certificates of the system.
    const own = sharedWeightOf({ ...plain, tls: { ...tls, clientCertificate: { secret: 'shop/own' } } });
    expect(own?.bytes).toBe(one?.bytes);
    expect(own?.key).not.toBe(one?.key);
    const system = sharedWeightOf({
      ...plain,
      tls: { ...tls, authorities: 'system', clientCertificate: { secret: 'shop/own' } },
    });
    expect(system?.bytes).toBe(20_000);
  });

  test('within the limit, everything is served', () => {
    const { held, source } = started(...Array.from({ length: 9 }, (_, index) => route('a', `r${index}`)));
    expect(source.withheld.size).toBe(0);
    expect(held.size).toBe(9);
  });

  test('beyond it, the newest routes of the namespace with most of them are not served', () => {
    const attacker = Array.from({ length: 20 }, (_, index) => route('attacker', `r${index}`, { day: 20 - index }));
    const { held, source, withheld } = started(route('victim', 'shop', { day: 31 }), ...attacker);
    expect(held.has(keyOf('victim/shop'))).toBe(true);
    expect(held.has(keyOf('attacker/r19'))).toBe(true);
    expect(held.has(keyOf('attacker/r0'))).toBe(false);
    expect(held.size + source.withheld.size).toBe(21);
    expect(source.withheld.get(keyOf('attacker/r0'))).toMatchObject({
      part: 'routes',
      namespace: 'attacker',
      limit: limits.routes,
    });
    expect(withheld().every((key) => key.startsWith('route/HTTPRoute/attacker/'))).toBe(true);
  });

  test('a neighbor can change what it has, although the limit is exceeded', () => {
    const attacker = Array.from({ length: 20 }, (_, index) => route('attacker', `r${index}`));
    const { held, source, withheld } = started(...attacker);
    const before = withheld();
    source.publish([route('victim', 'shop', { bytes: 400 })], []);
    expect(held.get(keyOf('victim/shop'))).toBeDefined();
    source.publish([], [keyOf('victim/shop')]);
    expect(held.has(keyOf('victim/shop'))).toBe(false);
    expect(withheld()).toEqual(before);
  });

  test('old routes that grow cost nobody but their namespace', () => {
    const others = Array.from({ length: 5 }, (_, index) => route(`n${index}`, 'shop', { day: 9 }));
    const { held, source, withheld } = started(route('old', 'one'), ...others);
    source.publish([route('old', 'one', { bytes: 9_000 })], []);
    expect(withheld()).toEqual([keyOf('old/one')]);
    expect(held.size).toBe(5);
    source.publish([route('old', 'one')], []);
    expect(source.withheld.size).toBe(0);
    expect(held.size).toBe(6);
  });

  test('a route that alone is too large takes nothing from others of its namespace', () => {
    const { withheld } = started(route('a', 'huge', { bytes: 20_000 }), route('a', 'small', { day: 9 }));
    expect(withheld()).toEqual([keyOf('a/huge')]);
  });

  test('a change of what is not served is sent to nobody, and reported', () => {
    const { source, held } = started(route('a', 'huge', { bytes: 20_000 }));
    const before = source.withheld;
    const id = source.publish([route('a', 'other', { day: 2 })], []);
    expect(source.withheld).toBe(before);
    expect(source.publish([route('a', 'huge', { bytes: 21_000 })], [])).toBe(id);
    expect(source.withheld).not.toBe(before);
    expect(held.size).toBe(1);
    expect(source.publish([], [keyOf('a/huge')])).toBe(id);
    expect(source.withheld.size).toBe(0);
  });

  test('requests to endpoints beyond the limit get an error, and routes are not affected', () => {
    const { held } = started(endpoints('cart', 400), endpoints('pay', 10), route('shop', 'cart'));
    expect(held.get('endpoints/shop/cart/80')).toMatchObject({ addresses: [], failure: expect.any(String) });
    expect(held.get('endpoints/shop/pay/80')).not.toHaveProperty('failure');
    expect(held.has(keyOf('shop/cart'))).toBe(true);
  });

  test('equal CA certificates count once in a namespace, and again once they change', () => {
    const trusting = (service: string, namespace: string, authorities: readonly string[]): EndpointsConfig => ({
      ...endpointsConfig(service),
      key: `endpoints/${namespace}/${service}/80`,
      tls: { serverName: service, subjectAltNames: [], authorities },
    });
    const [one, other] = ['x'.repeat(4_000), 'y'.repeat(4_000)].map((text) => [text]) as [string[], string[]];
    const many = Array.from({ length: 20 }, (_, index) => trusting(`s${index}`, 'shop', one));
    const { source, withheld } = started(...many, trusting('pay', 'bank', [...one]));
    expect(source.withheld.size).toBe(0);
    source.publish([trusting('s19', 'shop', other)], []);
    expect(withheld()).toEqual(['endpoints/shop/s19/80']);
    source.publish([], ['endpoints/shop/s19/80']);
    source.publish(
      [],
      many.map(({ key }) => key),
    );
    expect(source.withheld.size).toBe(0);
    source.publish([trusting('s0', 'shop', one)], []);
    expect(source.withheld.size).toBe(0);
  });

  test('a listener whose certificate is not sent has the problem', () => {
    const source = new ConfigurationSource(limits);
    const peer = source.connect('proxy-0', () => undefined);
    void peer.receive({ type: 'hello', digests: {} });
    const secret = 'infra/large';
    const tls = { ...listenerConfig('tls'), certificates: [secret] };
    const pair = { certificate: 'c'.repeat(9_000), privateKey: 'k' };
    const certificate: ChannelResource = { kind: 'certificate', key: `certificate/${secret}`, secret, ...pair };
    const id = source.publish([listenerConfig('web'), tls, certificate], []);
    const problems = [{ key: tls.key, message: 'there is no certificate' }];
    void peer.receive({ type: 'acknowledge', id, problems });
    expect(source.states()[0]?.problems).toEqual(
      new Map([[tls.key, expect.stringContaining(`Secret "${secret}" exceeds the share`)]]),
    );
    source.setLimits({ ...limits, listeners: 100_000 });
    void peer.receive({ type: 'acknowledge', id: id + 1, problems: [] });
    expect(source.states()[0]?.problems).toEqual(new Map());
  });

  test('the listeners of a namespace precede its certificates, and a listener that is not served has the problem', () => {
    const source = new ConfigurationSource(limits);
    const listeners = Array.from({ length: 60 }, (_, index): ListenerConfig => listenerConfig(`l${index}`));
    source.publish(
      [
        ...listeners,
        { kind: 'certificate', key: 'certificate/infra/x', secret: 'infra/x', certificate: 'c', privateKey: 'k' },
      ],
      [],
    );
    const held = proxyOf(source);
    expect(held.has('certificate/infra/x')).toBe(false);
    const absent = listeners.filter(({ key }) => !held.has(key)).map(({ key }) => key);
    expect(absent.length).toBeGreaterThan(5);
    expect(absent.length).toBeLessThan(40);
    expect([...(source.states()[0]?.problems.keys() ?? [])].sort()).toEqual(absent.sort());
  });

  test('depends on the resources only, not on the order of changes', () => {
    const seeds = Array.from({ length: 40 }, (_, index) => index);
    const random = (seed: number, modulus: number): number => ((seed * 7_919 + 104_729) % 65_537) % modulus;
    const all = new Map<string, ChannelResource>();
    const source = new ConfigurationSource(limits);
    const held = proxyOf(source);
    for (const seed of seeds) {
      const changed = route(`n${random(seed, 3)}`, `r${random(seed + 1, 9)}`, {
        bytes: 400 + random(seed + 2, 4_000),
        day: 1 + random(seed + 3, 28),
      });
      const gone = keyOf(`n${random(seed + 4, 3)}/r${random(seed + 5, 9)}`);
      source.publish([changed], [gone]);
      all.delete(gone);
      all.set(changed.key, changed);
      const fresh = new ConfigurationSource(limits);
      const freshlyHeld = proxyOf(fresh);
      fresh.publish(all.values(), []);
      expect(new Map(fresh.withheld)).toEqual(new Map(source.withheld));
      expect(Object.fromEntries(freshlyHeld)).toEqual(Object.fromEntries(held));
    }
    expect(source.withheld.size).toBeGreaterThan(0);
  });
});
