import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createAuthority, issueServingCertificate, type Authority } from '../../src/certificates/authority.ts';
import { ConfigurationSource } from '../../src/channel/index.ts';
import { desiredObjects } from '../../src/controller/data-plane-manifests.ts';
import { createEvaluation } from '../../src/core/evaluation.ts';
import { installationCell } from '../../src/core/graph/inputs.ts';
import { write } from '../../src/core/incremental/index.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { startChannel, tokenOf } from '../support/channel.ts';
import { candidateOf, installation, writeOf } from '../support/evaluation.ts';
import { startFakeApiServer, type FakeApiServer } from '../support/fake-api-server.ts';
import { findResource } from '../support/api-server/resources.ts';
import {
  deployed,
  optionsOf,
  startComponent,
  type Component,
  type RunningComponent,
  type Workload,
} from './memory/components.ts';
import { definitions, gatewayName, gatewayObjects, namespaces, webhookObjects } from './memory/objects.ts';
import { memoryOf, type MemoryUsage } from './memory/usage.ts';
import { cpuOf, runBenchmark } from './processes.ts';

// Memory and CPU of an idle installation: two replicas of the webhook and of the controller, the watchdog and one data
// plane, with a small cluster and with many routes. Each is started as its manifest says, and probed as a kubelet does.
// `make bench-memory` gives the run a network and the files of a ServiceAccount of its own (memory/run.sh).

const sizes = (process.env['ROUTES'] ?? '10 5000').split(' ').map(Number);
/** Only these components, where it is set: a part of their names. */
const wanted = process.env['COMPONENTS'] ?? '';
/** Seconds without work before the measurement: processes return memory for at most a minute after their start. */
const settling = Number(process.env['SETTLE'] ?? '75');
const seconds = Number(process.env['SECONDS'] ?? '30');
const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const token = 'token-of-the-account';

interface Row extends MemoryUsage {
  readonly name: string;
  /** Thousandths of a core. */
  readonly cpu: number;
}

async function measure(routes: number): Promise<readonly Row[]> {
  let rows: readonly Row[] = [];
  await runBenchmark(async (folder, stoppables) => {
    const authority = await createAuthority();
    const server = await startCluster(authority, routes);
    const dataPlane = await serveDataPlane(folder, routes);
    stoppables.push({ stop: () => void server.close() }, { stop: () => void dataPlane.close() });
    const running: RunningComponent[] = [];
    const components = [...controlPlane(), dataPlane.component].filter(({ name }) => name.includes(wanted));
    for (const component of components) {
      const one = await startComponent(component, { HOME: folder, ...environmentOf(server) });
      stoppables.push(one);
      running.push(one);
    }
    await delay(settling * 1000);
    const before = running.map(({ pid }) => cpuOf(pid));
    await delay(seconds * 1000);
    rows = running.map(({ name, pid }, position) => ({
      name,
      ...memoryOf(pid),
      cpu: (cpuOf(pid) - (before[position] ?? Number.NaN)) / 1000 / seconds,
    }));
  });
  return rows;
}

/** An API server with the objects, and the files with which a pod authenticates there. */
async function startCluster(authority: Authority, routes: number): Promise<FakeApiServer> {
  const certificate = await issueServingCertificate(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] });
  const server = await startFakeApiServer({ certificate, token });
  for (const name of namespaces)
    insert(server, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, 'namespaces');
  for (const definition of definitions()) insert(server, definition, 'customresourcedefinitions');
  for (const object of [...gatewayObjects(routes), ...webhookObjects()]) insert(server, object);
  await mkdir(account, { recursive: true });
  await writeFile(join(account, 'ca.crt'), authority.certificate);
  await writeFile(join(account, 'token'), token);
  await writeFile(join(account, 'namespace'), 'sallyport-system');
  return server;
}

function insert({ store }: FakeApiServer, object: object, plural = pluralOf(object)): void {
  const { apiVersion } = object as { readonly apiVersion: string };
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const resource = findResource(store, { group, version, plural });
  if (resource === undefined) throw new Error(`${plural} of ${apiVersion} are not served`);
  store.insert(resource, object as Record<string, unknown>);
}

