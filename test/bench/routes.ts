import { setTimeout as pause } from 'node:timers/promises';
import {
  create,
  createClient,
  loadCredentials,
  mergePatch,
  type ApiClient,
  type WriteOutcome,
} from '../../src/kubernetes/index.ts';
import { waitFor } from '../e2e/support/wait.ts';
import {
  dataPlane,
  followers,
  install,
  leader,
  metricsOf,
  startController,
  stopController,
  usageOf,
  type Installation,
  type Pod,
  type Usage,
} from './routes/installation.ts';
import { boundOf, durationsBetween, durationsIn, type DurationMetric, type Durations } from './routes/durations.ts';
import { creating, measureCreation } from './routes/creation.ts';
import { httpRoutes, route, routeName, rulesOf } from './routes/objects.ts';
import { concurrency, forEach, format, progress, row, seconds } from './routes/output.ts';
import { Statuses } from './routes/statuses.ts';
import { Traffic, type Report } from './routes/traffic.ts';

// What routes cost in a real cluster, many of them on one Gateway: how soon a new one is served, how long the statuses of
// many take, what controller and data plane hold and do when nothing happens, and how long a controller needs that
// begins anew. `make bench-routes` brings the cluster, or takes that of KUBECONFIG (routes/run.sh). ROUTES is the number of routes
// before new ones are added, and PEER=CLASS measures new routes of another controller, which must be in the cluster.

const image = process.env['IMAGE'] ?? 'localhost/sallyport:dev';
const before = Number(process.env['ROUTES'] || 3_000);
/** Routes: those whose statuses are waited for; those that are there when more are added one by one, and how many; all. */
const counts = { together: Math.min(1_000, before), before, alone: 300, all: Math.max(5_000, before + 300) };
/** A GatewayClass of another controller in the cluster, to which the same requests are sent. */
const peer = process.env['PEER'] || undefined;
/** Milliseconds between two requests to other routes. */
const interval = 10;
const idleSeconds = 30;
/** Milliseconds without news after which nothing more is expected, and after which garbage has been collected. */
const quiet = 5_000;
const settled = 40_000;

interface Bench extends Installation {
  readonly client: ApiClient;
  readonly statuses: Statuses;
  readonly traffic: Traffic;
}

function createRoute({ client, namespace }: Bench, number: number): Promise<WriteOutcome> {
  return create({ client, type: httpRoutes }, route(namespace, number));
}

async function fill(bench: Bench, first: number, end: number): Promise<void> {
  await forEach(first, end, (number) => createRoute(bench, number));
  progress('Waiting until all are accepted ...');
  await bench.statuses.whenAccepted(end);
  await bench.statuses.whenQuiet(1_000);
}

async function measureStatuses(bench: Bench): Promise<void> {
  const pods = await podsOf(bench);
  const before = await usagesOf(pods);
  const began = performance.now();
  await forEach(0, counts.together, (number) => createRoute(bench, number));
  const created = performance.now();
  progress('Waiting until all are accepted ...');
  const accepted = await bench.statuses.whenAccepted(counts.together);
  await bench.statuses.whenQuiet(1_000);
  row(
    `${format(counts.together)} routes created, until all are accepted`,
    seconds(accepted - began),
    `creating alone: ${seconds(created - began)}, ${concurrency} at a time`,
  );
  const after = await usagesOf(pods);
  for (const [name, { cpu }] of after)
    row(
      `CPU of that, ${name}`,
      `${(((cpu - (before.get(name)?.cpu ?? Number.NaN)) * 1000) / counts.together).toFixed(2)} ms a route`,
    );
}

/** New routes one after another: from sending the request that creates one, and from the API server's answer, to the first request that is served. */
async function measureLatency(bench: Bench): Promise<void> {
  const { alone } = counts;
  const inside = await insideDurations(bench);
  const background = bench.traffic.begin(before, interval);
  const latencies: { readonly sinceSent: number; readonly sinceAnswered: number }[] = [];
  for (let number = before; number < before + alone; number += 1) {
    progress(`Adding routes one by one: ${number - before} of ${alone} ...`);
    const sent = performance.now();
    const outcome = await createRoute(bench, number);
    const answered = performance.now();
    if (outcome.type !== 'ok') throw new Error(outcome.message);
    const served = await bench.traffic.whenServed(number);
    latencies.push({ sinceSent: served - sent, sinceAnswered: served - answered });
  }
  const report = await background.stop();
  for (const [since, measured] of [
    ['the request', latencies.map(({ sinceSent }) => sinceSent)],
    ['the answer', latencies.map(({ sinceAnswered }) => sinceAnswered)],
  ] as const) {
    row(
      `A new route among ${format(before)}, from ${since} until served`,
      spread(measured),
      `${alone} routes, slowest ${Math.max(...measured).toFixed(1)} ms`,
    );
  }
  const insideNow = await insideDurations(bench);
  for (const [name, durations] of insideNow)
    rowInside(name, durationsBetween(inside.get(name) ?? new Map(), durations));
  rowOfTraffic('Requests to other routes meanwhile', report);
}

const inController = 'sallyport_controller_change_duration_seconds';
/** Parts of the latency that the processes measure themselves, by name. */
const insideMetrics: Readonly<Record<string, DurationMetric>> = {
  'From the event in the controller until sent': { name: inController, label: 'until="sent"' },
  'Applied by the data plane': { name: 'sallyport_proxy_configuration_duration_seconds' },
  'From the event until the acknowledgement': { name: inController, label: 'until="acknowledged"' },
};

