import { dump, load, loadAll } from 'js-yaml';
import { join } from 'node:path';
import type { FailurePolicy } from '../../../src/core/admission/settings.ts';
import { image } from './cluster.ts';
import { getObject, kubectl, kubectlOutput } from './kubectl.ts';
import { waitFor } from './wait.ts';

/** Where the overlays install, and the names that they use. */
export const systemNamespace = 'sallyport-system';
export const webhookConfiguration = 'sallyport-webhook';
export const webhookSelector = 'app.kubernetes.io/component=webhook';

/** Seconds that the kubelet may take to bring a changed ConfigMap into the pods. */
export const kubeletPatience = 150;

export type Overlay = 'audit' | 'enforce';

interface InstallOptions {
  /** The settings file instead of the overlay's. */
  readonly settings?: object;
  /** Replicas of the webhook; as many as the overlay says where it is left out. */
  readonly replicas?: number;
  /** Options of the webhook besides the overlay's. */
  readonly args?: readonly string[];
}

/** An object as the overlays render it. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface ConfigMap extends Manifest {
  data: Record<string, string>;
}

interface Deployment extends Manifest {
  readonly spec: {
    replicas: number;
    readonly template: { readonly spec: { readonly containers: { image: string; readonly args: string[] }[] } };
  };
}

/**
 * Installs the webhook as a user does, with the image under test, and waits until its pods and the watchdog are ready,
 * failurePolicy is what the settings ask for and calls arrive. The CRDs must be there. `uninstallSallyport` removes it.
 */
export async function installSallyport(overlay: Overlay, options: InstallOptions = {}): Promise<void> {
  const manifests = await applyOverlay(overlay, options);
  await waitUntilReady();
  await waitForFailurePolicy(wishedPolicy(manifests));
  await waitUntilCalled();
}

/**
 * Waits until the API server calls the webhook. Under Ignore nothing else shows that: pods are ready a moment before the
 * node forwards to them and before the API server has seen the caBundle, and until then writes pass unseen.
 */
async function waitUntilCalled(): Promise<void> {
  const stdin = JSON.stringify({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'call' },
    spec: { controllerName: 'example.com/call' },
  });
  await waitFor('calls arrive', async () => {
    await kubectlOutput(['create', '-f', '-', '--dry-run=server'], { stdin });
    return (await metricSum('sallyport_admission_requests_total{kind="GatewayClass"')) > 0 || undefined;
  });
}

/** Applies an overlay, and waits for nothing. Gives what it consists of. */
export async function applyOverlay(overlay: Overlay, options: InstallOptions = {}): Promise<readonly Manifest[]> {
  const manifests = await render(overlay, options);
  await kubectlOutput(['apply', '-f', '-'], {
    stdin: manifests.map((manifest) => dump(manifest, { noRefs: true })).join('---\n'),
  });
  return manifests;
}

/** Says how many pods there shall be, and waits for none. */
export async function scale(component: Component, replicas: number): Promise<void> {
  await kubectlOutput(['scale', `deployment/sallyport-${component}`, '-n', systemNamespace, `--replicas=${replicas}`]);
}

/**
 * Kills all webhook pods, without time to drain; does not wait for their end. Not by force: that hides the pods from the
 * API at once, and lets them go on for their whole grace period.
 */
export async function killWebhookPods(): Promise<void> {
  await kubectlOutput([
    'delete',
    'pod',
    '-n',
    systemNamespace,
    '-l',
    webhookSelector,
    '--grace-period=1',
    '--wait=false',
  ]);
}

type Component = 'webhook' | 'watchdog' | 'controller';

/** Names of all pods of a component, those on their way out included. */
export async function podNames(component: Component): Promise<readonly string[]> {
  const { items } = await getObject<{ items: readonly PodObject[] }>([
    'pods',
    '-n',
    systemNamespace,
    '-l',
    `app.kubernetes.io/component=${component}`,
  ]);
  return items.map(({ metadata }) => metadata.name);
}

/** Waits until none of these pods of a component is there any more. */
export async function waitUntilGone(component: Component, names: readonly string[]): Promise<void> {
  await waitFor(
    'the pods are gone',
    async () => (await podNames(component)).every((name) => !names.includes(name)) || undefined,
  );
}

/** Waits until every pod of webhook and watchdog that the Deployments ask for is ready. */
export async function waitUntilReady(): Promise<void> {
  for (const name of ['sallyport-webhook', 'sallyport-watchdog']) {
    await kubectlOutput(['rollout', 'status', `deployment/${name}`, '-n', systemNamespace, '--timeout=120s']);
  }
}

/** The failurePolicy that the API server has now. */
export async function failurePolicy(): Promise<string> {
  const { webhooks } = await getObject<{ webhooks: readonly { failurePolicy: string }[] }>([
    'validatingwebhookconfiguration',
    webhookConfiguration,
  ]);
  return webhooks.map((webhook) => webhook.failurePolicy).join();
}

