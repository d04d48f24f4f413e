import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { clusterState, image } from './cluster.ts';
import { getObject, kubectl, kubectlOutput } from './kubectl.ts';
import { podNames, systemNamespace } from './sallyport.ts';
import { waitFor } from './wait.ts';

const deployment = 'deployment/sallyport-controller';

/**
 * Installs the controller as a user does, with the image under test, and waits until its replicas are ready, and those of
 * a former installation gone.
 *
 * @param pool ranges of addresses that it shall give to Gateways; none: whatever the cluster gives
 */
export async function installController(pool: readonly string[] = []): Promise<void> {
  await kubectlOutput(['apply', '-f', '-'], { stdin: await manifests(pool) });
  await kubectlOutput(['rollout', 'status', deployment, '-n', systemNamespace, '--timeout=120s']);
  const {
    spec: { replicas },
  } = await getObject<{ readonly spec: { readonly replicas: number } }>([deployment, '-n', systemNamespace]);
  // A leader on its way out may still lead.
  await waitFor(
    'the former replicas are gone',
    async () => (await podNames('controller')).length === replicas || undefined,
  );
}

/**
 * Removes it, whatever pool it had, with all Gateways. The class goes while the controller runs: nobody else removes its finalizer,
 * and the CRD of GatewayClasses stays until it is removed.
 */
export async function uninstallController(): Promise<void> {
  await kubectl(['delete', 'gateway', '--all', '-A']);
  await kubectl(['delete', 'gatewayclass', '--all', '--timeout=60s']);
  await kubectl(['delete', '-f', '-', '--ignore-not-found', '--timeout=90s'], { stdin: await manifests(['any']) });
}

async function manifests(pool: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-controller-'));
  try {
    const place = (name: string) => relative(folder, join(import.meta.dirname, '../../../deploy', name));
    const options = pool.map((range) => ({
      op: 'add',
      path: '/spec/template/spec/containers/0/args/-',
      value: `--address-pool=${range}`,
    }));
    await writeFile(
      join(folder, 'kustomization.yaml'),
      JSON.stringify({
        resources: [place('overlays/controller')],
        components: pool.length > 0 ? [place('components/address-pool')] : [],
        patches:
          options.length > 0
            ? [{ target: { kind: 'Deployment', name: 'sallyport-controller' }, patch: JSON.stringify(options) }]
            : [],
      }),
    );
    const rendered = await kubectlOutput(['kustomize', folder]);
    return rendered.replace(/image: ghcr\.io\/sallyport\/sallyport:.*/, `image: ${image}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Pod that holds the lease. */
export async function leader(): Promise<string> {
  return waitFor('a leader', async () => {
    const { spec } = await getObject<{ readonly spec: { readonly holderIdentity?: string } }>([
      'lease',
      'sallyport-controller',
      '-n',
      systemNamespace,
    ]);
    return spec.holderIdentity === '' ? undefined : spec.holderIdentity;
  });
}

interface Pods {
  readonly items: readonly {
    readonly status: { readonly containerStatuses: readonly { readonly containerID: string }[] };
  }[];
}

/** Kills the processes of all replicas as a crash does, without a word to anybody, and waits until they were started again. */
export async function killControllers(): Promise<void> {
  const containers = async () => {
    const { items } = await getObject<Pods>([
      'pods',
      '-n',
      systemNamespace,
      '-l',
      'app.kubernetes.io/component=controller',
    ]);
    return items.flatMap(({ status }) => status.containerStatuses);
  };
  const running = await containers();
  // No API does that.
  const ctr = (id: string) =>
    promisify(execFile)('ctr', [
      '-a',
      join(clusterState ?? '', 'containerd.sock'),
      '-n',
      'k8s.io',
      'task',
      'kill',
      '-s',
      'SIGKILL',
      id,
    ]);
  await Promise.all(running.map(({ containerID }) => ctr(containerID.replace('containerd://', ''))));
  await waitFor('the replicas are started again', async () => {
    const ids = new Set((await containers()).map(({ containerID }) => containerID));
    return running.some(({ containerID }) => ids.has(containerID)) ? undefined : true;
  });
  await kubectlOutput(['rollout', 'status', deployment, '-n', systemNamespace, '--timeout=120s']);
}

interface GatewayManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec: { readonly gatewayClassName: string; readonly listeners: readonly object[] };
}

/** A Gateway of the class that the overlay brings, with HTTP listeners on these ports. */
export function gateway(name: string, namespace: string, ...ports: readonly number[]): GatewayManifest {
  const listeners = ports.map((port) => ({ name: `http-${port}`, port, protocol: 'HTTP' }));
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace },
    spec: { gatewayClassName: 'sallyport', listeners },
  };
}

export interface GatewayObject {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
      readonly observedGeneration?: number;
    }[];
  };
}

/** Waits until a condition of a Gateway has this status at the newest generation. Gives the Gateway. */
export async function waitForGateway(
  name: string,
  namespace: string,
  [type, status]: readonly [type: string, status: string],
): Promise<GatewayObject> {
  return waitFor(`${type} of Gateway ${name} is ${status}`, async () => {
    const found = await getObject<GatewayObject>(['gateway', name, '-n', namespace]);
    const condition = conditionOf(found, type);
    return condition?.status === status && condition.observedGeneration === found.metadata.generation
      ? found
      : undefined;
  });
}

/** A condition of the Gateway itself. */
export function conditionOf(object: GatewayObject, type: string) {
  return object.status?.conditions?.find((condition) => condition.type === type);
}
