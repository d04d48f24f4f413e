import { Agent, request } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { closeBackends, startEcho } from '../support/backends.ts';
import { freePort } from '../support/program.ts';
import { gatewayObjects, serviceObjects } from '../support/standalone-objects.ts';
import { warmUp, whileServing } from './support/bystander.ts';
import { isFull, scaled } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';

afterAll(closeBackends);

const parameters = Array.from({ length: 15 }, (_, index) => ({ name: `p${index}`, value: 'x' }));

/** A request target with as many query parameters as its length permits. Each match looks for the last ones. */
const longTarget = `/?${'ab&'.repeat(2_600)}${parameters.map(({ name, value }) => `${name}=${value}`).join('&')}`;

/** As many matches as a route can have. Only the last condition of each does not hold. */
function routeWithMatches(number: number): object {
  const matches = (method: string) =>
    Array.from({ length: 64 }, (_, index) => ({
      path: { type: 'PathPrefix', value: '/' },
      method,
      queryParams: [...parameters, { name: 'y', value: `${number}-${index}` }],
    }));
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: `many-${number}`, namespace: 'shop' },
    spec: {
      parentRefs: [{ name: 'web' }],
      hostnames: ['many.example'],
      rules: [{ matches: matches('GET') }, { matches: matches('POST') }],
    },
  };
}

const calmRoute = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'calm', namespace: 'shop' },
  spec: {
    parentRefs: [{ name: 'web' }],
    hostnames: ['calm.example'],
    rules: [{ backendRefs: [{ name: 'calm', port: 80 }] }],
  },
};

/** Sends requests one after the other, and returns their statuses. */
async function ask(place: { readonly host: string; readonly port: number }, until: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: number[] = [];
  while (statuses.length === 0 || performance.now() < until) {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    request({ ...place, path: longTarget, headers: { host: 'many.example' }, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
    statuses.push(await promise);
  }
  agent.destroy();
  return statuses;
}

/** An address that attacks, and how many requests it sends at a time. */
async function flood(place: { readonly host: string; readonly port: number }, address: string, until: number) {
  const session = connectHttp2(`http://${place.host}:${place.port}`, {
    createConnection: () => connect({ ...place, localAddress: address }),
  });
  const ask = (): Promise<number> => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const stream = session.request({ ':authority': 'many.example', 'x-costly': 'a'.repeat(3_500) });
    stream.on('response', (fields) => resolve(fields[':status'] ?? 0)).on('error', reject);
    stream.resume();
    return promise;
  };
  const statuses: number[] = [];
  while (statuses.length === 0 || performance.now() < until)
    statuses.push(...(await Promise.all(Array.from({ length: 20 }, ask))));
  session.destroy();
  return statuses;
}

/** Its expressions read about 450,000 characters of a header of 3,500. */
function routeWithExpressions(number: number): object {
  const matches = Array.from({ length: 32 }, (_, index) => ({
    headers: [{ type: 'RegularExpression', name: 'x-costly', value: `.*b${number}c${index}.*` }],
  }));
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: `costly-${number}`, namespace: 'shop' },
    spec: { parentRefs: [{ name: 'web' }], hostnames: ['many.example'], rules: [{ matches }] },
  };
}

/** A process that serves `calm.example`, and these routes. */
async function startWith(routes: readonly object[]) {
  const backend = await startEcho('app');
  const port = await freePort();
  const target = await startTarget(
    [
      gatewayObjects({ name: 'web', namespace: 'shop' }, `{ name: http, port: ${port}, protocol: HTTP }`),
      serviceObjects({ name: 'calm', endpoint: backend.port }),
      ...[...routes, calmRoute].map((route) => `\n---\n${JSON.stringify(route)}`),
    ].join(''),
  );
  return { target, place: { host: gatewayHost, port } };
}

/** What becomes of another client's requests during an attack, which returns statuses. */
async function judge(place: { readonly host: string; readonly port: number }, attack: () => Promise<number[]>) {
  if (isFull) await warmUp(place, 'calm.example');
  let statuses: number[] = [];
  const { failures, p99 } = await whileServing(place, 'calm.example', async () => {
    statuses = await attack();
  });
  if (isFull) console.log(`${statuses.length} requests: p99 ${p99.toFixed(0)} ms`);
  expect(failures).toEqual([]);
  if (isFull) expect(p99).toBeLessThan(250);
  return [...new Set(statuses)];
}

// Each route has 64 matches whose 18 conditions are checked, and 64 of which only path and method are.
test.each([
  ['as many conditions as one request may check', scaled(4, 15), 404],
  ['more conditions than one request may check', scaled(20, 40), 500],
])('%s do not delay others', async (_, count, status) => {
  const { target, place } = await startWith(Array.from({ length: count }, (__, number) => routeWithMatches(number)));
  try {
    const statuses = await judge(place, async () => {
      const until = performance.now() + scaled(200, 5_000);
      return (await Promise.all(Array.from({ length: 8 }, () => ask(place, until)))).flat();
    });
    expect(statuses).toEqual([status]);
  } finally {
    await target.stop();
  }
});

test('requests of many addresses that each take milliseconds do not delay others', async () => {
  const { target, place } = await startWith(Array.from({ length: 8 }, (_, number) => routeWithExpressions(number)));
  try {
    const statuses = await judge(place, async () => {
      const until = performance.now() + scaled(200, 5_000);
      const addresses = Array.from({ length: scaled(4, 20) }, (_, index) => `127.0.8.${index + 1}`);
      return (await Promise.all(addresses.map((address) => flood(place, address, until)))).flat();
    });
    expect(statuses).toEqual([404]);
  } finally {
    await target.stop();
  }
});
