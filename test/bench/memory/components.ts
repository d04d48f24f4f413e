import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadAll } from 'js-yaml';
import { desiredObjects } from '../../../src/controller/data-plane-manifests.ts';

/** The built program. `DIST` selects the folder of another build, to compare both. */
const program = join(process.env['DIST'] ?? 'dist', 'sallyport.js');
/** A folder for a CPU profile of each process. */
const profiles = process.env['PROFILES'];

/** One process of an installation. */
export interface Component {
  readonly name: string;
  readonly args: readonly string[];
  readonly probePort: number;
  /** NODE_OPTIONS of the deployed container. */
  readonly options: string;
  /** Seconds between two readiness probes of the kubelet. */
  readonly readinessPeriod: number;
}

/** A started component with the probes of a kubelet. */
export interface RunningComponent {
  readonly name: string;
  readonly pid: number;
  stop(): void;
}

/** Finds what the Deployment in a manifest says about its container. */
export function deployed(manifest: string): Pick<Component, 'options' | 'readinessPeriod'> {
  const documents = loadAll(readFileSync(manifest, 'utf8')) as readonly Workload[];
  const deployment = documents.find(({ kind }) => kind === 'Deployment');
  if (deployment === undefined) throw new Error(`${manifest} has no Deployment`);
  return optionsOf(deployment);
}

/** Reads the same from a Deployment. */
function optionsOf({ kind, spec }: Workload): Pick<Component, 'options' | 'readinessPeriod'> {
  const container = spec?.template.spec.containers[0];
  if (container === undefined) throw new Error(`a ${kind} has no container`);
  const options = container.env.find(({ name }) => name === 'NODE_OPTIONS')?.value ?? '';
  return { options, readinessPeriod: container.readinessProbe.periodSeconds };
}

/** Finds the same in the Deployment of a data plane, as the controller creates it. */
export function dataPlaneOptions(): Pick<Component, 'options' | 'readinessPeriod'> {
  const facts = { namespace: 'infra', name: 'front', uid: '1', ports: [{ port: 80, transport: 'TCP' as const }] };
  const settings = { image: '', controller: '', audience: '', authority: '' };
  const objects = desiredObjects({ ...facts, addresses: [], parameters: {}, labels: {}, annotations: {} }, settings);
  return optionsOf(objects.find(({ kind }) => kind === 'Deployment') as unknown as Workload);
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly readinessProbe: { readonly periodSeconds: number };
}

/** A Deployment, or another object without `spec`. */
interface Workload {
  readonly kind: string;
  readonly spec?: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

/** Starts a component, and resolves when it is ready. Its home has no kubeconfig. */
export async function startComponent(
  { name, args, probePort, options, readinessPeriod }: Component,
  environment: Readonly<Record<string, string>>,
): Promise<RunningComponent> {
  const child = spawn(process.execPath, [program, ...args, `--probe-port=${probePort}`], {
    stdio: ['ignore', 'ignore', process.env['LOGS'] === undefined ? 'ignore' : 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      // As in the image (deploy/Dockerfile).
      MALLOC_TRIM_THRESHOLD_: '1048576',
      NODE_OPTIONS: [options, process.env['OPTIONS'], ...profiling(name)].join(' '),
      ...environment,
    },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} did not start`);
  for (let tries = 0; !(await probe(probePort, '/readyz')); tries++) {
    if (tries === 600 || child.exitCode !== null) {
      child.kill('SIGKILL');
      throw new Error(`${name} does not become ready`);
    }
    await delay(100);
  }
  const timers = [
    setInterval(() => void probe(probePort, '/readyz'), readinessPeriod * 1000),
    setInterval(() => void probe(probePort, '/healthz'), 10_000),
  ];
  return {
    name,
    pid,
    stop() {
      timers.forEach(clearInterval);
      // A profile is written at an orderly end.
      child.kill(profiles === undefined ? 'SIGKILL' : 'SIGTERM');
    },
  };
}

function profiling(name: string): readonly string[] {
  if (profiles === undefined) return [];
  return ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name.replaceAll(/[ ,]+/g, '-')}.cpuprofile`];
}

/** Every probe has a connection of its own, as those of kubelets. */
function probe(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}
