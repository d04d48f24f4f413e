import { describe, expect, test } from '@jest/globals';
import { Endpoint, EndpointRegistry, EndpointSet } from '../../../../src/proxy/upstream/endpoints.ts';
import type { Upstream } from '../../../../src/proxy/messages/forwarder.ts';
import { endpointsConfig } from '../../../support/config.ts';

const [a, b, c] = ['a:1', 'b:1', 'c:1'] as const;

const endpointAt = (address: string): Endpoint => new Endpoint(address.split(':')[0] ?? '', 1);

describe('a set of endpoints', () => {
  test('is taken in turn', () => {
    const set = new EndpointSet([a, b, c].map((address) => endpointAt(address)));
    expect([0, 1, 2, 3].map(() => set.pick([], 0)?.address)).toEqual([a, b, c, a]);
  });

  test('offers each endpoint once for one request', () => {
    const set = new EndpointSet([a, b].map((address) => endpointAt(address)));
    const tried: Endpoint[] = [];
    for (let endpoint = set.pick(tried, 0); endpoint !== undefined; endpoint = set.pick(tried, 0)) tried.push(endpoint);
    expect(tried.map(({ address }) => address)).toEqual([a, b]);
  });

  test('empty: nothing', () => {
    expect(new EndpointSet([]).pick([], 0)).toBeUndefined();
  });

  test('leaves suspended ones out as long as there are others', () => {
    const endpoints = [a, b].map((address) => endpointAt(address));
    const set = new EndpointSet(endpoints);
    endpoints[0]?.connectFailed(100);
    expect([0, 1, 2].map(() => set.pick([], 100)?.address)).toEqual([b, b, b]);
    endpoints[1]?.connectFailed(100);
    expect(set.pick([], 100)).toBeDefined();
    expect(new Set([0, 1].map(() => set.pick([], 1_100)?.address))).toEqual(new Set([a, b]));
  });
});

describe('a set whose endpoints are all suspended', () => {
  const suspended = (): Endpoint[] =>
    [a, b, c].map((address) => {
      const endpoint = endpointAt(address);
      endpoint.connectFailed(0);
      return endpoint;
    });

  test('offers them in turn', () => {
    const set = new EndpointSet(suspended());
    expect([0, 1, 2, 3].map(() => set.pick([], 0)?.address)).toEqual([a, b, c, a]);
  });

  test('compares only the next one with those that were tried', () => {
    let comparisons = 0;
    const tried = Object.assign(new Array<Endpoint>(), {
      includes: () => {
        comparisons += 1;
        return false;
      },
    });
    expect(new EndpointSet(suspended()).pick(tried, 0)?.address).toBe(a);
    expect(comparisons).toBe(1);
  });

  test('offers one request each of them once', () => {
    const endpoints = suspended();
    const set = new EndpointSet(endpoints);
    const tried: Endpoint[] = [];
    for (let endpoint = set.pick(tried, 0); endpoint !== undefined; endpoint = set.pick(tried, 0)) tried.push(endpoint);
    expect(new Set(tried)).toEqual(new Set(endpoints));
    expect(tried).toHaveLength(endpoints.length);
  });
});

