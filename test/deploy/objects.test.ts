import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { BundlesInForce } from '../../src/cluster/bundles-in-force.ts';
import { admissionKinds, controllerKinds } from '../../src/cluster/cluster-state.ts';
import { reportApis, reportName } from '../../src/webhook/audit/report.ts';
import { auditedKinds } from '../../src/webhook/audit/stored-objects.ts';
import { FailurePolicyKeeper } from '../../src/webhook/configuration/failure-policy-keeper.ts';
import { InternalErrors } from '../../src/cli/process/internal-errors.ts';
import { exposeProxyCounters } from '../../src/cli/process/proxy-metrics.ts';
import { openSettings } from '../../src/cli/process/settings-file.ts';
import { Watchdog } from '../../src/webhook/configuration/watchdog.ts';
import { Controller } from '../../src/controller/index.ts';
import { desiredObjects } from '../../src/controller/data-plane-manifests.ts';
import { statuses } from '../../src/core/status/emit.ts';
import { createCounters } from '../../src/proxy/counters.ts';
import { tables } from '../../src/core/schema/index.ts';
import { createClient } from '../../src/kubernetes/index.ts';
import { createAdmissionMetrics, createLogger, createMetrics, type Metrics } from '../../src/telemetry/index.ts';
import { EvaluationQueue } from '../../src/time/evaluation-queue.ts';
import { emptyEvaluation } from '../support/evaluation.ts';
import { hasKubectl, renderKustomize, type DeployedObject, type Rendered } from './render.ts';
import { tcpPorts } from '../support/gateway-ports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let rendered: Rendered;
let controller: Rendered;

const whereRendered = (await hasKubectl()) ? describe : describe.skip;

beforeAll(async () => {
  if (whereRendered === describe)
    rendered = await renderKustomize('overlays/enforce', [
      'components/network-policy',
      'components/prometheus',
      'dashboards',
    ]);
  if (whereRendered === describe) controller = await renderKustomize('overlays/controller');
});

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

function rendering(key: string): DeployedObject {
  const found = rendered.get(key);
  if (found === undefined) throw new Error(`nothing is rendered as ${key}`);
  return found;
}

function rulesOf(key: string): readonly Rule[] {
  return rendering(key)['rules'] as readonly Rule[];
}

