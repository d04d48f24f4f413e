import type { ChildProcess } from 'node:child_process';
import { get } from 'node:http';
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority } from '../../src/certificates/index.ts';
import { closeBackends, startBackend } from '../support/backends.ts';
import { issueLeaf } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/program.ts';
import { gatewayObjects, serviceObjects } from '../support/standalone-objects.ts';
import { attackAuthorization } from './support/authorization-attackers.ts';
import { warmUp, whileServing } from './support/bystander.ts';
import type { Authorizer } from './support/hostile-authorizers.ts';
import { firstOutput, runAttacker, spawnProgram } from './support/program.ts';
import { isFull } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

/** Goal for the memory of a data plane in MiB. Its limit in the shipped manifests has room for several attacks at once. */
const memoryLimit = 512;
const serverName = 'auth.shop.example';

let target: Target;
let servers: ChildProcess;
let authorizers: readonly Authorizer[];
let port: number;
/** How many requests the backend got, by host. */
const reached = new Map<string, number>();

const hostOf = ({ port: number }: Authorizer): string => `a${number}.test`;

beforeAll(async () => {
  const [authority, stranger] = await Promise.all([createAuthority(), createAuthority(undefined, 'stranger')]);
  const pairs = await Promise.all([authority, stranger].map((issuer) => issueLeaf(issuer, { dnsNames: [serverName] })));
  servers = spawnProgram(
    'test/attack/support/hostile-authorizers.ts',
    ...pairs.flatMap(({ cert, key }) => [String(cert), String(key)]),
  );
  // They are on other machines: they must not take the processor from those that they attack.
  if (servers.pid !== undefined) setPriority(servers.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  authorizers = JSON.parse(await firstOutput(servers)) as readonly Authorizer[];
  const app = await startBackend((request, response) => {
    const { host = '' } = request.headers;
    reached.set(host, (reached.get(host) ?? 0) + 1);
    request.resume().on('end', () => response.end('ok'));
  });
  port = await freePort();
  target = await startTarget(objects(port, app.port, authority.certificate));
  await warmUp({ host: gatewayHost, port }, 'calm.test');
}, 60_000);
afterAll(() => target.stop());
afterAll(() => void servers.kill('SIGKILL'));
afterAll(closeBackends);

function objects(listener: number, app: number, certificate: string): string {
  const authority = `
---
apiVersion: v1
kind: ConfigMap
metadata: { name: authority, namespace: shop }
data: { ca.crt: ${JSON.stringify(certificate)} }
`;
  return [
    gatewayObjects({ name: 'web', namespace: 'shop' }, `{ name: http, port: ${listener}, protocol: HTTP }`),
    authority,
    serviceObjects({ name: 'app', endpoint: app }),
    route('calm', 'calm.test', ''),
    ...authorizers.map(routeAndServer),
  ].join('');
}

/** A route with a hostile server, with retries, a mirror, and the body for the server. */
function routeAndServer(authorizer: Authorizer): string {
  const { port: endpoint, protocol, secure } = authorizer;
  const name = `a${endpoint}`;
  const policy = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: { name: ${name}, namespace: shop }
spec:
  targetRefs: [{ group: '', kind: Service, name: ${name} }]
  validation: { hostname: ${serverName}, caCertificateRefs: [{ group: '', kind: ConfigMap, name: authority }] }
`;
  const rule = `
      retry: { attempts: 2, codes: [503], backoff: 1ms }
      timeouts: { request: 1s, backendRequest: 400ms }
      filters:
        - { type: RequestMirror, requestMirror: { backendRef: { name: ${name}, port: 80 } } }
        - type: ExternalAuth
          externalAuth:
            protocol: ${protocol}
            ${protocol.toLowerCase()}: {}
            forwardBody: { maxSize: 65536 }
            backendRef: { name: ${name}, port: 80 }`;
  return `${route(name, hostOf(authorizer), rule)}${serviceObjects({ name, endpoint })}${secure ? policy : ''}`;
}

function route(name: string, host: string, rule: string): string {
  return `
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: ${name}, namespace: shop }
spec:
  parentRefs: [{ name: web }]
  hostnames: [${host}]
  rules:
    - backendRefs: [{ name: app, port: 80 }]${rule}
`;
}

function statusOf(authorizer: Authorizer): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  get({ host: gatewayHost, port, headers: { host: hostOf(authorizer) }, agent: false }, (response) => {
    resolve(response.resume().statusCode);
  }).on('error', reject);
  return promise;
}

/** Lets clients use the routes of some servers, and checks that nobody else notices and nothing stays. */
async function attack(attacked: readonly Authorizer[], lines: number, duration: number): Promise<void> {
  const before = target.held();
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, target.held().memory)), 100);
  const hosts = attacked.map(hostOf);
  const at = { host: gatewayHost, port };
  const witness = await whileServing(
    at,
    'calm.test',
    async () => {
      const unended = isFull
        ? await runAttacker(
            'test/attack/support/authorization-attackers.ts',
            gatewayHost,
            String(port),
            String(lines),
            String(duration),
            ...hosts,
          )
        : await attackAuthorization(at, hosts, { lines, duration });
      expect(unended).toBe(0);
    },
    isFull ? 200 : 20,
  );
  clearInterval(watching);
  process.stdout.write(
    `${attacked
      .map(({ name }) => name)
      .slice(0, 2)
      .join(
        ', ',
      )}…: p99 ${witness.p99.toFixed(0)} ms, ${witness.failures.length} of ${witness.sent} failed, at most ${most.toFixed(0)} MiB\n`,
  );
  expect(target.isAlive()).toBe(true);
  expect(witness.failures).toEqual([]);
  expect(most).toBeLessThan(memoryLimit);
  if (isFull) expect(witness.p99).toBeLessThan(250);
  // Nothing but a permission lets a request pass.
  expect(attacked.filter((one) => !one.permits && reached.has(hostOf(one))).map(({ name }) => name)).toEqual([]);
  for (const origin of ['exchange', 'exception', 'rejection'])
    expect([origin, await target.metric('sallyport_internal_errors_total', `{origin="${origin}"}`)]).toEqual([
      origin,
      0,
    ]);
  await eventually(async () => {
    expect(await target.metric('sallyport_proxy_open_requests')).toBe(0);
    expect(await target.metric('sallyport_proxy_buffered_bytes')).toBe(0);
  });
  if (isFull) {
    // Hostile servers have nobody left whose time they could use.
    const { cpu } = target.held();
    await delay(1_000);
    expect(target.held().cpu - cpu).toBeLessThan(0.3);
  }
  await eventually(() =>
    expect(target.held().descriptors).toBeLessThanOrEqual(before.descriptors + 16 + 4 * attacked.length),
  );
}

describe.each(['HTTP', 'GRPC'] as const)('hostile authorization servers over %s', (protocol) => {
  test.each([
    ['without TLS', false],
    ['over TLS', true],
  ])(
    '%s',
    async (_how, secure) => {
      const attacked = authorizers.filter((one) => one.protocol === protocol && one.secure === secure);
      await attack(attacked, isFull ? 2 : 1, isFull ? 15_000 : 1_500);
      // A proxy that refuses everything would pass.
      for (const one of attacked.filter(({ permits }) => permits))
        await eventually(async () => expect([one.name, await statusOf(one)]).toEqual([one.name, 200]));
    },
    120_000,
  );
});