function pluralOf(object: object): string {
  const { kind } = object as { readonly kind: string };
  return `${kind.toLowerCase()}${kind.endsWith('Class') ? 'es' : 's'}`;
}

function environmentOf({ url }: FakeApiServer): Readonly<Record<string, string>> {
  const { hostname, port } = new URL(url);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, POD_NAMESPACE: 'sallyport-system' };
}

function controlPlane(): readonly Component[] {
  const webhook = (number: number): Component => ({
    name: `webhook ${number}`,
    args: ['webhook', `--port=${10_250 + number}`, `--identity=webhook-${number}`],
    probePort: 8080 + number,
    ...deployed('deploy/base/webhook.yaml'),
  });
  const controller = (name: string, number: number): Component => ({
    name: `controller ${number}, ${name}`,
    args: ['controller', `--port=${8443 + number}`, `--identity=controller-${number}`, '--image=example.com/sallyport'],
    probePort: 8090 + number,
    ...deployed('deploy/controller/controller.yaml'),
  });
  return [
    { name: 'watchdog', args: ['watchdog'], probePort: 8070, ...deployed('deploy/base/watchdog.yaml') },
    webhook(1),
    webhook(2),
    controller('leader', 1),
    controller('standby', 2),
  ];
}

/** A data plane of the Gateway, and the channel that sends it the configuration that follows from the objects. */
async function serveDataPlane(
  folder: string,
  routes: number,
): Promise<{ readonly component: Component; close(): Promise<void> }> {
  const kernel = createEvaluation([configuration]);
  const candidates = gatewayObjects(routes).map((object) => candidateOf(object).resource);
  const delta = kernel.apply([
    write(installationCell, [], installation),
    ...candidates.map((resource) => writeOf(resource.ref, resource)),
  ]);
  const source = new ConfigurationSource();
  source.publish(delta.of(configuration).upserted.values(), []);
  const { server, authority } = await startChannel((name) => (name === gatewayName ? source : undefined));
  const [tokenFile, caFile] = [join(folder, 'token'), join(folder, 'ca.crt')];
  await writeFile(tokenFile, tokenOf(gatewayName));
  await writeFile(caFile, authority.certificate);
  const args = [
    'proxy',
    `--controller=127.0.0.1:${server.port}`,
    `--gateway=${gatewayName}`,
    `--token-file=${tokenFile}`,
    `--ca-file=${caFile}`,
    '--identity=front-1',
  ];
  const component = { name: 'data plane', args, probePort: 19_090, ...optionsOf(dataPlaneDeployment()) };
  return { component, close: () => server.close() };
}

/** The Deployment of a data plane, as the controller makes it. */
function dataPlaneDeployment(): Workload {
  const facts = { namespace: 'infra', name: 'front', uid: '1', ports: [{ port: 80, transport: 'TCP' as const }] };
  const settings = { image: '', controller: '', audience: '', authority: '' };
  const objects = desiredObjects({ ...facts, addresses: [], parameters: {}, labels: {}, annotations: {} }, settings);
  return objects.find(({ kind }) => kind === 'Deployment') as unknown as Workload;
}

function report(routes: number, rows: readonly Row[]): void {
  const total = rows.reduce((sum, { cpu }) => sum + cpu, 0);
  console.log(`\n${routes} routes; MiB, and thousandths of a core\n`);
  console.log('| | resident | not shared | proportional | CPU |\n|---|---|---|---|---|');
  for (const { name, resident, anonymous, proportional, cpu } of rows)
    console.log(
      `| ${name} | ${resident.toFixed(0)} | ${anonymous.toFixed(0)} | ${proportional.toFixed(0)} | ${cpu.toFixed(1)} |`,
    );
  const sum = rows.reduce((all, { resident }) => all + resident, 0);
  console.log(`| all | ${sum.toFixed(0)} | | | ${total.toFixed(1)} |`);
}

for (const routes of sizes) report(routes, await measure(routes));