/** What the rules of a role of the controller grant with a verb, as `group/resource`, without names. */
function grantedTo(key: string, verb: string): readonly string[] {
  const rules = (controller.get(key)?.['rules'] ?? []) as readonly Rule[];
  return rules
    .filter(({ verbs, resourceNames }) => verbs.includes(verb) && resourceNames === undefined)
    .flatMap(({ apiGroups, resources }) =>
      apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`)),
    );
}

/** What looking after the failurePolicy and after CRDs counts. */
function clusterMetrics(metrics: Metrics): void {
  const log = createLogger('silent');
  const client = createClient({
    server: 'https://127.0.0.1:1',
    namespace: undefined,
    proxy: undefined,
    prove: () => Promise.reject(new Error('nothing is asked')),
  });
  const options = { client, log, metrics, events: { record() {} }, configuration: 'c' };
  void new FailurePolicyKeeper({ ...options, wanted: () => 'Fail' });
  void new Watchdog({ ...options, service: { namespace: 'n', name: 's' }, patience: 1 });
  void new BundlesInForce({ log, metrics });
}

/** What a controller counts. */
function controllerMetrics(metrics: Metrics): void {
  const ok = async () => ({ type: 'ok' }) as const;
  void new Controller({
    evaluation: new EvaluationQueue(emptyEvaluation()),
    metrics,
    log: createLogger('silent'),
    controllerName: 'example.com/us',
    mayWrite: () => false,
    events: { record() {} },
    dataPlane: () => ({ image: 'i', controller: 'c:1', audience: 'a', authority: 'PEM' }),
    replica: { namespace: 'n', name: 'r', writer: { apply: ok } },
    writer: { read: ok, apply: ok, remove: ok, updateStatus: ok, setFinalizers: ok },
  });
}

interface Pods {
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly containers: readonly [
        {
          readonly args: readonly string[];
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
          readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
        },
      ];
    };
  };
}

interface Monitor {
  readonly namespaceSelector: object;
  readonly selector: { readonly matchLabels: object; readonly matchExpressions: readonly { readonly key: string }[] };
  readonly podTargetLabels: readonly string[];
  readonly podMetricsEndpoints: readonly { readonly port: string }[];
}

function podsOf(component: string): Pods['template'] {
  return (rendering(`Deployment sallyport-system/sallyport-${component}`)['spec'] as Pods).template;
}

async function help(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [`${root}/src/main.ts`, command, '--help'], {
    env: { ...process.env, COLUMNS: '400' },
  });
  return stdout.replace(/\s+/g, ' ');
}

whereRendered('permissions', () => {
  test('the webhook may follow exactly the kinds that it follows', () => {
    const followed = admissionKinds.map((kind) => `${tables[kind].group}/${tables[kind].plural}`);
    const groups = new Set(admissionKinds.map((kind) => tables[kind].group));
    const granted = rulesOf('ClusterRole /sallyport-webhook')
      .filter(({ apiGroups, verbs }) => verbs.includes('watch') && apiGroups.every((group) => groups.has(group)))
      .flatMap(({ apiGroups, resources }) =>
        apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`)),
      );
    expect(granted.sort()).toEqual(followed.sort());
  });

  test('the controller may follow what it follows, and write the statuses that it writes', () => {
    const nameOf = (kind: keyof typeof tables) => `${tables[kind].group}/${tables[kind].plural}`;
    const others = [
      '/pods',
      '/serviceaccounts',
      'apps/deployments',
      'policy/poddisruptionbudgets',
      'apiextensions.k8s.io/customresourcedefinitions',
    ];
    expect([...new Set(grantedTo('ClusterRole /sallyport-controller', 'watch'))].sort()).toEqual(
      [...controllerKinds.map(nameOf), ...others].sort(),
    );
    const statusKinds = (statuses.over.populations as readonly (keyof typeof tables)[]).map(
      (kind) => `${nameOf(kind)}/status`,
    );
    expect(grantedTo('ClusterRole /sallyport-controller', 'update').toSorted()).toEqual(statusKinds.sort());
  });

  test('the controller may make every object of a data plane, and nothing else of these kinds', () => {
    const facts = {
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      ports: tcpPorts(80),
      addresses: [],
      parameters: {},
      labels: {},
      annotations: {},
    };
    const made = desiredObjects(facts, { image: 'i', controller: 'c:1', audience: 'a', authority: 'PEM' });
    const groupOf = (apiVersion = '') => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '');
    const needed = made.map(({ apiVersion, kind = '' }) => `${groupOf(apiVersion)}/${kind.toLowerCase()}s`);
    for (const verb of ['get', 'create', 'patch', 'delete'])
      expect(grantedTo('ClusterRole /sallyport-data-planes', verb).toSorted()).toEqual(needed.toSorted());
  });

  test('with a pool of addresses the controller may write statuses of Services, and nothing else more', async () => {
    const withPool = await renderKustomize('overlays/controller', ['components/address-pool']);
    const added = [...withPool]
      .filter(([key]) => !controller.has(key))
      .map(([key, object]) => [key, object['rules'] ?? []]);
    expect(added).toEqual([
      ['ClusterRole /sallyport-address-pool', [{ apiGroups: [''], resources: ['services/status'], verbs: ['update'] }]],
      ['ClusterRoleBinding /sallyport-address-pool', []],
    ]);
  });

  test('the audit may read the kinds that admission does not read, and write only its own reports', async () => {
    const withAudit = await renderKustomize('overlays/enforce', ['components/audit-reports']);
    const role = withAudit.get('ClusterRole /sallyport-audit-reports')?.['rules'] as readonly Rule[];
    const granted = (verb: string, names?: readonly string[]): readonly string[] =>
      role
        .filter(({ verbs, resourceNames }) => verbs.includes(verb) && isDeepStrictEqual(resourceNames, names))
        .flatMap(({ apiGroups, resources }) => resources.map((resource) => `${resource}.${apiGroups[0]}`))
        .toSorted();
    const kinds = auditedKinds
      .filter(({ entry }) => !admissionKinds.some((kind) => tables[kind].plural === entry.plural))
      .map(({ entry }) => `${entry.plural}.${entry.group}`);
    expect(granted('watch')).toEqual(kinds.toSorted());
    const reports = reportApis
      .flatMap(({ namespaced, cluster }) => [namespaced, cluster])
      .map(({ apiVersion, plural }) => `${plural}.${apiVersion.split('/')[0]}`);
    expect(granted('list')).toEqual([...kinds, ...reports].toSorted());
    expect(granted('create')).toEqual(reports.toSorted());
    for (const verb of ['patch', 'delete']) {
      expect(granted(verb)).toEqual([]);
      expect(granted(verb, [reportName])).toEqual(reports.toSorted());
    }
    expect(new Set(role.flatMap(({ verbs }) => verbs))).toEqual(
      new Set(['list', 'watch', 'create', 'patch', 'delete']),
    );
    expect(withAudit.get('Deployment sallyport-system/sallyport-webhook')).toHaveProperty(
      'spec.template.spec.containers.0.args',
      [...podsOf('webhook').spec.containers[0].args, '--audit-reports'],
    );
    expect(await help('webhook')).toContain('--audit-reports');
  });

  test('nothing is granted to the controller by wildcard', () => {
    const roles = [...controller.values()]
      .filter(({ kind }) => kind.endsWith('Role'))
      .flatMap((role) => role['rules'] as readonly Rule[]);
    expect(roles.length).toBeGreaterThan(0);
    for (const { apiGroups, resources, verbs } of roles)
      expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
  });

  test('nothing is granted by wildcard, and no Secret but its own', () => {
    const roles = [...rendered].filter(([key]) => /^(Cluster)?Role /.test(key)).map(([key]) => rulesOf(key));
    expect(roles.length).toBeGreaterThan(0);
    for (const rule of roles.flat()) {
      expect([...rule.apiGroups, ...rule.resources, ...rule.verbs]).not.toContain('*');
      const isReading = rule.resources.includes('secrets') && rule.verbs.some((verb) => verb !== 'create');
      expect(isReading ? rule.resourceNames : ['sallyport-authority']).toEqual(['sallyport-authority']);
    }
    expect(roles.flat().filter(({ resources }) => resources.includes('secrets'))).toHaveLength(2);
  });
});

