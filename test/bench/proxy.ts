import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { runBenchmark, startOnPort, type ServerProcess } from './processes.ts';
import { haproxyConfiguration, nginxConfiguration, objects, upstreamConfiguration } from './proxy/configurations.ts';

// CPU per request and latency of the proxy beside nginx and HAProxy: the same route, the same backend, the same client,
// in turns, in one run, each with one process and kept-alive connections. `make bench-proxy` builds the program and
// gives the run a network of its own (proxy/run.sh). `CASES=get,tls` selects cases, and ROUNDS and DURATION (of a round,
// in seconds) shorten a run.

const rounds = Number(process.env['ROUNDS'] ?? 5);
const seconds = Number(process.env['DURATION'] ?? 3);
/** Connections of HTTP/1.1, and connections of HTTP/2 with the streams that are open on each. */
const http1 = { connections: 64, streams: 1 };
const http2 = { connections: 8, streams: 16 };
/** Requests a second that each contestant serves with ease. */
const fixedRate = 3_200;
/** So many requests a contestant serves before it is measured, or as many as it can in some rounds: programs are compiled while they run. */
const warmUp = { requests: 60_000, rounds: 5 };
const program = new URL('../../bin/sallyport', import.meta.url).pathname;
const path = '/shop/item?id=1';
const shapes: Readonly<Record<string, Shape>> = {
  get: { name: 'GET', script: '', body: '', path },
  post: {
    name: 'POST of 10 KiB',
    script: "wrk.method = 'POST'\nwrk.body = string.rep('x', 10240)\n",
    body: 'x'.repeat(10_240),
    path,
  },
  large: { name: 'response of 100 KiB', script: '', body: '', path: '/shop/large' },
  tls: { name: 'GET over TLS', script: '', body: '', path, isSecure: true },
  h2: { name: 'GET over TLS with HTTP/2', script: '', body: '', path, isSecure: true, isHttp2: true },
};
const ports = {
  upstream: 18_000,
  nginx: 18_001,
  haproxy: 18_002,
  ours: 18_003,
  nginxTls: 18_011,
  haproxyTls: 18_012,
  oursTls: 18_013,
};

/** Requests of one kind, as wrk is told to send them, and their body. */
interface Shape {
  readonly name: string;
  readonly script: string;
  readonly body: string;
  readonly path: string;
  /** Over TLS. */
  readonly isSecure?: true;
  /** With HTTP/2 instead of HTTP/1.1. */
  readonly isHttp2?: true;
}

interface Contestant {
  readonly name: string;
  readonly url: string;
  readonly secureUrl: string;
  readonly server: ServerProcess;
}

/** How requests are sent: as fast as answers come (wrk, which has no HTTP/2, or h2load), or so many a second (h2load, which speaks HTTP/1.1, too). */
type Sender = (contestant: Contestant, shape: Shape, folder: string) => Promise<Sample>;

interface Sample {
  readonly requests: number;
  readonly cpu: number;
  readonly p50: number;
  readonly p99: number;
  readonly rate: number;
}