/** Waits until this failurePolicy is stored, which may begin with settings on their way. The API server follows a moment later. */
export async function waitForFailurePolicy(wished: FailurePolicy): Promise<void> {
  await waitFor(
    `failurePolicy becomes ${wished}`,
    async () => ((await failurePolicy()) === wished ? true : undefined),
    kubeletPatience,
  );
}

/** Replaces the settings file in the ConfigMap; each pod sees it when the kubelet gets to it (about a minute). */
export async function replaceSettings(settings: object | string): Promise<void> {
  const text = typeof settings === 'string' ? settings : dump(settings);
  const patch = JSON.stringify({ data: { 'settings.yaml': text } });
  await kubectlOutput(['patch', 'configmap', 'sallyport-settings', '-n', systemNamespace, '--type=merge', '-p', patch]);
}

export interface WebhookPod {
  readonly name: string;
  readonly ip: string;
  readonly restarts: number;
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly podIP?: string;
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

/** The webhook's pods that run and are not on their way out. */
export async function webhookPods(): Promise<readonly WebhookPod[]> {
  const { items } = await getObject<{ items: readonly PodObject[] }>([
    'pods',
    '-n',
    systemNamespace,
    '-l',
    webhookSelector,
  ]);
  return items.flatMap(({ metadata, status: { podIP, containerStatuses = [] } }) => {
    if (metadata.deletionTimestamp !== undefined || podIP === undefined) return [];
    return [
      {
        name: metadata.name,
        ip: podIP,
        restarts: containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
      },
    ];
  });
}

/** The log of each webhook pod since its start. What was just written comes a moment later. */
export async function webhookLogs(): Promise<readonly string[]> {
  return Promise.all((await webhookPods()).map(({ name }) => kubectlOutput(['logs', name, '-n', systemNamespace])));
}

interface MeteredPod {
  readonly name: string;
  /** Ours unless given. */
  readonly namespace?: string;
  readonly port?: number;
}

/** What the metrics of one pod say: sample with its labels → value. They are fetched through the API server, which works from everywhere. */
export async function metricsOf({
  name,
  namespace = systemNamespace,
  port = 8080,
}: MeteredPod): Promise<ReadonlyMap<string, number>> {
  const scraped = await kubectlOutput([
    'get',
    '--raw',
    `/api/v1/namespaces/${namespace}/pods/${name}:${port}/proxy/metrics`,
  ]);
  const lines = scraped.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** The sum over all webhook pods of the samples whose name and labels begin so: `sallyport_admission_requests_total{verdict="denied"`. */
export async function metricSum(prefix: string): Promise<number> {
  const perPod = await Promise.all((await webhookPods()).map(metricsOf));
  return perPod
    .flatMap((metrics) => [...metrics])
    .reduce((sum, [sample, value]) => (sample.startsWith(prefix) ? sum + value : sum), 0);
}

/** Removes all that `installSallyport` made, and waits until it is gone. Pods are not given their time to drain. */
export async function uninstallSallyport(): Promise<void> {
  const manifests = (await render('enforce')).filter(({ kind }) => kind !== 'Namespace');
  await kubectl(['delete', 'validatingwebhookconfiguration', webhookConfiguration, '--ignore-not-found']);
  await kubectl(['delete', 'deployment', '--all', '-n', systemNamespace, '--cascade=foreground', '--wait=false']);
  await kubectl(['delete', 'pod', '--all', '-n', systemNamespace, '--grace-period=0', '--force']);
  await kubectl(['delete', '-f', '-', '--ignore-not-found'], {
    stdin: manifests.map((manifest) => dump(manifest, { noRefs: true })).join('---\n'),
  });
  await kubectlOutput(['delete', 'namespace', systemNamespace, '--ignore-not-found', '--timeout=180s']);
}

/** What an overlay consists of, with the image under test. */
export async function render(
  overlay: Overlay,
  { settings, replicas, args = [] }: InstallOptions = {},
): Promise<readonly Manifest[]> {
  const rendered = await kubectlOutput(['kustomize', join(import.meta.dirname, '../../../deploy/overlays', overlay)]);
  const manifests = loadAll(rendered) as Manifest[];
  for (const manifest of manifests) {
    if (isDeployment(manifest)) {
      const { containers } = manifest.spec.template.spec;
      for (const container of containers) container.image = image;
      if (manifest.metadata.name !== 'sallyport-webhook') continue;
      manifest.spec.replicas = replicas ?? manifest.spec.replicas;
      for (const container of containers) container.args.push(...args);
    }
    if (isSettings(manifest) && settings !== undefined) manifest.data['settings.yaml'] = dump(settings);
  }
  return manifests;
}

function wishedPolicy(manifests: readonly Manifest[]): FailurePolicy {
  const text = manifests.find(isSettings)?.data['settings.yaml'] ?? '';
  const settings = (load(text) ?? {}) as { readonly failurePolicy?: FailurePolicy };
  return settings.failurePolicy ?? 'Ignore';
}

function isDeployment(manifest: Manifest): manifest is Deployment {
  return manifest.kind === 'Deployment';
}

function isSettings(manifest: Manifest): manifest is ConfigMap {
  return manifest.kind === 'ConfigMap' && manifest.metadata.name === 'sallyport-settings';
}