whereRendered('what belongs together agrees', () => {
  test.each(['webhook', 'watchdog'])(
    '%s knows its arguments, and its defaults are the names of the objects',
    async (command) => {
      const text = await help(command);
      const options = podsOf(command)
        .spec.containers[0].args.slice(1)
        .map((argument) => argument.replace(/=.*/, ' <'));
      expect(options.length).toBeGreaterThan(0);
      for (const option of options) expect(text).toContain(option);
      expect(text).toMatch(/--service <name> [^<]*\(default: "sallyport-webhook"\)/);
      expect(text).toMatch(/--configuration <name> [^<]*\(default: "sallyport-webhook"\)/);
    },
  );

  test('the names of Secret and Lease are those that the webhook may use', async () => {
    const text = await help('webhook');
    const names = (resource: string) =>
      rulesOf('Role sallyport-system/sallyport-webhook')
        .filter(({ resources }) => resources.includes(resource))
        .flatMap(({ resourceNames = [] }) => resourceNames);
    expect(text).toMatch(new RegExp(`--secret <name> [^<]*\\(default: "${names('secrets')[0]}"\\)`));
    expect(text).toMatch(new RegExp(`--lease <name> [^<]*\\(default: "${names('leases')[0]}"\\)`));
  });

  test('the API server is told to call the Service, and the Service leads to the port of the pods', () => {
    const service = rendering('Service sallyport-system/sallyport-webhook');
    expect(rendering('ValidatingWebhookConfiguration /sallyport-webhook')['webhooks']).toMatchObject([
      {
        clientConfig: {
          service: { namespace: service.metadata.namespace, name: service.metadata.name, port: 443, path: '/validate' },
        },
      },
    ]);
    const { args, ports } = podsOf('webhook').spec.containers[0];
    expect(service['spec']).toMatchObject({
      ports: expect.arrayContaining([expect.objectContaining({ port: 443, targetPort: 'webhook' })]),
    });
    for (const [option, name] of [
      ['--port', 'webhook'],
      ['--probe-port', 'probes'],
    ] as const) {
      expect(args).toContain(`${option}=${ports.find((port) => port.name === name)?.containerPort}`);
    }
  });

  test('everything that selects pods selects them', () => {
    const { labels } = podsOf('webhook').metadata;
    const selectors = [
      rendering('Service sallyport-system/sallyport-webhook')['spec'] as { selector: object },
      rendering('PodDisruptionBudget sallyport-system/sallyport-webhook')['spec'] as {
        selector: { matchLabels: object };
      },
      rendering('NetworkPolicy sallyport-system/sallyport-webhook')['spec'] as { podSelector: { matchLabels: object } },
    ].map((spec) =>
      'podSelector' in spec
        ? spec.podSelector.matchLabels
        : 'matchLabels' in spec.selector
          ? spec.selector.matchLabels
          : spec.selector,
    );
    for (const selector of selectors) expect(labels).toMatchObject(selector as object);
    expect(labels).not.toMatchObject(podsOf('watchdog').metadata.labels);
  });

  test('Prometheus finds the ports of webhook and watchdog', () => {
    const monitors = [
      {
        component: 'webhook',
        target: rendering('Service sallyport-system/sallyport-webhook'),
        kind: 'ServiceMonitor',
        field: 'endpoints',
      },
      { component: 'watchdog', target: podsOf('watchdog'), kind: 'PodMonitor', field: 'podMetricsEndpoints' },
    ];
    for (const { component, target, kind, field } of monitors) {
      const spec = rendering(`${kind} sallyport-system/sallyport-${component}`)['spec'] as {
        readonly selector: { readonly matchLabels: object };
      };
      expect(target.metadata.labels).toMatchObject(spec.selector.matchLabels);
      expect(spec).toMatchObject({ [field]: [{ port: 'probes', path: '/metrics' }] });
    }
    expect(rendering('Service sallyport-system/sallyport-webhook')['spec']).toMatchObject({
      ports: expect.arrayContaining([expect.objectContaining({ name: 'probes' })]),
    });
    expect(podsOf('watchdog').spec.containers[0].ports.map(({ name }) => name)).toContain('probes');
  });

  test('Prometheus finds the data planes of all Gateways', () => {
    const made = desiredObjects(
      {
        namespace: 'shop',
        name: 'web',
        uid: 'u',
        ports: tcpPorts(80),
        addresses: [],
        parameters: {},
        labels: {},
        annotations: {},
      },
      { image: 'i', controller: 'c:1', audience: 'a', authority: 'PEM' },
    );
    const [deployment] = made.flatMap(({ kind, spec }) => (kind === 'Deployment' ? [spec as Pods] : []));
    if (deployment === undefined) throw new Error('a Gateway has a Deployment');
    const { template } = deployment;
    const { namespaceSelector, selector, podTargetLabels, podMetricsEndpoints } = rendering(
      'PodMonitor sallyport-system/sallyport-data-planes',
    )['spec'] as Monitor;
    expect(namespaceSelector).toEqual({ any: true });
    expect(template.metadata.labels).toMatchObject(selector.matchLabels);
    for (const key of [...selector.matchExpressions.map((one) => one.key), ...podTargetLabels])
      expect(template.metadata.labels).toHaveProperty([key]);
    expect(template.spec.containers[0].ports.map(({ name }) => name)).toContain(podMetricsEndpoints[0]?.port);
  });

  test('a pod gets the time that it takes to drain', () => {
    const {
      terminationGracePeriodSeconds,
      containers: [{ args, lifecycle }],
    } = podsOf('webhook').spec;
    const drain = Number(args.find((argument) => argument.startsWith('--drain='))?.slice('--drain='.length));
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      (lifecycle?.preStop.sleep.seconds ?? Number.NaN) + drain + 10,
    );
  });

  test('what is shown and alerted on is counted', async () => {
    const metrics = createMetrics();
    const { inflight } = createAdmissionMetrics(metrics, { cacheAge: () => 1, certificateExpiry: () => 1 });
    expect(inflight.value).toBe(0);
    const settings = await openSettings(`${root}/deploy/base/settings.yaml`, { log: createLogger('silent'), metrics });
    settings.close();
    controllerMetrics(metrics);
    clusterMetrics(metrics);
    exposeProxyCounters(metrics, createCounters());
    new InternalErrors(createLogger('silent'), metrics).report(undefined);
    const counted = [...(await metrics.scrape()).matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name);
    const shown = JSON.stringify([
      ...['webhook', 'controller'].map((of) => rendering(`PrometheusRule sallyport-system/sallyport-${of}`)),
      rendering('ConfigMap sallyport-system/sallyport-dashboards'),
    ]);
    const names = [...shown.matchAll(/sallyport_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect(new Set(names).size).toBeGreaterThan(5);
    for (const name of names) expect(counted).toContain(name);
  });

  test('alerts and panels name the webhook as the API server counts it', () => {
    const [webhook] = rendering('ValidatingWebhookConfiguration /sallyport-webhook')['webhooks'] as readonly [
      { readonly name: string },
    ];
    const shown = JSON.stringify([
      rendering('PrometheusRule sallyport-system/sallyport-webhook'),
      rendering('ConfigMap sallyport-system/sallyport-dashboards'),
    ]);
    const named = [...shown.matchAll(/name=\\+"([^"\\]+)/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set([webhook.name]));
  });
});

test.each(['base', 'overlays/audit', 'overlays/enforce'])('the settings of %s can be used', async (folder) => {
  const settings = await openSettings(`${root}/deploy/${folder}/settings.yaml`, {
    log: createLogger('silent'),
    metrics: createMetrics(),
  });
  settings.close();
  expect(settings.current()).toMatchObject({
    profile: folder === 'overlays/audit' ? 'audit' : 'standard',
    failurePolicy: folder === 'overlays/enforce' ? 'Fail' : 'Ignore',
  });
});
