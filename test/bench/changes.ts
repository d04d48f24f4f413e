import { writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request } from 'node:https';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { createAuthority } from '../../src/certificates/authority.ts';
import type { FakeApiServer } from '../support/fake-api-server.ts';
import { channelPort, controlPlane, environmentOf, insert, startCluster, webhookPort } from './memory/cluster.ts';
import { dataPlaneOptions, startComponent, type Component, type RunningComponent } from './memory/components.ts';
import { gatewayName, route } from './memory/objects.ts';
import { memoryOf } from './memory/usage.ts';
import { cpuOf, runBenchmark } from './processes.ts';

// The cost of new HTTPRoutes in a whole installation that is served by a fake API server: CPU of each process, and the time from
// the event until the data plane serves the route. At the end, the CPU of the requests of the benchmark alone. The fake API server calls
// one replica of the webhook for each route, as the real one does. `make bench-changes` gives the run a network and the files of a ServiceAccount of its own (memory/run.sh).

const routes = Number(process.env['ROUTES'] ?? '3000');
const added = Number(process.env['ADDED'] ?? '200');
/** Measured one after the other, in the same processes: code that runs for the first time is compiled in the first one. */
const rounds = Number(process.env['ROUNDS'] ?? '3');
/** Milliseconds between two new routes. */
const interval = Number(process.env['INTERVAL'] ?? '50');
const settling = Number(process.env['SETTLE'] ?? '20');

const toWebhook = new SecureAgent({ keepAlive: true, rejectUnauthorized: false });
const toDataPlane = new Agent({ keepAlive: true, maxSockets: 1 });

async function start(
  components: readonly Component[],
  environment: Readonly<Record<string, string>>,
  stoppables: { stop(): void }[],
): Promise<readonly RunningComponent[]> {
  const running: RunningComponent[] = [];
  for (const component of components) {
    const one = await startComponent(component, environment);
    stoppables.push(one);
    running.push(one);
  }
  return running;
}

/** The data plane connects to the first replica of the controller, which `/etc/hosts` names. */
async function dataPlane(folder: string, server: FakeApiServer): Promise<Component> {
  const [namespace = '', name = ''] = gatewayName.split('/');
  const [tokenFile, caFile] = [join(folder, 'token'), join(folder, 'ca.crt')];
  await writeFile(tokenFile, 'token');
  let authority: string | undefined;
  while (authority === undefined) {
    await delay(100);
    const held = server.store.get('configmaps.', namespace, `${name}-sallyport`);
    authority = (held?.['data'] as Record<string, string> | undefined)?.['ca.crt'];
  }
  await writeFile(caFile, authority);
  const args = [
    'proxy',
    `--controller=sallyport-controller.sallyport-system.svc:${channelPort(1)}`,
    `--gateway=${gatewayName}`,
    `--token-file=${tokenFile}`,
    `--ca-file=${caFile}`,
    '--identity=front-1',
    '--bind=127.0.0.1',
  ];
  return { name: 'data plane', args, probePort: 19_090, ...dataPlaneOptions() };
}

/** Asks a replica of the webhook whether a route may be created. */
async function review(object: object, replica: number): Promise<void> {
  const { name, namespace } = (object as { readonly metadata: { readonly name: string; readonly namespace: string } })
    .metadata;
  const resource = { group: 'gateway.networking.k8s.io', version: 'v1', resource: 'httproutes' };
  const kind = { group: resource.group, version: 'v1', kind: 'HTTPRoute' };
  const body = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: name, kind, resource, name, namespace, operation: 'CREATE', userInfo: {}, object, dryRun: false },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: webhookPort(replica), path: '/validate?timeout=10s', method: 'POST' };
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    request({ ...options, headers, agent: toWebhook }, resolve)
      .on('error', reject)
      .end(body);
  });
  const answer = await text(response);
  if (!answer.includes('"allowed":true')) throw new Error(`the webhook denied a route: ${answer}`);
}

function statusFor(number: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host: `h${number}.bench.example` };
    get({ host: '127.0.0.1', port: 80, headers, agent: toDataPlane }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });
}

/** Requests of the benchmark to the data plane so far. */
let requests = 0;

