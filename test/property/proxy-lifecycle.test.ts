import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import type { Limit } from '../../src/proxy/counters.ts';
import { scaled, seed } from '../attack/support/scale.ts';
import { closeBackends } from '../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { backendOf as toService, closeProxies, portOf, prefixRule, startProxy, web } from '../support/proxy.ts';
import type { ProxyUnderTest } from '../support/proxy.ts';
import { routeConfig } from '../support/routes.ts';
import { backendOperations, startHttp1Actor, startHttp2Actor } from './lifecycle-backends.ts';
import type { BackendOperation, LifecycleBackend } from './lifecycle-backends.ts';
import { clientKinds, clientOperations, LifecycleClient } from './lifecycle-clients.ts';
import type { ClientKind, ClientOperation, Ports } from './lifecycle-clients.ts';

/** Nothing but the leaving of clients and backends may end an exchange, except where an end cannot be seen (FIN in one direction). */
const patient = {
  firstByteTimeout: 600_000,
  tlsHandshakeTimeout: 600_000,
  headerTimeout: 600_000,
  stallTimeout: 600_000,
  backendStallTimeout: 600_000,
  idleTimeout: 600_000,
  aheadTimeout: 600_000,
  waitTimeout: 600_000,
  tunnelIdleTimeout: 600_000,
  tunnelHalfClosedTimeout: 100,
};
/** Room for one run: what a run leaves behind is missing in those that follow. */
const tight = { requests: 1_000, tunnels: 4, retries: 4, mirrors: 8, waiting: 8, connectionsPerEndpoint: 8 };
const leftBehind: readonly Limit[] = [
  'tunnels',
  'retries',
  'mirrors',
  'waiting',
  'endpoint-waiting',
  'wait-time',
  'tunnel-idle',
];

const backendNames = ['http1', 'h2c', 'mirror'] as const;
type BackendName = (typeof backendNames)[number];
const paths = ['/http1', '/h2c', '/retry', '/mirrored'] as const;

interface World {
  readonly proxy: ProxyUnderTest;
  readonly ports: Ports;
  readonly backends: Readonly<Record<BackendName, LifecycleBackend>>;
  readonly faults: unknown[];
}

async function createWorld(): Promise<World> {
  const { certificate, privateKey } = await issueServingCertificate(await createAuthority(), {
    dnsNames: ['inner.example'],
    ipAddresses: [],
  });
  const secure = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/shop'] });
  const address = '127.0.0.2';
  const backends = { http1: await startHttp1Actor(), h2c: await startHttp2Actor(), mirror: await startHttp1Actor() };
  const mirror = {
    type: 'mirror' as const,
    target: { type: 'endpoints' as const, key: endpointsConfig('mirror').key },
    numerator: 1,
    denominator: 1,
  };
  const rules = [
    prefixRule('/http1', []),
    prefixRule('/h2c', [], { backends: [toService('h2c')] }),
    prefixRule('/retry', [], { retry: { codes: [503], attempts: 2, backoff: 30 } }),
    prefixRule('/mirrored', [mirror]),
  ].map((rule, index) => ({ ...rule, index }));
  const faults: unknown[] = [];
  const proxy = await startProxy(
    [
      secure,
      endpointsConfig('app', backends.http1.port),
      { ...endpointsConfig('h2c', backends.h2c.port), protocol: 'h2c' },
      endpointsConfig('mirror', backends.mirror.port),
      routeConfig('shop/web', {
        attachments: [web, secure].map(({ key }) => ({ listener: key, hostnames: [''] })),
        rules,
      }),
    ],
    {
      bind: ({ key }) => [{ host: key === secure.key ? address : '127.0.0.1', port: 0 }],
      certificates: () => ({ cert: certificate, key: privateKey }),
      limits: { ...patient, ...tight },
      onFault: (error) => faults.push(error),
    },
  );
  return {
    proxy,
    ports: { plain: proxy.port, secure: { port: portOf(proxy.proxy, secure.key), address } },
    backends,
    faults,
  };
}

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(closeProxies);
afterAll(closeBackends);

