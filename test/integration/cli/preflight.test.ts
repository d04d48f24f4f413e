import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { customResourceDefinitions, type KubernetesObject, type ResourceType } from '../../../src/kubernetes/index.ts';
import { defineKind } from '../../support/definitions.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { startProgram } from '../../support/program.ts';

const cases = 'test/integration/cli/preflight';
const group = 'gateway.networking.k8s.io';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-preflight-'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

async function outcome(...args: readonly string[]): Promise<Outcome> {
  const program = startProgram('preflight', ...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

describe('preflight of files', () => {
  const files = ['-f', `${cases}/crds.yaml`, '-f', `${cases}/objects.yaml`];

  test.each([
    ['text', 'expected.txt'],
    ['markdown', 'expected.md'],
    ['json', 'expected.json'],
  ])('%s is as expected', async (format, name) => {
    const { code, output, errors } = await outcome('--to', 'v1.7.0', ...files, '-o', format);
    expect({ code, errors }).toEqual({ code: 1, errors: '' });
    if (process.env['UPDATE_GOLDEN'] !== undefined) await writeFile(join(cases, name), output);
    expect(output).toBe(await readFile(join(cases, name), 'utf8'));
  });

  test('nothing found: exit code 0 and the command to upgrade', async () => {
    const objects = await file(
      'fine.yaml',
      `apiVersion: ${group}/v1\nkind: GatewayClass\nmetadata: { name: fine }\nspec: { controllerName: example.com/controller }\n`,
    );
    const { code, output } = await outcome('--to', '1.7', '--channel', 'experimental', '-f', objects);
    expect(output).toMatch(
      /^Gateway API v1\.7 experimental → v1\.7\.0 experimental: 1 object\n\nNothing found\. Save this report with -o json, then upgrade:\n {2}\$ kubectl apply --server-side -f https:\/\/github\.com\/kubernetes-sigs\/gateway-api\/releases\/download\/v1\.7\.0\/experimental-install\.yaml\n$/,
    );
    expect(code).toBe(0);
  });

  test.each([
    [['--to', 'v1.7.0'], 'No objects: use --files or --cluster.'],
    [['-f', 'examples/quickstart'], 'No target: use --to'],
    [['--to', 'v2.0', '-f', 'examples/quickstart'], 'Not a release from v1.0 to v1.7.'],
    [['--since', 'missing.json', '-f', 'examples/quickstart'], 'missing.json'],
    [['--since', 'package.json', '-f', 'examples/quickstart'], 'The report package.json has no valid list of routes.'],
    [['--since', 'README.md', '-f', 'examples/quickstart'], 'The report README.md is not JSON.'],
    [['--to', 'v1.7.0', '-f', 'missing.yaml'], 'missing.yaml'],
  ])('%j cannot be done: exit code 2', async (args, message) => {
    const { code, errors } = await outcome(...args);
    expect(errors).toContain(message);
    expect(code).toBe(2);
  });

  test('a later run finds the routes that have lost Accepted', async () => {
    const report = await file('report.json', (await outcome('--to', 'v1.7.0', ...files, '-o', 'json')).output);
    const same = await outcome('--since', report, ...files);
    expect(same).toEqual({
      code: 0,
      errors: '',
      output: 'Gateway API v1.6 experimental: 7 objects\n\nNothing found. No route has lost Accepted.\n',
    });
    const lost = await file(
      'lost.yaml',
      (await readFile(`${cases}/objects.yaml`, 'utf8')).replace(
        'status: "True", reason: Accepted',
        'status: "False", reason: NoMatchingParent',
      ),
    );
    const { code, output } = await outcome('--since', report, '-f', lost);
    expect(code).toBe(1);
    expect(output).toContain(
      'Routes that have lost Accepted  1 blocker\n  blocker HTTPRoute shop/store\n          Parent infra/public of sallyport.dev/gateway-controller: Accepted was True, and is False now (NoMatchingParent).\n',
    );
  });
});

describe('preflight of a cluster', () => {
  let stage: KubernetesStage;
  let cluster: readonly string[];
  const type = (kind: string, plural: string, { version = `${group}/v1`, namespaced = true } = {}): ResourceType => ({
    apiVersion: version,
    kind,
    plural,
    namespaced,
  });
  const ourClass = `apiVersion: ${group}/v1\nkind: GatewayClass\nmetadata: { name: ours }\nspec: { controllerName: sallyport.dev/gateway-controller }\n`;
  const policies = type('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', {
    version: 'admissionregistration.k8s.io/v1',
    namespaced: false,
  });
  const route: KubernetesObject = {
    kind: 'HTTPRoute',
    metadata: {
      name: 'shop',
      namespace: 'default',
      managedFields: [{ manager: 'flux', operation: 'Apply', apiVersion: `${group}/v1beta1` }],
    },
    spec: {
      parentRefs: [{ name: 'web' }],
      rules: [{ retry: { attempts: 1 }, backendRefs: [{ name: 'cart', port: 80 }] }],
    },
  };

  beforeAll(async () => {
    stage = await kubernetesStage();
    for (const kind of ['GatewayClass', 'Gateway', 'HTTPRoute'] as const) defineKind(stage, kind, 'v1');
    seed(stage, customResourceDefinitions, {
      metadata: { name: 'xlistenersets.gateway.networking.x-k8s.io' },
      spec: {
        group: 'gateway.networking.x-k8s.io',
        scope: 'Namespaced',
        names: { kind: 'XListenerSet', plural: 'xlistenersets' },
        versions: [{ name: 'v1alpha1', served: true, storage: true }],
      },
      status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1alpha1'] },
    });
    seed(stage, type('XListenerSet', 'xlistenersets', { version: 'gateway.networking.x-k8s.io/v1alpha1' }), {
      kind: 'XListenerSet',
      metadata: { name: 'more', namespace: 'default' },
      spec: {},
    });
    seed(stage, type('HTTPRoute', 'httproutes'), route);
    seed(stage, policies, {
      metadata: { name: `safe-upgrades.${group}`, annotations: { [`${group}/bundle-version`]: 'v1.7.0' } },
    });
    const kubeconfig = await file(
      'kubeconfig',
      JSON.stringify({
        clusters: [{ name: 'fake', cluster: { server: stage.server.url, 'insecure-skip-tls-verify': true } }],
        contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'nobody' } }],
        users: [{ name: 'nobody', user: {} }],
        'current-context': 'fake',
      }),
    );
    cluster = ['--cluster', '--kubeconfig', kubeconfig];
  });
  afterAll(() => stage.close());

  test('reads CRDs, objects of all kinds, policies and the version of Kubernetes', async () => {
    stage.server.fail({
      when: ({ path }) => path === '/version',
      act: { code: 200, body: '{"gitVersion":"v1.30.1"}' },
    });
    stage.server.fail({
      when: ({ path }) => path === '/apis/storagemigration.k8s.io',
      act: { code: 200, body: '{"preferredVersion":{"version":"v1"}}' },
    });
    const { code, output, errors } = await outcome('--to', 'v1.6.3', ...cluster, '-o', 'json');
    expect({ code, errors }).toEqual({ code: 1, errors: '' });
    const { findings, objects, upgrade } = JSON.parse(output) as {
      readonly upgrade?: string;
      readonly objects: number;
      readonly findings: readonly { readonly check: string; readonly severity: string; readonly subject: string }[];
    };
    expect(objects).toBe(2);
    expect(upgrade).toBeUndefined();
    expect(findings.map(({ check, severity, subject }) => `${severity} ${check} ${subject}`)).toEqual([
      'blocker kubernetes-version Kubernetes v1.30.1',
      `blocker safe-upgrades ValidatingAdmissionPolicy safe-upgrades.${group}`,
      // The fake API server names no manager.
      'warning managed-crds unknown',
      'warning pruned-fields HTTPRoute default/shop',
      'warning removed-kinds xlistenersets.gateway.networking.x-k8s.io',
    ]);
  });

  test('reports permissions that are missing once, and goes on', async () => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/validatingadmissionpolicies'),
      act: { code: 403, reason: 'Forbidden' },
    });
    stage.server.fail({ when: ({ path }) => path.endsWith('/xlistenersets'), act: { code: 403, reason: 'Forbidden' } });
    stage.server.fail({ when: ({ path }) => path === '/version', act: { code: 403, reason: 'Forbidden' } });
    const { code, errors, output } = await outcome('--to', 'v1.7.0', ...cluster, '-o', 'json');
    expect(errors).toMatch(
      /^Objects of kind XListenerSet are not observed: .*\nValidatingAdmissionPolicies are not observed: .*\nThe version of Kubernetes is not observed: .*\n$/,
    );
    expect(code).toBe(0);
    const { upgrade } = JSON.parse(output) as { readonly upgrade?: string };
    expect(upgrade).toBeUndefined();
  });

  test('does not advise to upgrade if an object of another namespace is rejected', async () => {
    const wrong = await file(
      'elsewhere.yaml',
      `apiVersion: ${group}/v1\nkind: HTTPRoute\nmetadata: { name: wrong, namespace: other }\nspec: { rules: [{ matches: [{ path: { type: Exact, value: shop } }] }] }\n`,
    );
    const { code, output } = await outcome('--to', 'v1.7.0', '-f', wrong, '-n', 'team');
    expect(output).toMatch(
      /\n\nNothing found\. Other namespaces have blockers: run preflight without --namespace before you upgrade\.\n$/,
    );
    expect(code).toBe(0);
  });

  test('judges a namespace for a user who may list neither CRDs nor objects of all namespaces', async () => {
    for (const suffix of ['/customresourcedefinitions', '/v1alpha1/xlistenersets'])
      stage.server.fail({ when: ({ path }) => path.endsWith(suffix), act: { code: 403, reason: 'Forbidden' } });
    const namespace = 'elsewhere';
    const { code, errors, output } = await outcome('--to', 'v1.7.0', ...cluster, '-n', namespace);
    expect(errors.split('\n').toSorted()).toEqual([
      '',
      'CustomResourceDefinitions are not observed, v1.7 experimental is assumed: injected Forbidden',
      `Objects of kind XListenerSet are observed only in namespace "${namespace}": injected Forbidden`,
    ]);
    expect(output).toMatch(/^Gateway API v1\.7 experimental → v1\.7\.0 standard: /);
    expect(output).toContain('The CRDs are not observed: injected Forbidden. Their stored versions');
    expect(output).toContain('warning XListenerSet\n');
    expect(output).toMatch(
      /\n\n2 warnings, 1 note\. Not everything is observed: run preflight with permission to list the CRDs and all objects before you upgrade\.\n$/,
    );
    expect(code).toBe(0);
  });

  const serving = `apiVersion: ${group}/v1
kind: Gateway
metadata: { name: web, namespace: default }
spec: { gatewayClassName: ours, listeners: [{ name: http, port: 80, protocol: HTTP }] }
---
apiVersion: ${group}/v1
kind: HTTPRoute
metadata: { name: shared, namespace: default }
spec: { parentRefs: [{ name: web }], rules: [{ filters: [{ type: CORS, cors: { allowOrigins: ['*'] } }] }] }
`;

  test.each([
    [[], true],
    [['--gateway-class', 'ours'], true],
    [['--gateway-class', 'other'], false],
  ])('finds out what breaks without permission for GatewayClasses: %j', async (args, breaks) => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/gatewayclasses'),
      act: { code: 403, reason: 'Forbidden' },
    });
    const files = ['-f', await file('serving.yaml', serving)];
    const { output, errors } = await outcome('--to', 'v1.2.1', ...cluster, ...files, ...args);
    expect(errors.includes('is assumed to be a class of Sallyport: ours.')).toBe(args.length === 0);
    expect(output.includes('blocker HTTPRoute default/shared, parent default/web: ')).toBe(breaks);
    // An assumed class is no object of the cluster.
    expect(output).toMatch(/: 4 objects\n/);
  });

  test('a route whose hostname the settings give to others does not break', async () => {
    const owned = 'hostnamePolicies: [{ name: owner, hostnames: ["*"], namespaces: { names: [shop] } }]\n';
    seed(stage, type('ConfigMap', 'configmaps', { version: 'v1' }), {
      kind: 'ConfigMap',
      metadata: { namespace: 'gateways', name: 'sallyport-settings' },
      data: { 'settings.yaml': owned },
    });
    const files = ['-f', await file('serving.yaml', serving), '-f', await file('class.yaml', ourClass)];
    const breaks = async (...args: readonly string[]): Promise<boolean> =>
      (await outcome('--to', 'v1.2.1', ...cluster, ...files, ...args)).output.includes(
        'blocker HTTPRoute default/shared, parent default/web: ',
      );
    expect(await breaks()).toBe(true);
    expect(await breaks('--controller-namespace', 'gateways')).toBe(false);
    expect(await breaks('--settings', await file('settings.yaml', owned))).toBe(false);
  });

  test('writes nothing', () => {
    expect(stage.server.audit.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});
