import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority, issueServingCertificate } from '../../src/certificates/authority.ts';
import { bundle } from '../../tools/bundle.ts';
import { runBenchmark, startOnPort, startPrintingPort, type ServerProcess } from './processes.ts';
import { Client } from './webhook/load.ts';
import { mixedShapes, sharedGatewayShape, type Shape } from './webhook/reviews.ts';

// CPU per review, latency and memory of the webhook, with nothing, 100 and 10,000 routes in its cache, beside the
// official admission server of Gateway API v1.0.0, which looks at one object alone. All get the same reviews in turns,
// in one run, from one client. With nothing in the cache nothing across objects is checked. `make bench-webhook` gives
// it a network of its own and that server (webhook/run.sh).

const connections = 16;
const mixed = { rounds: 5, milliseconds: 1500 };
/** Reviews a second: what no contestant is busy with, so that latency is not that of a queue. */
const fixed = { rounds: 5, milliseconds: 3000, rate: 300 };
const single = { rounds: 3, milliseconds: 400 };
// Node compiles what is hot for some ten thousand reviews.
const warmUp = { rounds: 3, milliseconds: 3000 };
/** NODE_OPTIONS of deploy/base/webhook.yaml. */
const asDeployed = ['--max-old-space-size=384', '--max-semi-space-size=2'];
/** It cannot be told another one. */
const officialPort = 8443;

interface Contestant {
  readonly name: string;
  readonly server: ServerProcess;
}

interface Sample {
  readonly cpu: number;
  readonly p50: number;
  readonly p99: number;
  readonly rate: number;
}

interface Bench {
  readonly contestants: readonly Contestant[];
  readonly client: Client;
  readonly authority: string;
}

