import { Agent, request } from 'node:http';
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
const target = `/?${'ab&'.repeat(2_600)}${parameters.map(({ name, value }) => `${name}=${value}`).join('&')}`;

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
    request({ ...place, path: target, headers: { host: 'many.example' }, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', reject)
      .end();
    statuses.push(await promise);
  }
  agent.destroy();
  return statuses;
}

// Each route has 64 matches whose 18 conditions are checked, and 64 of which only path and method are.
test.each([
  ['as many conditions as one request may check', scaled(4, 15), 404],
  ['more conditions than one request may check', scaled(20, 40), 500],
])('%s do not delay others', async (_, count, status) => {
  const backend = await startEcho('app');
  const port = await freePort();
  const routes = [...Array.from({ length: count }, (__, number) => routeWithMatches(number)), calmRoute];
  const process = await startTarget(
    [
      gatewayObjects({ name: 'web', namespace: 'shop' }, `{ name: http, port: ${port}, protocol: HTTP }`),
      serviceObjects({ name: 'calm', endpoint: backend.port }),
      ...routes.map((route) => `\n---\n${JSON.stringify(route)}`),
    ].join(''),
  );
  try {
    const place = { host: gatewayHost, port };
    if (isFull) await warmUp(place, 'calm.example');
    let statuses: number[] = [];
    const { failures, p99 } = await whileServing(place, 'calm.example', async () => {
      const until = performance.now() + scaled(200, 5_000);
      statuses = (await Promise.all(Array.from({ length: 8 }, () => ask(place, until)))).flat();
    });
    if (isFull) console.log(`${statuses.length} requests: p99 ${p99.toFixed(0)} ms`);
    expect(new Set(statuses)).toEqual(new Set([status]));
    expect(failures).toEqual([]);
    if (isFull) expect(p99).toBeLessThan(250);
  } finally {
    await process.stop();
  }
});
