import { once } from 'node:events';
import { createServer } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from '@jest/globals';
import { parseNetworks } from '../../src/core/text/proxy-protocol.ts';
import { dnsLookup } from '../../src/proxy/upstream/name-lookup.ts';
import type { NameAnswer } from '../../src/proxy/upstream/name-lookup.ts';
import { closeBackends, startEcho } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { backendOf, closeProxies, prefixRule, send, startProxy, webRoute } from '../support/proxy.ts';
import { forbidden, HostileDns, hostileAnswers, permitted } from './support/hostile-dns.ts';
import { isFull, scaled } from './support/scale.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(closeProxies);
afterEach(closeBackends);
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

const kinds = Object.keys(hostileAnswers);
const copies = scaled(2, 20);
const timeout = scaled(100, 1_000);

/** Bytes that this process holds: objects that a collection leaves, and everything outside the heap of V8. */
function heldBytes(): number {
  const { rss, heapTotal } = process.memoryUsage();
  // V8 keeps the memory of what it collects for a while.
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return rss - heapTotal + process.memoryUsage().heapUsed;
}

/** Answers nothing, and tells how often it was reached. */
async function trap(port: number): Promise<() => number> {
  let reached = 0;
  const server = createServer((socket) => {
    reached += 1;
    socket.destroy();
  });
  await once(server.listen(port, forbidden), 'listening');
  closing.push(() => once(server.close(), 'close'));
  return () => reached;
}

test('hostile DNS servers delay neither other names nor other requests, and lead to no internal address', async () => {
  const dns = await HostileDns.start();
  closing.push(() => dns.close());
  const { port } = await startEcho();
  const reached = await trap(port);
  const hostile = kinds.flatMap((kind) => Array.from({ length: copies }, (_, index) => `${kind}-n${index}`));
  const external = (service: string, hostname: string) => ({
    ...endpointsConfig(service),
    external: { hostname, port },
  });
  const networks = parseNetworks(`${permitted}/32`);
  const { port: front, proxy } = await startProxy(
    [
      ...hostile.map((label) => external(label, `${label}.hostile.example`)),
      external('good', 'good.example'),
      endpointsConfig('plain', port),
      webRoute(
        ...['good', 'plain', ...hostile].map((service, index) => ({
          ...prefixRule(`/${service}`, [], { backends: [backendOf(service)] }),
          index,
        })),
      ),
    ],
    {
      lookup: dnsLookup(timeout, [dns.address]),
      internalBackendNetworks: networks.ok ? networks.value : [],
      limits: { nameRefreshMin: timeout, nameRefreshMax: 10 * timeout, nameTimeout: timeout, namePreparation: 20 },
    },
  );
  await eventually(async () => expect((await send(front, '/good')).status).toBe(200));
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const before = heldBytes();
  const until = performance.now() + 20 * timeout;
  const statuses = new Map<string, Set<number>>();
  const note = async (label: string): Promise<void> => {
    const { status } = await send(front, `/${label}`);
    const kind = label.replace(/-n\d+$/, '');
    statuses.set(kind, (statuses.get(kind) ?? new Set()).add(status));
  };
  while (performance.now() < until) {
    await Promise.all(['good', 'plain', ...hostile.slice(0, 40), ...hostile.slice(-40)].map(note));
    await delay(20);
  }
  loop.disable();
  const usable = ['good', 'plain', 'ttl-0', 'ttl-31', 'ttl-32'];
  for (const name of usable.filter((kind) => statuses.has(kind)))
    expect([name, ...(statuses.get(name) ?? [])]).toEqual([name, 200]);
  for (const [kind, seen] of statuses) if (!usable.includes(kind)) expect([kind, ...seen]).toEqual([kind, 503]);
  expect(reached()).toBe(0);
  // Two queries for each lookup, at most two tries of each, by UDP and TCP.
  const { nameLookups, internalAddresses } = proxy.counters().names;
  expect(dns.queries).toBeLessThanOrEqual(nameLookups * 8);
  expect(nameLookups).toBeLessThanOrEqual((hostile.length + 1) * 25);
  expect(internalAddresses).toBeGreaterThan(0);
  const grown = (heldBytes() - before) / 2 ** 20;
  process.stdout.write(
    `${hostile.length} hostile names: ${nameLookups} lookups, ${dns.queries} queries, at most ${(loop.max / 1e6).toFixed(0)} ms without a pause, ${grown.toFixed(0)} MiB more\n`,
  );
  if (isFull) expect(grown).toBeLessThan(100);
}, 120_000);

test.each(kinds)('an answer %s for some names has no effect on the lookup of another one', async (kind) => {
  const dns = await HostileDns.start();
  closing.push(() => dns.close());
  const lookup = dnsLookup(1_000, [dns.address]);
  const others: Promise<unknown>[] = [];
  const good: Promise<NameAnswer>[] = [];
  for (let index = 0; index < scaled(8, 32); index += 1) {
    others.push(lookup.lookup(`${kind}-n${index}.hostile.example`).catch(() => undefined));
    good.push(lookup.lookup('good.example'));
  }
  for (const answer of await Promise.all(good)) expect(answer).toEqual({ addresses: [permitted], validFor: 60_000 });
  lookup.close();
  await Promise.all(others);
});