/** Adds a route. Returns the milliseconds from the event until the data plane serves it. */
async function add(server: FakeApiServer, number: number): Promise<number> {
  const object = redirecting(route(number));
  await review(object, 1 + (number % 2));
  const began = performance.now();
  insert(server, object);
  for (requests++; (await statusFor(number)) !== 302; requests++)
    if (performance.now() - began > 30_000) throw new Error('not served');
  return performance.now() - began;
}

/** A route that the data plane answers itself. */
function redirecting(object: object): object {
  const { spec } = object as { readonly spec: { readonly rules: readonly object[] } };
  const filters = [{ type: 'RequestRedirect', requestRedirect: { hostname: 'other.example', statusCode: 302 } }];
  return {
    ...object,
    spec: { ...spec, rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }], filters }] },
  };
}

function reportCpu(title: string, running: readonly RunningComponent[], before: readonly number[]): void {
  const spent = running.map(({ name, pid }, position) => ({
    name,
    cpu: (cpuOf(pid) - (before[position] ?? Number.NaN)) / 1000 / added,
  }));
  const total = spent.reduce((sum, { cpu }) => sum + cpu, 0);
  const parts = spent.map(({ name, cpu }) => `${name} ${cpu.toFixed(2)}`).join('; ');
  console.log(`  ${title}, ms: ${total.toFixed(2)} (${parts})`);
}

/**
 * Prints the CPU that the processes take in the same time if no route is added: for the requests of the benchmark, and while they are
 * idle.
 *
 * @param each requests for each route
 */
async function reportAlone(running: readonly RunningComponent[], each: number): Promise<void> {
  const before = running.map(({ pid }) => cpuOf(pid));
  for (let number = 0; number < added; number++) {
    // All but the last one of a new route find none.
    for (let request = 1; request < each; request++) await statusFor(Number.MAX_SAFE_INTEGER);
    await statusFor(routes + number);
    await delay(interval);
  }
  await delay(1_000);
  console.log(`${each} requests of the benchmark to the data plane for each route, without new routes`);
  reportCpu('CPU of these requests and of idle processes, for each route', running, before);
}

/** Prints how many requests of each kind the API server got for each route. */
function reportRequests({ audit }: FakeApiServer, before: number): void {
  const kinds = Map.groupBy(audit.slice(before), ({ method, path }) => {
    const parts = path.split('/');
    // `/apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE`, or `/api/VERSION/…` of the core group
    const [resource = '', , subresource] = parts.slice(
      parts.includes('namespaces') ? parts.indexOf('namespaces') + 2 : 4,
    );
    return `${method} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
  });
  const counts = [...kinds].map(([kind, { length }]) => ({ kind, each: length / added }));
  const shown = counts.filter(({ each }) => each >= 0.02).toSorted((one, other) => other.each - one.each);
  console.log(`  requests of a route: ${shown.map(({ kind, each }) => `${kind} ${each.toFixed(2)}`).join('; ')}`);
}

await runBenchmark(async (folder, stoppables) => {
  const authority = await createAuthority();
  const server = await startCluster(authority, routes);
  stoppables.push({ stop: () => void server.close() });
  const environment = { HOME: folder, ...environmentOf(server) };
  const control = await start(controlPlane(), environment, stoppables);
  const running = [...control, ...(await start([await dataPlane(folder, server)], environment, stoppables))];
  await delay(settling * 1000);
  console.log(
    `${routes} routes, ${rounds} rounds of ${added} new ones, every ${interval} ms; load ${loadavg()[0]?.toFixed(1)}`,
  );
  for (let round = 0; round < rounds; round++) {
    const before = running.map(({ pid }) => cpuOf(pid));
    const requestsBefore = server.audit.length;
    const latencies: number[] = [];
    for (let number = 0; number < added; number++) {
      latencies.push(await add(server, routes + round * added + number));
      await delay(interval);
    }
    await delay(1_000);
    const sorted = latencies.toSorted((one, other) => one - other);
    const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(1);
    console.log(`round ${round + 1}: event to served, ms: p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`);
    reportCpu('CPU of a route', running, before);
    reportRequests(server, requestsBefore);
  }
  await reportAlone(running, Math.round(requests / rounds / added));
  console.log(running.map(({ name, pid }) => `  ${name}: ${memoryOf(pid).resident.toFixed(0)} MiB`).join('\n'));
});
