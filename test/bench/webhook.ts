import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueServingCertificate } from '../../src/certificates/authority.ts';
import { bundle } from '../../tools/bundle.ts';
import { runBenchmark, startOnPort, startPrintingPort, type ServerProcess } from './processes.ts';
import { Client } from './webhook/load.ts';
import { mixedShapes, sharedGatewayShape, type Shape } from './webhook/reviews.ts';

// CPU per review, latency and memory of the webhook, with nothing, 100 and 10,000 routes in its cache, beside the
// official admission server of Gateway API v1.0.0, which looks at one object alone, and beside a server that shows the
// least that Node takes. All get the same reviews in turns, in one run, from one client. With nothing in the cache
// nothing across objects is checked. `make bench-webhook` gives it a network of its own and the official server
// (webhook/run.sh).

const connections = 16;
const mixed = { rounds: 5, milliseconds: 1500 };
/** Reviews a second: what no contestant is busy with, so that latency is not that of a queue. */
const fixed = { rounds: 3, milliseconds: 3000, rate: 300 };
const single = { rounds: 3, milliseconds: 400 };
/** Reviews that each contestant answers before it is measured: V8 goes on compiling for some ten thousand, and for some thousand of another shape. */
const warmUp = { mixed: 60_000, single: 5_000 };
/** NODE_OPTIONS of deploy/base/webhook.yaml. */
const asDeployed = ['--max-old-space-size=384', '--max-semi-space-size=4', '--v8-pool-size=1'];
/** It cannot be told another one. */
const officialPort = 8443;

interface Contestant {
  readonly name: string;
  readonly server: ServerProcess;
}

interface Sample {
  readonly reviews: number;
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
  // The first to stop: the end of a server would be an error for it.
  const client = keep(new Client());
  const authority = await createAuthority();
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  const files = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  await writeFile(files.certificate, certificate);
  await writeFile(files.key, privateKey, { mode: 0o600 });
  await bundle([{ server: 'test/bench/webhook/server.ts' }, { bare: 'test/bench/webhook/bare.ts' }], folder);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');

  const node = async (program: string, ...args: string[]): Promise<ServerProcess> =>
    keep(
      await startPrintingPort(process.execPath, [
        ...asDeployed,
        join(folder, program),
        files.certificate,
        files.key,
        ...args,
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
    { name: 'Node alone', server: await node('bare.js') },
    { name: 'ours, nothing cached', server: await node('server.js', '0') },
    { name: 'ours, 100 routes', server: await node('server.js', '100') },
    { name: 'ours, 10,000 routes', server: await node('server.js', '10000') },
  ];
  return { contestants, client, authority: authority.certificate };
}

/** What the contestants say of each shape; a benchmark of wrong answers would prove nothing. Node alone allows everything. */
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
  return { reviews, cpu: (server.cpu() - cpu) / reviews, p50, p99, rate: reviews / seconds };
}

/** Has each contestant answer so many reviews. */
async function warm(bench: Bench, bodies: readonly string[], reviews: number): Promise<void> {
  for (const contestant of bench.contestants)
    for (let answered = 0; answered < reviews;)
      answered += (await sample(bench, contestant, bodies, { rounds: 1, milliseconds: 1000 })).reviews;
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
      reviews: middle(({ reviews }) => reviews),
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

function reportMixed({ contestants }: Bench, load: Rounds, results: readonly Sample[]): void {
  const { rounds, rate } = load;
  const speed = rate === undefined ? 'as fast as answers come' : `${rate} reviews a second`;
  console.log(
    `\nAll shapes below but the last in turns, ${connections} connections, ${speed}, medians of ${rounds} rounds after ${warmUp.mixed.toLocaleString('en-US')} reviews; load average ${loadavg()[0]?.toFixed(1)}\n`,
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
  console.log(growth(results.slice(-2)));
}

/** What a hundred times as many routes change. */
function growth([few, many]: readonly Sample[]): string {
  return row('10,000 routes / 100 routes', [
    ratio(many?.cpu, few?.cpu),
    '',
    ratio(many?.p50, few?.p50),
    ratio(many?.p99, few?.p99),
  ]);
}

function reportShape(name: string, results: readonly Sample[]): void {
  const [official, alone] = results;
  const ours = results.at(-1);
  const cells = [
    ...[official, alone, ours].map((sample) => (sample?.cpu ?? Number.NaN).toFixed(0)),
    ratio(alone?.cpu, official?.cpu),
    ratio(ours?.cpu, official?.cpu),
    ...[official, ours].map((sample) => (sample?.p99 ?? Number.NaN).toFixed(1)),
  ];
  console.log(`| ${[name, ...cells].join(' | ')} |`);
}

async function run(bench: Bench): Promise<void> {
  const shapes = mixedShapes();
  const bodies = shapes.flatMap((shape) => shape.bodies);
  await checkVerdicts(bench, shapes);
  await warm(bench, bodies, warmUp.mixed);
  for (const load of [mixed, fixed]) reportMixed(bench, load, await compare(bench, bodies, load));
  console.log(
    `\nShape by shape, after ${warmUp.single.toLocaleString('en-US')} reviews of each, as fast as answers come, medians of ${single.rounds} rounds; ours with 10,000 routes\n`,
  );
  console.log(
    '| | official: CPU µs | Node alone | Sallyport | Node alone to the official | Sallyport to the official | official: p99 ms | Sallyport |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  for (const { name, bodies } of [...shapes, sharedGatewayShape()]) {
    await warm(bench, bodies, warmUp.single);
    reportShape(name, await compare(bench, bodies, single));
  }
}

await runBenchmark(async (folder, stoppables) => run(await start(folder, process.argv[2] ?? '', stoppables)));