type Step =
  | { readonly client: number; readonly does: ClientOperation; readonly path: (typeof paths)[number] }
  | { readonly backend: BackendName; readonly does: BackendOperation }
  | { readonly waits: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      client: fc.nat(2),
      does: fc.constantFrom(...clientOperations),
      path: fc.constantFrom(...paths),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      backend: fc.constantFrom('http1', 'h2c', 'http1', 'h2c', 'mirror'),
      does: fc.constantFrom(...backendOperations),
    }),
  },
  { weight: 1, arbitrary: fc.record({ waits: fc.integer({ min: 1, max: 30 }) }) },
);
/** A request that reaches its backend, and the beginning of a response: chance alone would seldom build them. */
const opening = fc.record({
  client: fc.nat(2),
  asks: fc.constantFrom<ClientOperation>('request', 'upload', 'upgrade', 'upgrade', 'expectation'),
  path: fc.constantFrom(...paths),
  answers: fc.array(
    fc.constantFrom<BackendOperation>(
      'interim response',
      'head',
      'switch',
      'switch',
      'part of a body',
      'whole answer',
      'refusal',
      'stop reading',
    ),
    { maxLength: 2 },
  ),
  goesOn: fc.constantFrom<ClientOperation | undefined>(
    'part of a body',
    'more than anybody holds',
    undefined,
    undefined,
  ),
});
type Opening = typeof opening extends fc.Arbitrary<infer T> ? T : never;
const servedBy = (path: (typeof paths)[number]): BackendName => (path === '/h2c' ? 'h2c' : 'http1');
const run = fc.record({
  kinds: fc.tuple(fc.constantFrom(...clientKinds), fc.constantFrom(...clientKinds), fc.constantFrom(...clientKinds)),
  openings: fc.array(opening, { minLength: 1, maxLength: 3 }),
  steps: fc.array(step, { maxLength: 14 }),
  first: fc.constantFrom('clients', 'backends'),
  way: fc.constantFrom('reset', 'close'),
});

/** Lets everybody react to what has been done. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

/** Lets a request arrive, unless it cannot. */
async function arrival(backend: LifecycleBackend, before: number): Promise<void> {
  for (let turn = 0; turn < 200 && backend.asked() === before; turn += 1) await turns(1);
}

async function open(
  { client, asks, path, answers, goesOn }: Opening,
  kinds: readonly ClientKind[],
  clients: Map<number, LifecycleClient>,
): Promise<void> {
  const name = servedBy(path);
  const asked = world.backends[name].asked();
  await perform([{ client, does: asks, path }], kinds, clients);
  await arrival(world.backends[name], asked);
  await perform(
    answers.map((does) => ({ backend: name, does })),
    kinds,
    clients,
  );
  if (goesOn !== undefined) await perform([{ client, does: goesOn, path }, { waits: 30 }], kinds, clients);
}

async function perform(
  steps: readonly Step[],
  kinds: readonly ClientKind[],
  clients: Map<number, LifecycleClient>,
): Promise<void> {
  for (const next of steps) {
    if ('waits' in next) await turns(next.waits);
    else if ('backend' in next) world.backends[next.backend].do(next.does);
    else {
      const client = clients.get(next.client) ?? new LifecycleClient(kinds[next.client] ?? 'http1', world.ports);
      clients.set(next.client, client);
      client.do(next.does, next.path);
    }
    await turns(12);
  }
}

const openRequests = (): void => expect(world.proxy.proxy.counters()).toMatchObject({ openRequests: 0 });
const openConnections = (): void =>
  expect(world.proxy.proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 });
const heldByBackends = (): void =>
  expect(backendNames.slice(0, 2).map((name) => world.backends[name].held())).toEqual([0, 0]);

test(
  'nothing outlives its client or its backend',
  async () => {
    const { backends, proxy, faults } = world;
    const everybody = Object.values(backends);
    await fc.assert(
      fc.asyncProperty(run, async ({ kinds, openings, steps, first, way }) => {
        const clients = new Map<number, LifecycleClient>();
        for (const one of openings) await open(one, kinds, clients);
        await perform(steps, kinds, clients);
        if (first === 'clients') {
          for (const client of clients.values()) client.leave(way);
          await eventually(openConnections);
          await eventually(heldByBackends);
        } else {
          // A client that reads gets its response, or the end of it.
          for (const client of clients.values()) client.takeAll();
          for (const backend of everybody) backend.leave();
          await eventually(openRequests);
          for (const client of clients.values()) client.leave(way);
          await eventually(openConnections);
        }
        for (const backend of everybody) {
          backend.leave();
          backend.return();
        }
        expect(faults).toEqual([]);
      }),
      { seed, numRuns: scaled(25, 500), endOnFailure: true },
    );
    const { limitsReached } = proxy.proxy.counters();
    expect(Object.fromEntries(leftBehind.map((limit) => [limit, limitsReached[limit]]))).toEqual(
      Object.fromEntries(leftBehind.map((limit) => [limit, 0])),
    );
  },
  scaled(60_000, 1_200_000),
);