async function start(folder: string, stoppables: { stop(): void }[]): Promise<readonly Contestant[]> {
  const keep = async (server: Promise<ServerProcess>): Promise<ServerProcess> => {
    const one = await server;
    stoppables.push(one);
    return one;
  };
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  const nginx = async (name: string, port: number, configuration: string): Promise<ServerProcess> =>
    keep(
      startOnPort('nginx', ['-p', folder, '-e', 'stderr', '-c', await file(`${name}.conf`, configuration)], { port }),
    );
  await file('large', 'x'.repeat(100 * 1024));
  await nginx('upstream', ports.upstream, upstreamConfiguration(ports.upstream, folder));
  const pair = await issueServingCertificate(await createAuthority(), { dnsNames: ['bench'], ipAddresses: [] });
  const pem = await file('tls.pem', `${pair.certificate}\n${pair.privateKey}`);
  const yaml = await file('objects.yaml', objects(ports.ours, ports.oursTls, ports.upstream, pair));
  return [
    {
      name: 'nginx',
      url: `http://127.0.0.1:${ports.nginx}`,
      secureUrl: `https://127.0.0.1:${ports.nginxTls}`,
      server: await nginx('nginx', ports.nginx, nginxConfiguration(ports.nginx, ports.nginxTls, ports.upstream, pem)),
    },
    {
      name: 'HAProxy',
      url: `http://127.0.0.1:${ports.haproxy}`,
      secureUrl: `https://127.0.0.1:${ports.haproxyTls}`,
      server: await keep(
        startOnPort(
          'haproxy',
          [
            '-db',
            '-q',
            '-f',
            await file('haproxy.cfg', haproxyConfiguration(ports.haproxy, ports.haproxyTls, ports.upstream, pem)),
          ],
          { port: ports.haproxy },
        ),
      ),
    },
    {
      name: 'ours',
      url: `http://127.0.1.1:${ports.ours}`,
      secureUrl: `https://127.0.1.1:${ports.oursTls}`,
      server: await keep(
        startOnPort(program, ['run', '-f', yaml, '--no-access-log', '--webhook-port', '0', '--probe-port', '0'], {
          host: '127.0.1.1',
          port: ports.ours,
        }),
      ),
    },
  ];
}

/** A load at full speed: its latency is that of a queue. */
const saturate: Sender = async (contestant, shape, folder) =>
  shape.isHttp2 === true ? runH2load(contestant, shape, folder, []) : runWrk(contestant, shape, folder);

/** A load at a rate that no contestant is busy with. */
const atRate: Sender = async (contestant, shape, folder) =>
  runH2load(contestant, shape, folder, ['--rps', String(fixedRate / clientsOf(shape).connections)]);

const runWrk: Sender = async (contestant, { script, ...shape }, folder) => {
  const { server } = contestant;
  const file = join(folder, 'shape.lua');
  await writeFile(file, script);
  const cpu = server.cpu();
  const { stdout } = await promisify(execFile)('wrk', [
    '-t',
    '1',
    '-c',
    String(http1.connections),
    '-d',
    `${seconds}s`,
    '-s',
    file,
    '--latency',
    urlOf(contestant, shape),
  ]);
  const used = server.cpu() - cpu;
  const found = (pattern: RegExp): string => pattern.exec(stdout)?.[1] ?? '';
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`requests failed:\n${stdout}`);
  const requests = Number(found(/(\d+) requests in/));
  return {
    requests,
    cpu: used / requests,
    rate: Number(found(/Requests\/sec:\s+([\d.]+)/)),
    p50: milliseconds(found(/50%\s+(\S+)/)),
    p99: milliseconds(found(/99%\s+(\S+)/)),
  };
};