/** Nothing for another controller. */
async function insideDurations(bench: Bench): Promise<ByName<Durations>> {
  if (peer !== undefined) return new Map();
  const texts = await Promise.all([...(await podsOf(bench)).values()].map(metricsOf));
  return new Map(Object.entries(insideMetrics).map(([name, metric]) => [name, durationsIn(texts, metric)]));
}

function rowInside(name: string, durations: Durations): void {
  const bound = (share: number): string => `${(boundOf(durations, share) * 1000).toFixed(1)} ms`;
  row(name, `p50 ≤ ${bound(0.5)}, p99 ≤ ${bound(0.99)}`, `max ≤ ${bound(1)}, ${durations.get(Infinity) ?? 0} changes`);
}

function spread(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((one, other) => one - other);
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}

function rowOfTraffic(what: string, { requests, durations, failures }: Report): void {
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  row(
    what,
    spread(durations),
    `${failed} of ${format(requests)} failed ${failed === 0 ? '' : JSON.stringify(failures)}`,
  );
}

/** By what they are called here. */
type ByName<T> = ReadonlyMap<string, T>;

async function podsOf({ namespace }: Bench): Promise<ByName<Pod>> {
  const [leading, others] = [await leader(), await followers()];
  const following = others.map((pod, index): [string, Pod] => [`controller, replica ${index + 2} (follows)`, pod]);
  return new Map([
    ['controller, replica 1 (leads)', leading],
    ...following,
    ['data plane', await dataPlane(namespace)],
  ]);
}

async function usagesOf(pods: ByName<Pod>): Promise<ByName<Usage>> {
  return new Map(await Promise.all([...pods].map(async ([name, pod]) => [name, await usageOf(pod)] as const)));
}

async function measureUsage(bench: Bench, routes: number): Promise<void> {
  progress('Waiting: what is done when nothing happens ...');
  const pods = await podsOf(bench);
  await pause(settled);
  const before = await usagesOf(pods);
  const began = performance.now();
  await pause(idleSeconds * 1000);
  const after = await usagesOf(pods);
  const elapsed = (performance.now() - began) / 1000;
  for (const [name, { memory, cpu }] of after) {
    const cores = (cpu - (before.get(name)?.cpu ?? Number.NaN)) / elapsed;
    row(
      `With ${format(routes)} routes, ${name}`,
      `${memory.toFixed(0)} MiB, idle ${(cores * 1000).toFixed(1)} mCPU`,
      `over ${idleSeconds} s`,
    );
  }
}

/** A controller that finds all routes changed: every status is to be written, and every route to be sent. */
async function measureStart(bench: Bench): Promise<void> {
  const { client, namespace, statuses, traffic } = bench;
  await stopController();
  const background = traffic.begin(counts.before, interval);
  await forEach(0, counts.all, (number) =>
    mergePatch({ client, type: httpRoutes }, { namespace, name: routeName(number) }, { spec: { rules: rulesOf('2') } }),
  );
  await statuses.whenAccepted(0);
  progress('Waiting for a controller that begins anew ...');
  const began = performance.now();
  await startController();
  const served = await traffic.whenServed(counts.all - 1, { version: '2', seconds: 120 });
  await statuses.whenAccepted(counts.all, 180);
  const written = await statuses.whenQuiet(quiet);
  const report = await background.stop();
  const what = `A new controller, all ${format(counts.all)} routes changed`;
  row(`${what}, until served`, seconds(served - began), 'start of the pod included');
  row(`${what}, until written`, seconds(written - began));
  rowOfTraffic('Requests meanwhile, and without a controller', report);
}

async function measure(bench: Bench): Promise<void> {
  console.log(
    `${peer === undefined ? 'Sallyport' : `GatewayClass ${peer}`}; control plane's weight: ${process.env['CONTROL_PLANE_WEIGHT'] ?? 'unknown, a cluster of KUBECONFIG'} (one CPU of pods has 100)`,
  );
  console.log('load'.padStart(89));
  if (process.env['ONLY'] === 'latency') {
    await fill(bench, 0, counts.before);
    await measureLatency(bench);
    return;
  }
  if (process.env['ONLY'] === creating) {
    await measureCreation({ ...bench, image, undo, routes: before });
    return;
  }
  await measureUsage(bench, 0);
  await measureStatuses(bench);
  await fill(bench, counts.together, counts.before);
  await measureLatency(bench);
  await fill(bench, counts.before + counts.alone, counts.all);
  await measureUsage(bench, counts.all);
  await measureStart(bench);
}

const undo: (() => Promise<unknown>)[] = [];
const interrupted = Promise.withResolvers<never>();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupted.reject(new Error('interrupted')));
try {
  progress('Installing the controller, and a Gateway ...');
  const client = createClient(await loadCredentials('default'));
  undo.push(() => client.close());
  const installation = await install(image, undo, peer);
  const statuses = new Statuses(client, installation.namespace);
  undo.push(() => statuses.stop());
  const traffic = new Traffic(installation.address);
  undo.push(() => traffic.close());
  // Services get where they lead to a moment after their addresses.
  await waitFor('the data plane answers', () => traffic.ask(0));
  await Promise.race([measure({ ...installation, client, statuses, traffic }), interrupted.promise]);
} finally {
  progress('Removing everything ...');
  // A cluster that ends now takes all of it along, and sooner.
  if (process.env['CLUSTER_ENDS'] === undefined) for (const step of undo.toReversed()) await step();
  progress('');
}
process.exit();