async function start(folder: string, official: string, stoppables: { stop(): void }[]): Promise<Bench> {
  const keep = <T extends { stop(): void }>(one: T): T => {
    stoppables.push(one);
    return one;
  };
  const authority = await createAuthority();
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  const files = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  await writeFile(files.certificate, certificate);
  await writeFile(files.key, privateKey, { mode: 0o600 });
  await bundle([{ server: 'test/bench/webhook/server.ts' }], folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');

  const ours = async (routes: number): Promise<ServerProcess> =>
    keep(
      await startPrintingPort(process.execPath, [
        ...asDeployed,
        join(folder, 'server.js'),
        String(routes),
        files.certificate,
        files.key,
      ]),
    );
  const contestants = [
    {
      name: 'official, v1.0.0',
      server: keep(
        await startOnPort(official, ['-tlsCertFile', files.certificate, '-tlsKeyFile', files.key], {
          port: officialPort,
        }),
      ),
    },
    { name: 'ours, nothing cached', server: await ours(0) },
    { name: 'ours, 100 routes', server: await ours(100) },
    { name: 'ours, 10,000 routes', server: await ours(10_000) },
  ];
  return { contestants, client: keep(new Client()), authority: authority.certificate };
}

/** What the contestants say of each shape; a benchmark of wrong answers would prove nothing. */
async function checkVerdicts({ contestants, client, authority }: Bench, shapes: readonly Shape[]): Promise<void> {
  for (const { name, server } of contestants) {
    const denied = [];
    for (const shape of shapes) {
      const verdicts = await client.ask({ port: server.port, authority, bodies: shape.bodies });
      if (verdicts.includes(null)) throw new Error(`${name} does not answer: ${shape.name}`);
      const count = verdicts.filter((allowed) => allowed === false).length;
      if (name.startsWith('ours') && count !== shape.denied)
        throw new Error(`${name} denies ${count} instead of ${shape.denied} of ${shape.bodies.length}: ${shape.name}`);
      denied.push(`${count}/${shape.bodies.length}`);
    }
    console.log(`${name.padEnd(24)}denies ${denied.join(' ')}`);
  }
}

interface Rounds {
  readonly rounds: number;
  readonly milliseconds: number;
  /** Reviews a second; as many as can be answered where it is left out. */
  readonly rate?: number;
}

async function sample(
  { client, authority }: Bench,
  { server }: Contestant,
  bodies: readonly string[],
  load: Rounds,
): Promise<Sample> {
  const { milliseconds, rate } = load;
  const cpu = server.cpu();
  const started = performance.now();
  const { reviews, p50, p99 } = await client.load({
    port: server.port,
    authority,
    connections,
    bodies,
    milliseconds,
    ...(rate !== undefined && { rate }),
  });
  const seconds = (performance.now() - started) / 1000;
  return { cpu: (server.cpu() - cpu) / reviews, p50, p99, rate: reviews / seconds };
}

/** Medians of rounds in which all contestants take their turn, in the order of the contestants. */
async function compare(bench: Bench, bodies: readonly string[], load: Rounds): Promise<readonly Sample[]> {
  const samples = bench.contestants.map((): Sample[] => []);
  for (let round = 0; round < load.rounds; round++) {
    for (const [position, contestant] of bench.contestants.entries())
      samples[position]?.push(await sample(bench, contestant, bodies, load));
  }
  return samples.map((own) => {
    const middle = (read: (one: Sample) => number): number =>
      own.map(read).sort((one, other) => one - other)[Math.floor(own.length / 2)] ?? Number.NaN;
    return {
      cpu: middle(({ cpu }) => cpu),
      p50: middle(({ p50 }) => p50),
      p99: middle(({ p99 }) => p99),
      rate: middle(({ rate }) => rate),
    };
  });
}

function ratio(one: number | undefined, other: number | undefined): string {
  return ((one ?? Number.NaN) / (other ?? Number.NaN)).toFixed(2);
}

function row(name: string, cells: readonly string[]): string {
  return [name.padEnd(34), ...cells.map((cell) => cell.padStart(14))].join('');
}

function reportMixed({ contestants }: Bench, load: string, results: readonly Sample[]): void {
  console.log(
    `\nAll shapes below but the last in turns, ${connections} connections, ${load}, medians of ${mixed.rounds} rounds\n`,
  );
  console.log(row('', ['CPU µs/review', 'ratio', 'p50 ms', 'p99 ms', 'ratio', 'reviews/s', 'memory MiB']));
  const [base] = results;
  for (const [position, { cpu, p50, p99, rate }] of results.entries()) {
    const { name, server } = contestants[position] ?? {};
    const cells = [
      cpu.toFixed(0),
      ratio(cpu, base?.cpu),
      p50.toFixed(2),
      p99.toFixed(2),
      ratio(p99, base?.p99),
      rate.toFixed(0),
      server?.memory().toFixed(0) ?? '',
    ];
    console.log(row(name ?? '', cells));
  }
  console.log(
    row('10,000 routes / 100 routes', [
      ratio(results[3]?.cpu, results[2]?.cpu),
      '',
      ratio(results[3]?.p50, results[2]?.p50),
      ratio(results[3]?.p99, results[2]?.p99),
    ]),
  );
}

function reportShape(shape: Shape, results: readonly Sample[]): void {
  const [base, ...ours] = results;
  console.log(
    row(shape.name, [
      ...results.map(({ cpu, p99 }) => `${cpu.toFixed(0)} / ${p99.toFixed(1)}`),
      ratio(ours.at(-1)?.cpu, base?.cpu),
    ]),
  );
}

async function run(bench: Bench): Promise<void> {
  const shapes = mixedShapes();
  const bodies = shapes.flatMap((shape) => shape.bodies);
  await checkVerdicts(bench, shapes);
  await compare(bench, bodies, warmUp);
  reportMixed(bench, 'as fast as answers come', await compare(bench, bodies, mixed));
  reportMixed(bench, `${fixed.rate} reviews a second`, await compare(bench, bodies, fixed));
  console.log(
    '\nShape by shape: CPU µs per review / p99 ms; ratio: CPU with 10,000 routes by that of the official server\n',
  );
  console.log(row('', ['official', 'nothing', '100', '10,000', 'ratio']));
  for (const shape of [...shapes, sharedGatewayShape()]) reportShape(shape, await compare(bench, shape.bodies, single));
}

await runBenchmark(async (folder, stoppables) => run(await start(folder, process.argv[2] ?? '', stoppables)));
