import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crdManifests } from '../../cluster/crd-manifests.ts';
import { apply, getObject, kubectl, kubectlOutput } from '../../e2e/support/kubectl.ts';
import { waitFor } from '../../e2e/support/wait.ts';
import { backend, gateway, gatewayName } from './objects.ts';

const system = 'sallyport-system';
const deployment = 'deployment/sallyport-controller';
const bundle = 'v1.7.0';

/** A Gateway that is served, with a backend and no routes. */
export interface Installation {
  readonly namespace: string;
  /** Where its data plane is reached. */
  readonly address: string;
}

/** A process of ours in the cluster, by its pod. */
export interface Pod {
  readonly namespace: string;
  readonly name: string;
  /** Where its metrics are. */
  readonly port: number;
}

/** How much a process took so far. */
export interface Usage {
  /** What it holds of the machine's memory, in MiB. */
  readonly memory: number;
  /** Seconds, of the user's and of the kernel's. */
  readonly cpu: number;
}

/**
 * Installs CRDs where there are none, and the controller, and makes a Gateway. What it did is undone by the steps that it
 * adds to `undo`, the last one first. Throws where the cluster holds Gateways or a controller of ours.
 *
 * @param peer the GatewayClass of another controller, which is used instead of ours
 */
export async function install(
  image: string,
  undo: (() => Promise<unknown>)[],
  peer: string | undefined,
): Promise<Installation> {
  const crds = await kubectl(['get', 'crd', 'gateways.gateway.networking.k8s.io']);
  if (crds.code !== 0) await installCrds(undo);
  const kinds = peer === undefined ? 'gateways,gatewayclasses' : 'gateways';
  const busy = await kubectlOutput(['get', kinds, '-A', '-o', 'name']);
  if (busy !== '') throw new Error(`the cluster holds ${kinds} already; use one that nobody needs`);
  if (peer === undefined) await installController(image, undo);
  else await kubectlOutput(['wait', `gatewayclass/${peer}`, '--for=condition=Accepted', '--timeout=60s']);
  const namespace = `bench-routes-${randomBytes(3).toString('hex')}`;
  await kubectlOutput(['create', 'namespace', namespace]);
  undo.push(() => kubectl(['delete', 'namespace', namespace, '--timeout=120s']));
  await apply(...backend(namespace, image), gateway(namespace, peer));
  await kubectlOutput(['wait', '-n', namespace, 'pod/backend', '--for=condition=Ready', '--timeout=60s']);
  await kubectlOutput([
    'wait',
    '-n',
    namespace,
    `gateway/${gatewayName}`,
    '--for=condition=Programmed',
    '--timeout=60s',
  ]);
  const { status } = await getObject<{
    readonly status: { readonly addresses: readonly { readonly value: string }[] };
  }>(['gateway', gatewayName, '-n', namespace]);
  return { namespace, address: status.addresses[0]?.value ?? '' };
}

