import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createAuthority } from '../../src/certificates/authority.ts';
import { ConfigurationSource } from '../../src/channel/index.ts';
import { createEvaluation } from '../../src/core/evaluation.ts';
import { installationCell } from '../../src/core/graph/inputs.ts';
import { write } from '../../src/core/incremental/index.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { startChannel, tokenOf } from '../support/channel.ts';
import { candidateOf, installation, writeOf } from '../support/evaluation.ts';
import { controlPlane, environmentOf, startCluster } from './memory/cluster.ts';
import { dataPlaneOptions, startComponent, type Component, type RunningComponent } from './memory/components.ts';
import { gatewayName, gatewayObjects } from './memory/objects.ts';
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
  const component = { name: 'data plane', args, probePort: 19_090, ...dataPlaneOptions() };
  return { component, close: () => server.close() };
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
