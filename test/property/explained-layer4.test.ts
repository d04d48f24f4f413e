import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type {
  BackendTarget,
  ConfigResource,
  Layer4RouteConfig,
  ListenerConfig,
} from '../../src/core/routing/config.ts';
import { layer4OutcomesOf, type ArrivingConnection } from '../../src/core/routing/decision/layer4-outcome.ts';
import { closeBackends, startRawBackend } from '../support/backends.ts';
import { helloBody, inRecords, serverNameExtension } from '../support/client-hello.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import {
  dial,
  endOf,
  hostOf,
  layer4Route,
  startLayer4,
  tcp,
  tlsListener,
  udp,
  type Layer4UnderTest,
} from '../support/layer4.ts';
import { closeProxies } from '../support/proxy.ts';

// The live data plane does with connections and flows what `explain` reports, for random configurations.

const target: fc.Arbitrary<BackendTarget> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .constantFrom('one', 'two', 'empty', 'failing')
      .map((service) => ({ type: 'endpoints' as const, key: endpointsConfig(service).key })),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'invalid' as const, reason: 'BackendNotFound' }) },
);
const tlsListeners: readonly ListenerConfig[] = [
  tlsListener('any', 'Passthrough'),
  tlsListener('wild', 'Passthrough', { hostname: '*.example.com' }),
  tlsListener('exact', 'Passthrough', { hostname: 'www.example.com' }),
];
const route = fc.record({
  kind: fc.constantFrom('TCPRoute' as const, 'UDPRoute' as const, 'TLSRoute' as const, 'TLSRoute' as const),
  listener: fc.nat(2),
  hostname: fc.constantFrom('', '*.example.com', 'www.example.com'),
  created: fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
  isFailing: fc.constantFrom(false, false, false, true),
  backends: fc.array(fc.record({ weight: fc.nat(2), target }), { maxLength: 3 }),
});
const configuration = fc.record({
  listeners: fc.subarray([...tlsListeners]),
  routes: fc.array(route, { maxLength: 5 }).map((all) => all.map((parts, index) => configured(parts, index))),
});
const arriving: fc.Arbitrary<ArrivingConnection> = fc.oneof(
  fc.constant({ protocol: 'TCP' as const, port: tcp.port, serverName: '' }),
  fc.constant({ protocol: 'UDP' as const, port: udp.port, serverName: '' }),
  fc
    .constantFrom('', 'www.example.com', 'shop.example.com', 'example.org')
    .map((serverName) => ({ protocol: 'TLS' as const, port: 3, serverName })),
);

function configured(
  { kind, listener, hostname, created, isFailing, backends }: typeof route extends fc.Arbitrary<infer T> ? T : never,
  index: number,
): Layer4RouteConfig {
  const own = { TCPRoute: tcp, UDPRoute: udp, TLSRoute: tlsListeners[listener] ?? tcp }[kind];
  return layer4Route(kind, own, {
    key: `route/${kind}/shop/r${index}`,
    route: `shop/r${index}`,
    created,
    attachments: [{ listener: own.key, hostnames: [kind === 'TLSRoute' ? hostname : ''] }],
    backends,
    ...(isFailing ? { failure: 'it is invalid' } : {}),
  });
}

const sockets = new Set<Datagrams>();
let endpoints: readonly ConfigResource[] = [];

/** A backend that answers the first bytes of a connection and every datagram with its name. */
async function answering(name: string): Promise<number> {
  const { port } = await startRawBackend((socket) => socket.once('data', () => socket.end(name)));
  const datagrams = await bound(port);
  datagrams.on('message', (_message, from) => datagrams.send(name, from.port, from.address));
  return port;
}

async function bound(port = 0): Promise<Datagrams> {
  const socket = createSocket('udp4');
  sockets.add(socket);
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}

beforeAll(async () => {
  const [one, two] = [await answering('one'), await answering('two')];
  endpoints = [
    endpointsConfig('one', one),
    endpointsConfig('two', two),
    endpointsConfig('empty'),
    { ...endpointsConfig('failing', one), failure: 'the XBackend is invalid' },
  ];
});
afterEach(closeProxies);
afterAll(async () => {
  for (const socket of sockets) socket.close();
  await closeBackends();
});

test('the live data plane does with connections and flows what explain reports', async () => {
  const started = await startLayer4([tcp, udp, ...endpoints]);
  let applied: readonly ConfigResource[] = [];
  await fc.assert(
    fc.asyncProperty(configuration, fc.array(arriving, { minLength: 1, maxLength: 4 }), async (config, connections) => {
      const resources = [...config.listeners, ...config.routes];
      await started.proxy.apply({ upserts: resources, removals: applied.map(({ key }) => key) });
      applied = resources;
      for (const connection of connections) {
        const listener = listenerAt(connection, config.listeners);
        // Nothing listens at the port.
        if (listener === undefined) continue;
        const wanted = reported([tcp, udp, ...endpoints, ...resources], connection);
        const seen: string[] = [];
        for (let turn = 0; turn < wanted.length; turn += 1) seen.push(await observed(started, listener, connection));
        expect(seen.toSorted()).toEqual(wanted.toSorted());
      }
    }),
    { numRuns: 100 },
  );
}, 120_000);

/** A listener whose address the connection goes to. */
function listenerAt({ protocol }: ArrivingConnection, [first]: readonly ListenerConfig[]): ListenerConfig | undefined {
  return { TCP: tcp, UDP: udp, TLS: first }[protocol];
}

/** The backend of each connection of a full cycle of the weights; `''` if it is closed or dropped. */
function reported(resources: readonly ConfigResource[], connection: ArrivingConnection): readonly string[] {
  const [outcome] = layer4OutcomesOf(resources, connection);
  if (outcome === undefined) throw new Error('no listener found');
  const { decision } = outcome;
  if (decision.type !== 'forward') return [''];
  return decision.shares.flatMap(({ weight, backend, result }) => {
    const key = backend?.target.type === 'endpoints' ? backend.target.key : '';
    return Array.from({ length: weight }, () => (result.type === 'send' ? (key.split('/')[2] ?? '') : ''));
  });
}

async function observed(
  started: Layer4UnderTest,
  listener: ListenerConfig,
  { protocol, serverName }: ArrivingConnection,
): Promise<string> {
  if (protocol === 'UDP') return observedFlow(started);
  const socket = dial(started, listener);
  const end = endOf(socket);
  const extensions = serverName === '' ? [] : [serverNameExtension(serverName)];
  socket.write(protocol === 'TCP' ? 'hello' : inRecords(helloBody(extensions)));
  const { received } = await end;
  socket.destroy();
  return received;
}

async function observedFlow(started: Layer4UnderTest): Promise<string> {
  const { layer4 } = started.proxy.counters();
  const dropped = layer4.droppedDatagrams;
  const client = await bound();
  let answer: string | undefined;
  client.once('message', (message) => (answer = message.toString()));
  client.send('hello', started.portOf(udp), hostOf(udp.port));
  await eventually(() => expect(answer !== undefined || layer4.droppedDatagrams > dropped).toBe(true));
  // The client stays open until the end. Otherwise, another one may get its port, and with it the flow that this one has opened.
  return answer ?? '';
}