/** `pace` are the options that slow the load down. */
async function runH2load(
  contestant: Contestant,
  { body, ...shape }: Shape,
  folder: string,
  pace: readonly string[],
): Promise<Sample> {
  const { server } = contestant;
  const [log, data] = [join(folder, 'requests.log'), join(folder, 'upload')];
  await Promise.all([rm(log, { force: true }), writeFile(data, body)]);
  const cpu = server.cpu();
  const { stdout } = await promisify(execFile)('h2load', [
    ...(shape.isHttp2 === true ? [] : ['--h1']),
    '-t',
    '1',
    '-c',
    String(clientsOf(shape).connections),
    '-m',
    String(clientsOf(shape).streams),
    '-D',
    String(seconds),
    ...pace,
    '--log-file',
    log,
    ...(body === '' ? [] : ['-d', data]),
    urlOf(contestant, shape),
  ]);
  const used = server.cpu() - cpu;
  // Start, status and microseconds of each request.
  const answers = (await readFile(log, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t').map(Number));
  if (answers.some(([, status]) => status !== 200) || !/ 0 failed, 0 errored, 0 timeout/.test(stdout))
    throw new Error(`requests failed:\n${stdout}`);
  const times = answers.map(([, , micros = Number.NaN]) => micros / 1000).toSorted((one, other) => one - other);
  const at = (share: number): number => times[Math.ceil(times.length * share) - 1] ?? Number.NaN;
  return {
    requests: times.length,
    cpu: used / times.length,
    rate: times.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
  };
}

function clientsOf({ isHttp2 }: Pick<Shape, 'isHttp2'>): typeof http1 {
  return isHttp2 === true ? http2 : http1;
}

/**
 * Sees that a contestant answers with HTTP/2 as the backend does: h2load looks at the status only, and takes HTTP/1.1 if
 * it is offered nothing else.
 */
async function requireHttp2Answer(contestant: Contestant, shape: Shape): Promise<void> {
  const session = connect(urlOf(contestant, shape), { rejectUnauthorized: false });
  try {
    const stream = session.request({ ':path': shape.path });
    const status = once(stream, 'response').then(([headers]: { ':status'?: number }[]) => headers?.[':status']);
    const [body, code] = await Promise.all([text(stream), status]);
    if (code !== 200 || body !== 'ok') throw new Error(`${contestant.name} answers ${code} ${JSON.stringify(body)}`);
  } finally {
    session.destroy();
  }
}

function urlOf({ url, secureUrl }: Contestant, shape: Pick<Shape, 'path' | 'isSecure'>): string {
  return `${shape.isSecure === true ? secureUrl : url}${shape.path}`;
}

/** `1.50ms` → 1.5 */
function milliseconds(time: string): number {
  const unit = { us: 0.001, ms: 1, s: 1000 }[time.replace(/[\d.]+/, '')] ?? Number.NaN;
  return Number.parseFloat(time) * unit;
}

function middle(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

interface Load {
  readonly send: Sender;
  readonly name: string;
}

const loads: readonly Load[] = [
  { name: 'as fast as answers come', send: saturate },
  { name: `${fixedRate} requests a second`, send: atRate },
];

async function warm(contestants: readonly Contestant[], shape: Shape, folder: string): Promise<void> {
  for (const contestant of contestants) {
    let served = 0;
    for (let round = 0; round < warmUp.rounds && served < warmUp.requests; round += 1)
      served += (await saturate(contestant, shape, folder)).requests;
  }
}

async function compare(contestants: readonly Contestant[], shape: Shape, load: Load, folder: string): Promise<void> {
  const samples = new Map(contestants.map(({ name }): [string, Sample[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants)
      samples.get(contestant.name)?.push(await load.send(contestant, shape, folder));
  }
  const { connections, streams } = clientsOf(shape);
  const clients = `${connections} connections${streams === 1 ? '' : ` of ${streams} streams`}`;
  console.log(`${shape.name}, ${clients}, ${load.name}, medians of ${rounds} rounds of ${seconds} s\n`);
  const row = (name: string, cells: readonly string[]): void =>
    console.log([name.padEnd(10), ...cells.map((cell) => cell.padStart(16))].join(''));
  row('', ['CPU µs/request', 'ratio to nginx', 'p50 ms', 'p99 ms', 'requests/s', 'memory MiB']);
  const reference = middle(samples.get('nginx')?.map(({ cpu }) => cpu) ?? []);
  for (const { name, server } of contestants) {
    const own = samples.get(name) ?? [];
    const cpu = middle(own.map((one) => one.cpu));
    const cells = [cpu, cpu / reference, middle(own.map(({ p50 }) => p50)), middle(own.map(({ p99 }) => p99))].map(
      (value) => value.toFixed(2),
    );
    row(name, [...cells, middle(own.map(({ rate }) => rate)).toFixed(0), server.memory().toFixed(0)]);
  }
  console.log('');
}

await runBenchmark(async (folder, stoppables) => {
  const contestants = await start(folder, stoppables);
  for (const program of ['nginx', 'haproxy']) console.log(await versionOf(program));
  const cases = process.env['CASES']?.split(',') ?? Object.keys(shapes);
  for (const shape of cases.flatMap((name) => shapes[name] ?? [])) {
    if (shape.isHttp2 === true) for (const contestant of contestants) await requireHttp2Answer(contestant, shape);
    await warm(contestants, shape, folder);
    for (const load of loads) await compare(contestants, shape, load, folder);
  }
});

/** The first line in which a program says its version. */
async function versionOf(name: string): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(name, ['-v']);
  return `${stdout}${stderr}`.split('\n')[0] ?? name;
}
