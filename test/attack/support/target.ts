import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFinalStage } from '../../cluster/dockerfile.ts';
import { freePort } from '../../support/program.ts';
import { isFull } from './scale.ts';

/** Options of Node that attacked processes get: the heap that the shipped manifests set for all of them. */
const heapAlone = '--max-old-space-size=384';

/** Where `sallyport run` serves the first Gateway, on machines that have all of 127.0.0.0/8. */
export const gatewayHost = '127.0.1.1';

/** What a process holds at one moment. */
export interface Held {
  /** Resident memory in MiB. */
  readonly memory: number;
  readonly descriptors: number;
  /** Processor time used so far, user and system, in seconds. */
  readonly cpu: number;
}

/** `sallyport run` as a process of its own, with the heap that the shipped manifests give it. */
export interface Target {
  readonly pid: number;
  /** Where metrics and health checks are. */
  readonly probePort: number;
  readonly webhookPort: number;
  held(): Held;
  /** The value of one metric with these labels, 0 where it has none yet. */
  metric(name: string, labels?: string): Promise<number>;
  isAlive(): boolean;
  /** Everything written to standard output and error so far. */
  output(): string;
  stop(): Promise<void>;
}

/** What an attack at full size judges is the built program, whose memory is that of a pod. Running from sources takes about 100 MiB more. */
const program = isFull ? 'dist/sallyport.js' : 'src/main.ts';

/** Serves these objects (YAML) until `stop`. `nodeOptions`: those of the attacked process in the shipped manifests. */
export async function startTarget(yaml: string, nodeOptions = heapAlone): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-attack-'));
  await writeFile(join(folder, 'objects.yaml'), yaml);
  const [probePort, webhookPort] = [await freePort(), await freePort()];
  const options = [
    '-f',
    folder,
    '--no-access-log',
    '--grace',
    '1',
    '--probe-port',
    String(probePort),
    '--webhook-port',
    String(webhookPort),
  ];
  const child: ChildProcess = spawn(
    process.execPath,
    [...nodeOptions.split(' '), '--disable-warning=ExperimentalWarning', program, 'run', ...options],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...imageEnvironment(), NODE_OPTIONS: '', NO_COLOR: '1', TMPDIR: folder },
    },
  );
  let output = '';
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  const take = (chunk: Buffer): void => {
    output += chunk.toString();
    if (output.includes('Ctrl-C stops')) resolve();
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const ended = once(child, 'close');
  void ended.then(() => reject(new Error(`the target ended:\n${output}`)));
  await started;
  const pid = child.pid ?? 0;
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid,
    probePort,
    webhookPort,
    held: () => heldBy(pid),
    metric: async (name, labels = '') => {
      const page = await (await fetch(`http://127.0.0.1:${probePort}/metrics`)).text();
      const line = page.split('\n').find((candidate) => candidate.startsWith(`${name}${labels} `));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
    isAlive,
    output: () => output,
    stop: async () => {
      if (isAlive()) child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The environment variables of the shipped image. */
function imageEnvironment(): Readonly<Record<string, string>> {
  const { environment } = readFinalStage(readFileSync('deploy/Dockerfile', 'utf8'));
  return Object.fromEntries(environment.map((variable) => variable.split('=', 2) as [string, string]));
}

/** Ticks of the processor clock in a second, as /proc counts them on every Linux that Node runs on. */
const ticks = 100;

function heldBy(pid: number): Held {
  const memory = /VmRSS:\s+(?<kib>\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.groups?.['kib'];
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    memory: Number(memory) / 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    cpu: (Number(fields[11]) + Number(fields[12])) / ticks,
  };
}
