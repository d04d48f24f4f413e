import { afterEach, describe, expect, test } from '@jest/globals';
import type { ConfigResource, EndpointsConfig } from '../../../src/core/routing/config.ts';
import { parseNetworks } from '../../../src/core/text/proxy-protocol.ts';
import type { AddressRange } from '../../../src/core/text/ip-address.ts';
import type { ProxyLimits } from '../../../src/proxy/limits/limits.ts';
import type { NameReport } from '../../../src/proxy/upstream/external-names.ts';
import { dnsLookup } from '../../../src/proxy/upstream/name-lookup.ts';
import { closeBackends, startBackend, startEcho } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { closeDnsServers, DnsServer } from '../../support/dns-server.ts';
import { eventually } from '../../support/eventually.ts';
import { closeProxies, routeTo, send, startProxy, type ProxyUnderTest } from '../../support/proxy.ts';

afterEach(closeProxies);
afterEach(closeBackends);
afterEach(closeDnsServers);

const name = 'api.example.com';

function external(port: number, hostname = name): EndpointsConfig {
  return { ...endpointsConfig('app'), external: { hostname, port } };
}

interface Setting {
  readonly allowed?: string;
  readonly limits?: Partial<ProxyLimits>;
}

interface Started extends ProxyUnderTest {
  readonly reports: NameReport[];
}

async function start(
  dns: DnsServer,
  resources: readonly ConfigResource[],
  { allowed, limits }: Setting = {},
): Promise<Started> {
  const reports: NameReport[] = [];
  const usual = { nameRefreshMin: 20, nameTimeout: 200, namePreparation: 5_000 };
  const started = await startProxy(resources, {
    lookup: dnsLookup(usual.nameTimeout, [dns.address]),
    internalBackendNetworks: networks(allowed),
    limits: { ...usual, ...limits },
    nameReport: (report) => reports.push(report),
  });
  return { ...started, reports };
}

function networks(text: string | undefined): readonly AddressRange[] {
  const parsed = text === undefined ? undefined : parseNetworks(text);
  return parsed?.ok === true ? parsed.value : [];
}

const loopback = '127.0.0.0/8';