async function installCrds(undo: (() => Promise<unknown>)[]): Promise<void> {
  const stdin = crdManifests(bundle, 'standard');
  undo.push(() => kubectl(['delete', '-f', '-', '--ignore-not-found', '--timeout=60s'], { stdin }));
  await kubectlOutput(['apply', '--server-side', '-f', '-'], { stdin });
  await kubectlOutput(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
}

async function installController(image: string, undo: (() => Promise<unknown>)[]): Promise<void> {
  await installFolder('overlays/controller', image, undo);
  await kubectlOutput(['rollout', 'status', deployment, '-n', system, '--timeout=60s']);
}

/** Installs the webhook and its watchdog. It is ready once the API server can call it. */
export async function installWebhook(image: string, undo: (() => Promise<unknown>)[]): Promise<void> {
  await installFolder('base', image, undo);
  await kubectlOutput(['rollout', 'status', 'deployment/sallyport-webhook', '-n', system, '--timeout=120s']);
}

/** Installs a folder of `deploy`. */
async function installFolder(folder: string, image: string, undo: (() => Promise<unknown>)[]): Promise<void> {
  const rendered = await kubectlOutput(['kustomize', join(import.meta.dirname, '../../../deploy', folder)]);
  const stdin = rendered.replaceAll(/image: ghcr\.io\/sallyport\/sallyport:.*/g, `image: ${image}`);
  undo.push(() => kubectl(['delete', '-f', '-', '--ignore-not-found', '--timeout=60s'], { stdin }));
  await kubectlOutput(['apply', '-f', '-'], { stdin });
}

/** Ends all replicas of the controller, and waits until they have gone. */
export function stopController(): Promise<void> {
  return stopAll('controller');
}

/** Ends all replicas of the webhook, and waits until they have gone. */
export function stopWebhook(): Promise<void> {
  return stopAll('webhook');
}

async function stopAll(component: 'controller' | 'webhook'): Promise<void> {
  await kubectlOutput(['scale', `deployment/sallyport-${component}`, '-n', system, '--replicas=0']);
  const selector = `app.kubernetes.io/component=${component}`;
  await kubectlOutput(['wait', 'pod', '-n', system, '-l', selector, '--for=delete', '--timeout=60s']);
}

/** Starts one replica, and waits for nothing. */
export async function startController(): Promise<void> {
  await kubectlOutput(['scale', deployment, '-n', system, '--replicas=1']);
}

/** Starts as many replicas of the controller as the manifest has, and waits until they are ready. */
export function restoreController(): Promise<void> {
  return restore(deployment);
}

/** Starts as many replicas of the webhook as the manifest has, and waits until they are ready. */
export function restoreWebhook(): Promise<void> {
  return restore('deployment/sallyport-webhook');
}

async function restore(name: string): Promise<void> {
  await kubectlOutput(['scale', name, '-n', system, '--replicas=2']);
  await kubectlOutput(['rollout', 'status', name, '-n', system, '--timeout=120s']);
}

/** The replica that writes. */
export async function leader(): Promise<Pod> {
  const { spec } = await getObject<{ readonly spec: { readonly holderIdentity: string } }>([
    'lease',
    'sallyport-controller',
    '-n',
    system,
  ]);
  return { namespace: system, name: spec.holderIdentity, port: 8080 };
}

/** The replicas that wait for the lease. They follow all routes, too. */
export async function followers(): Promise<readonly Pod[]> {
  const { name: leading } = await leader();
  const names = await kubectlOutput([
    'get',
    'pods',
    '-n',
    system,
    '-l',
    'app.kubernetes.io/component=controller',
    '-o',
    'jsonpath={.items[*].metadata.name}',
  ]);
  return names
    .split(' ')
    .filter((name) => name !== '' && name !== leading)
    .map((name) => ({ namespace: system, name, port: 8080 }));
}

/** The data plane, of which there is one. */
export async function dataPlane(namespace: string): Promise<Pod> {
  const selector = `gateway.networking.k8s.io/gateway-name=${gatewayName}`;
  const name = await kubectlOutput([
    'get',
    'pod',
    '-n',
    namespace,
    '-l',
    selector,
    '-o',
    'jsonpath={.items[0].metadata.name}',
  ]);
  return { namespace, name, port: 19_090 };
}

/** What the process itself reports. */
export async function usageOf(pod: Pod): Promise<Usage> {
  const text = await metricsOf(pod);
  const value = (metric: string): number => Number(new RegExp(`^${metric} (\\S+)`, 'm').exec(text)?.[1]);
  return { memory: value('process_resident_memory_bytes') / 2 ** 20, cpu: value('process_cpu_seconds_total') };
}

/** The metrics of a process as text; through the API server, so that it is reached from anywhere. */
export async function metricsOf({ namespace, name, port }: Pod): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}:${port}/proxy/metrics`;
  return waitFor(`metrics of ${name}`, () => kubectlOutput(['get', '--raw', path]));
}