describe('the suspension of an endpoint', () => {
  test('doubles with each failure in a row, up to ten seconds', () => {
    const endpoint = endpointAt(a);
    const lengths = [1, 2, 3, 4, 5, 6].map(() => {
      endpoint.connectFailed(0);
      return [1_000, 2_000, 4_000, 8_000, 10_000, 60_000].find((time) => !endpoint.isSuspended(time));
    });
    expect(lengths).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  test('ends with a connection, and its length begins anew', () => {
    const endpoint = endpointAt(a);
    endpoint.connectFailed(0);
    endpoint.connectFailed(0);
    endpoint.connected();
    expect(endpoint.isSuspended(0)).toBe(false);
    endpoint.connectFailed(0);
    expect(endpoint.isSuspended(1_000)).toBe(false);
  });
});

describe('the connections to an endpoint over TLS', () => {
  const tls = { serverName: 'a.example', subjectAltNames: [], authorities: 'system' as const };
  const [one, other] = [
    { cert: 'one', key: 'k' },
    { cert: 'other', key: 'k' },
  ];
  const nobody = (): undefined => undefined;

  function secureEndpoint(): { endpoint: Endpoint; released: Upstream[] } {
    const released: Upstream[] = [];
    return { endpoint: new Endpoint('a', 1, { tls }, (upstream) => released.push(upstream)), released };
  }

  test('are those of an identity', () => {
    const { endpoint, released } = secureEndpoint();
    const first = endpoint.upstream('shop/front', () => one);
    expect(first).toMatchObject({ host: 'a', port: 1, tls: { ...tls, client: one } });
    expect(endpoint.upstream('shop/front', () => ({ ...one }))).toBe(first);
    expect(endpoint.upstream('shop/back', () => other)).not.toBe(first);
    expect(endpoint.upstream('shop/front', () => one)).toBe(first);
    expect(released).toEqual([]);
  });

  test('go when their Gateway proves itself by another certificate, or by none', () => {
    const { endpoint, released } = secureEndpoint();
    const first = endpoint.upstream('shop/front', () => one);
    const theirs = endpoint.upstream('shop/back', () => one);
    const second = endpoint.upstream('shop/front', () => other);
    expect(released).toEqual([first]);
    const anonymous = endpoint.upstream('shop/front', nobody);
    expect(released).toEqual([first, second]);
    expect(anonymous.tls).toEqual(tls);
    endpoint.release();
    expect(released).toEqual([first, second, anonymous, theirs]);
  });

  test('are those of the certificate of the backend, not of the Gateway', () => {
    const secret = 'shop/partner';
    const certificates: Record<string, typeof one> = { 'shop/gateway': other, [secret]: one };
    const identity = (name = 'shop/gateway'): typeof one | undefined => certificates[name];
    const endpoint = new Endpoint('a', 1, { tls: { ...tls, clientCertificate: { secret } } });
    expect(endpoint.upstream('shop/front', identity).tls?.client).toBe(one);
    const anonymous = new Endpoint('a', 1, { tls: { ...tls, clientCertificate: 'none' } });
    expect(anonymous.upstream('shop/front', identity).tls?.client).toBeUndefined();
    expect(new Endpoint('a', 1, { tls }).upstream('shop/front', identity).tls?.client).toBe(other);
  });

  test('are released at once if their endpoint is', () => {
    const { endpoint, released } = secureEndpoint();
    endpoint.release();
    expect(released).toEqual([]);
    const upstreams = [endpoint.upstream('shop/front', () => one), endpoint.upstream('shop/front', nobody)];
    expect(new Set(released)).toEqual(new Set(upstreams));
  });

  test('are the same for all where there is no TLS', () => {
    const plain = new Endpoint('a', 1);
    expect(plain.upstream('shop/front', () => one)).toBe(plain.upstream('shop/back', nobody));
  });
});

describe('the registry', () => {
  /** Does what a request to each endpoint of a set does. */
  function use(registry: EndpointRegistry, service: string): void {
    for (const endpoint of registry.get(endpointsConfig(service).key)?.all() ?? []) {
      endpoint.upstream('shop/front', () => undefined);
    }
  }

  test('shares an endpoint among sets, with its health, and lets it go with the last one', () => {
    const released: string[] = [];
    const registry = new EndpointRegistry(({ host, port }) => released.push(`${host}:${port}`));
    registry.upsert(endpointsConfig('one', 1, 2));
    registry.upsert(endpointsConfig('two', 2));
    use(registry, 'one');
    registry.get(endpointsConfig('one').key)?.all()[1]?.connectFailed(0);
    expect(registry.get(endpointsConfig('two').key)?.all()[0]?.isSuspended(0)).toBe(true);
    registry.upsert(endpointsConfig('one', 3));
    expect(released).toEqual(['127.0.0.1:1']);
    registry.remove(endpointsConfig('two').key);
    expect(released).toEqual(['127.0.0.1:1', '127.0.0.1:2']);
    registry.remove(endpointsConfig('two').key);
    expect(registry.get(endpointsConfig('two').key)).toBeUndefined();
  });

  test('keeps an endpoint that a set holds before and after', () => {
    const released: string[] = [];
    const registry = new EndpointRegistry(({ host, port }) => released.push(`${host}:${port}`));
    registry.upsert(endpointsConfig('one', 1));
    use(registry, 'one');
    const before = registry.get(endpointsConfig('one').key)?.all()[0];
    registry.upsert(endpointsConfig('one', 1, 1, 2));
    expect(registry.get(endpointsConfig('one').key)?.all()[0]).toBe(before);
    registry.upsert(endpointsConfig('one', 2));
    expect(released).toEqual(['127.0.0.1:1']);
  });

  // Replacing 48,000 addresses of a Service was one long step.
  // Endpoints that became ready or unready all the time sent every request to the first ones.
  test('continues in turn when the endpoints or their settings change', () => {
    const registry = new EndpointRegistry(() => undefined);
    const config = endpointsConfig('app', 1, 2, 3, 4);
    const next = (changed: typeof config): string | undefined => {
      registry.upsert(changed);
      return registry.get(config.key)?.pick([], 0)?.address.split(':')[1];
    };
    expect([1, 2, 3, 4, 5].map(() => next(config))).toEqual(['1', '2', '3', '4', '1']);
    // The second one is the next.
    expect(next(endpointsConfig('app', 2, 3, 4))).toBe('2');
    expect(next(endpointsConfig('app', 1, 2, 3, 4))).toBe('3');
    expect(next({ ...config, protocol: 'h2c' })).toBe('4');
    expect(next(endpointsConfig('app', 7, 8))).toBe('7');
    expect(next(endpointsConfig('app'))).toBeUndefined();
    expect(next(config)).toBe('1');
  });

  test('releases only the upstreams that requests have used', () => {
    const released: string[] = [];
    const registry = new EndpointRegistry(({ host, port }) => released.push(`${host}:${port}`));
    registry.upsert(endpointsConfig('one', 1, 2, 3));
    registry
      .get(endpointsConfig('one').key)
      ?.all()[1]
      ?.upstream('shop/front', () => undefined);
    registry.remove(endpointsConfig('one').key);
    expect(released).toEqual(['127.0.0.1:2']);
  });

  test('tells endpoints apart by the manner of speaking to them', () => {
    const registry = new EndpointRegistry(() => undefined);
    const tls = { serverName: 'a.example', subjectAltNames: [], authorities: 'system' as const };
    for (const [service, manner] of Object.entries({
      plain: {},
      again: {},
      h2c: { protocol: 'h2c' as const },
      tls: { tls },
    })) {
      registry.upsert({ ...endpointsConfig(service, 1), ...manner });
    }
    const [plain, again, h2c, secure] = ['plain', 'again', 'h2c', 'tls'].map(
      (service) => registry.get(endpointsConfig(service).key)?.all()[0],
    );
    expect(again).toBe(plain);
    expect(new Set([plain, h2c, secure]).size).toBe(3);
  });

  // Each address kept a copy of them: 500 addresses with CA certificates of 512 KiB took more than the memory of a pod.
  test('reads the CA certificates of endpoints once, and does not keep them for each address', () => {
    let reads = 0;
    const certificates = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(1_000, 'c'));
    const authorities = Object.assign([...certificates], {
      toJSON: () => {
        reads += 1;
        return certificates;
      },
    });
    const keys: string[] = [];
    const threaded = { thread: 0, threads: 2, suspended: (key: string) => void keys.push(key) };
    const registry = new EndpointRegistry(() => undefined, undefined, threaded);
    const tls = { serverName: 'a.example', subjectAltNames: [], authorities };
    const config = { ...endpointsConfig('app', 1, 2, 3), tls };
    registry.upsert(config);
    const endpoints = registry.get(config.key)?.all() ?? [];
    for (const endpoint of endpoints) endpoint.connectFailed(0);
    expect(new Set(keys).size).toBe(3);
    expect(keys.join('').length).toBeLessThan(1_000);
    expect(reads).toBe(1);
    registry.upsert({ ...config, tls: { ...tls, authorities: [...certificates] } });
    expect(registry.get(config.key)?.all()[0]).toBe(endpoints[0]);
    registry.upsert({ ...config, tls: { ...tls, authorities: certificates.slice(1) } });
    expect(registry.get(config.key)?.all()[0]).not.toBe(endpoints[0]);
  });

  test('writes IPv6 addresses with brackets', () => {
    const registry = new EndpointRegistry(() => undefined);
    registry.upsert({ kind: 'endpoints', key: 'endpoints/shop/six/80', addresses: [{ host: 'fd00::1', port: 80 }] });
    expect(registry.get('endpoints/shop/six/80')?.all()[0]?.address).toBe('[fd00::1]:80');
  });
});