describe('the name of an external backend', () => {
  test('is resolved before the first request', async () => {
    const dns = await DnsServer.start();
    dns.zone.set(name, { addresses: ['127.0.0.1'], ttl: 60 });
    const { port } = await startEcho();
    const started = await start(dns, [external(port), routeTo('app')], { allowed: loopback });
    expect((await send(started.port, '/')).status).toBe(200);
    expect(started.log).toMatchObject([{ status: 200, upstream: `127.0.0.1:${port}` }]);
    // One for each family: the TTL has not passed.
    expect(dns.queries).toEqual([name, name]);
  });

  test.each([
    ['127.0.0.1'],
    ['10.96.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:10.0.0.1'],
    ['64:ff9b::a9fe:a9fe'],
    ['fd00:ec2::254'],
  ])('that has the internal address %s is not used', async (address) => {
    const dns = await DnsServer.start();
    dns.zone.set(name, { addresses: [address], ttl: 60 });
    const { port } = await startEcho();
    const { port: front, log, proxy, reports } = await start(dns, [external(port), routeTo('app')]);
    const answer = await send(front, '/');
    expect(answer).toMatchObject({
      status: 503,
      body: '503 Service Unavailable\nThe address of the backend is not permitted.\n',
    });
    expect(log).toMatchObject([{ reason: 'internal-address' }]);
    expect(log[0]).not.toHaveProperty('upstream');
    expect(proxy.counters()).toMatchObject({ upstreamAttempts: 0, names: { internalAddresses: 1 } });
    expect(reports).toEqual([{ hostname: name, problem: expect.stringContaining('internal addresses refused: ') }]);
  });

  test('that changes to an internal address is no longer used, not even by kept connections', async () => {
    const dns = await DnsServer.start();
    dns.zone.set(name, { addresses: ['127.0.0.1'] });
    const { port } = await startEcho();
    const started = await start(dns, [external(port), routeTo('app')], { allowed: '127.0.0.1' });
    expect((await send(started.port, '/')).status).toBe(200);
    dns.zone.set(name, { addresses: ['127.0.0.2'] });
    await eventually(() => expect(started.proxy.counters().names.internalAddresses).toBeGreaterThan(0));
    expect((await send(started.port, '/')).status).toBe(503);
    expect(started.log.at(-1)).toMatchObject({ reason: 'internal-address' });
    dns.zone.set(name, { addresses: ['127.0.0.1'] });
    await eventually(async () => expect((await send(started.port, '/')).status).toBe(200));
    expect(started.reports.map(({ problem }) => problem)).toEqual(['internal addresses refused: 127.0.0.2', '']);
  });

  test('that has external and internal addresses is used with the external ones only', async () => {
    const dns = await DnsServer.start();
    dns.zone.set(name, { addresses: ['127.0.0.2', '127.0.0.1', '127.0.0.3'], ttl: 60 });
    const { port } = await startEcho();
    const started = await start(dns, [external(port), routeTo('app')], { allowed: '127.0.0.1' });
    for (let turn = 0; turn < 4; turn += 1) expect((await send(started.port, '/')).status).toBe(200);
    expect(new Set(started.log.map(({ upstream }) => upstream))).toEqual(new Set([`127.0.0.1:${port}`]));
  });

  test('that has thousands of addresses costs the check of some of them', async () => {
    const dns = await DnsServer.start();
    const addresses = Array.from({ length: 3_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    dns.zone.set(name, { addresses: [...addresses, ...addresses.slice(0, 100)], ttl: 60 });
    const started = await start(dns, [external(80), routeTo('app')]);
    expect((await send(started.port, '/')).status).toBe(503);
    expect(started.proxy.counters().names).toMatchObject({ nameLookups: 1, internalAddresses: 64 });
  });

  test('follows a change of addresses', async () => {
    const dns = await DnsServer.start();
    dns.zone.set(name, { addresses: ['127.0.0.1'] });
    const { port } = await startEcho();
    const started = await start(dns, [external(port), routeTo('app')], { allowed: loopback });
    expect((await send(started.port, '/')).status).toBe(200);
    dns.zone.set(name, { addresses: ['127.0.0.9'] });
    await eventually(async () => {
      await send(started.port, '/');
      expect(started.log.at(-1)).toMatchObject({ upstream: `127.0.0.9:${port}` });
    });
  });

  test.each([['silent' as const], [{ code: 'SERVFAIL' as const }]])(
    'keeps its last addresses while servers fail: %j',
    async (failure) => {
      const dns = await DnsServer.start();
      dns.zone.set(name, { addresses: ['127.0.0.1'] });
      const { port } = await startEcho();
      const started = await start(dns, [external(port), routeTo('app')], {
        allowed: loopback,
        limits: { nameTimeout: 50 },
      });
      dns.zone.set(name, failure);
      await eventually(() => expect(started.proxy.counters().names.nameFailures).toBeGreaterThan(1));
      expect((await send(started.port, '/')).status).toBe(200);
      expect(started.reports).toEqual([{ hostname: name, problem: expect.stringContaining('the lookup failed') }]);
    },
  );

  test('keeps its last addresses of a family while only the lookup of that family fails', async () => {
    const dns = await DnsServer.start();
    dns.zone.set(name, { addresses: ['127.0.0.1'] });
    const { port } = await startEcho();
    const started = await start(dns, [external(port), routeTo('app')], { allowed: `${loopback}, ::1` });
    // Nobody listens on the IPv6 address. The TTL does not delay the next lookup.
    dns.zone.set(name, { addresses: ['127.0.0.1', '::1'], ttl: 60, failing: 'A' });
    await eventually(() => expect(started.proxy.counters().names.nameFailures).toBeGreaterThan(2));
    expect((await send(started.port, '/')).status).toBe(200);
    expect(started.log.at(-1)).toMatchObject({ upstream: `127.0.0.1:${port}` });
    dns.zone.set(name, { addresses: ['127.0.0.9'] });
    await eventually(async () => {
      await send(started.port, '/');
      expect(started.log.at(-1)).toMatchObject({ upstream: `127.0.0.9:${port}` });
    });
    expect(started.reports).toEqual([
      { hostname: name, problem: 'the lookup of IPv4 addresses failed: ESERVFAIL' },
      { hostname: name, problem: '' },
    ]);
  });

  test('that does not exist has no endpoints', async () => {
    const dns = await DnsServer.start();
    const { port } = await startEcho();
    const started = await start(dns, [external(port), routeTo('app')], { allowed: loopback });
    expect((await send(started.port, '/')).status).toBe(503);
    expect(started.log).toMatchObject([{ reason: 'name-unresolved' }]);
    expect(started.reports).toEqual([{ hostname: name, problem: 'the name does not exist or has no addresses' }]);
  });

  test('delays a change of the configuration only for a moment if no server answers', async () => {
    const dns = await DnsServer.start();
    dns.zone.set(name, 'silent');
    const { port } = await startEcho();
    const started = await start(dns, [external(port), routeTo('app')], { limits: { namePreparation: 1 } });
    expect((await send(started.port, '/')).status).toBe(503);
    expect(started.log).toMatchObject([{ reason: 'name-unresolved' }]);
  });

  test('is no longer looked up after its endpoints are removed', async () => {
    const dns = await DnsServer.start();
    dns.zone.set(name, { addresses: ['127.0.0.1'] });
    dns.zone.set('other.example.com', { addresses: ['127.0.0.1'] });
    const { port } = await startBackend(() => undefined);
    const started = await start(dns, [external(port)], { allowed: loopback });
    const other = { ...external(port, 'other.example.com'), key: 'endpoints/shop/other/80' };
    await started.proxy.apply({ upserts: [other], removals: [external(port).key] });
    const before = dns.queries.filter((query) => query === name).length;
    await eventually(() =>
      expect(dns.queries.filter((query) => query === 'other.example.com').length).toBeGreaterThan(8),
    );
    // A lookup of the removed name may have been in progress.
    expect(dns.queries.filter((query) => query === name).length).toBeLessThanOrEqual(before + 2);
  });

  test('is looked up by a limited number of lookups at a time', async () => {
    const dns = await DnsServer.start();
    const names = Array.from({ length: 20 }, (_, index) => `n${index}.example.com`);
    for (const one of names) dns.zone.set(one, 'silent');
    const { port } = await startBackend(() => undefined);
    await start(
      dns,
      names.map((hostname, index) => ({ ...external(port, hostname), key: `endpoints/shop/app/${index}` })),
      { limits: { nameLookups: 3, namePreparation: 1, nameTimeout: 10_000 } },
    );
    await eventually(() => expect(new Set(dns.queries).size).toBe(3));
    expect(dns.queries).toHaveLength(6);
  });

  // Each of their lookups runs until its timeout. A new name waited for all of them, again and again.
  test('is looked up soon although many others get no answer', async () => {
    const dns = await DnsServer.start();
    const dead = Array.from({ length: 12 }, (_, index) => `n${index}.example.com`);
    for (const one of dead) dns.zone.set(one, 'silent');
    dns.zone.set(name, { addresses: ['127.0.0.1'], ttl: 60 });
    const { port } = await startEcho();
    const { proxy, apply } = await start(
      dns,
      dead.map((hostname, index) => ({ ...external(port, hostname), key: `endpoints/shop/app/${index}` })),
      { allowed: loopback, limits: { nameLookups: 4, namePreparation: 1 } },
    );
    await eventually(() => expect(proxy.counters().names.nameFailures).toBeGreaterThan(dead.length));
    const { nameFailures } = proxy.counters().names;
    await apply(external(port), routeTo('app'));
    await eventually(() => expect(dns.queries).toContain(name));
    expect(proxy.counters().names.nameFailures - nameFailures).toBeLessThanOrEqual(2);
  });
});
