import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  customResourceDefinitions,
  remove,
  type KubernetesObject,
  type ResourceType,
} from '../../../src/kubernetes/index.ts';
import { defineKind } from '../../support/definitions.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { startProgram } from '../../support/program.ts';

const group = 'gateway.networking.k8s.io';
const type = (kind: string, plural: string, { version = `${group}/v1`, namespaced = true } = {}): ResourceType => ({
  apiVersion: version,
  kind,
  plural,
  namespaced,
});
const objects: readonly (readonly [ResourceType, KubernetesObject])[] = [
  [
    type('GatewayClass', 'gatewayclasses', { namespaced: false }),
    { kind: 'GatewayClass', metadata: { name: 'ours' }, spec: { controllerName: 'sallyport.dev/gateway-controller' } },
  ],
  [
    type('Gateway', 'gateways'),
    {
      kind: 'Gateway',
      metadata: { name: 'web', namespace: 'default' },
      spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
  ],
  [
    type('HTTPRoute', 'httproutes'),
    {
      kind: 'HTTPRoute',
      metadata: { name: 'shop', namespace: 'default' },
      spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }] },
    },
  ],
  [
    type('Service', 'services', { version: 'v1' }),
    { kind: 'Service', metadata: { name: 'cart', namespace: 'default' }, spec: { ports: [{ port: 80 }] } },
  ],
  [
    type('EndpointSlice', 'endpointslices', { version: 'discovery.k8s.io/v1' }),
    {
      kind: 'EndpointSlice',
      metadata: { name: 'cart-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports: [{ port: 8080 }],
    },
  ],
];

let stage: KubernetesStage;
let folder: string;
let cluster: readonly string[];

beforeAll(async () => {
  stage = await kubernetesStage();
  for (const kind of ['GatewayClass', 'Gateway', 'HTTPRoute'] as const) defineKind(stage, kind, 'v1');
  for (const [resource, object] of objects) seed(stage, resource, object);
  folder = await mkdtemp(join(tmpdir(), 'sallyport-cluster-'));
  const kubeconfig = await file(
    'kubeconfig',
    JSON.stringify({
      clusters: [{ name: 'fake', cluster: { server: stage.server.url, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'nobody' } }],
      users: [{ name: 'nobody', user: {} }],
      'current-context': 'fake',
    }),
  );
  cluster = ['--cluster', '--kubeconfig', kubeconfig, '--context', 'fake'];
});
afterAll(async () => {
  await stage.close();
  await rm(folder, { recursive: true });
});

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

async function outcome(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  const program = startProgram(...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

const otherPort =
  'apiVersion: v1\nkind: Service\nmetadata: { name: cart, namespace: default }\nspec: { ports: [{ port: 81 }] }\n';

describe('impact --cluster', () => {
  test('compares the objects of the cluster without and with the change', async () => {
    const deleted = await outcome('impact', ...cluster, '--delete', 'service/default/cart');
    expect(deleted).toMatchObject({ code: 1, errors: '' });
    expect(deleted.output).toContain('GET http://any.example/ at Gateway default/web');
    expect((await outcome('impact', ...cluster, '--change', await file('service.yaml', otherPort))).code).toBe(1);
  });

  test('files take the place of objects of the cluster', async () => {
    // With the file, nothing worked before the change.
    expect(
      (
        await outcome(
          'impact',
          ...cluster,
          '-f',
          await file('service.yaml', otherPort),
          '--delete',
          'service/default/cart',
        )
      ).code,
    ).toBe(0);
  });

  test('reports permissions that are missing once', async () => {
    stage.server.fail({ when: ({ path }) => path.endsWith('/secrets'), act: { code: 403, reason: 'Forbidden' } });
    const { errors } = await outcome('impact', ...cluster, '--delete', 'service/default/cart');
    expect(errors).toMatch(/^Objects of kind Secret are not observed: .*\n$/);
  });

  test('needs a context of the kubeconfig', async () => {
    const { code, errors } = await outcome(
      'impact',
      ...cluster.slice(0, 3),
      '--context',
      'other',
      '--delete',
      'service/default/cart',
    );
    expect(errors).toContain('cannot use the source of objects');
    expect(code).toBe(2);
    expect((await outcome('impact', '--context', 'fake', '--delete', 'service/default/cart')).errors).toContain(
      '--context requires --cluster',
    );
  });
});

describe('--namespace', () => {
  const elsewhere = ['--namespace', 'elsewhere'];

  test('restricts an impact, and completes names of objects to delete', async () => {
    const deleted = await outcome('impact', ...cluster, '-n', 'default', '--delete', 'service/cart');
    expect(deleted).toMatchObject({ code: 1, errors: '' });
    expect(deleted.output).toContain('HTTPRoute default/shop');
    const other = await outcome('impact', ...cluster, ...elsewhere, '--delete', 'service/default/cart');
    expect(other.output).not.toContain('default/');
    expect(other.code).toBe(0);
    expect((await outcome('impact', ...cluster, ...elsewhere, '--delete', 'service/cart')).errors).toContain(
      'Service "elsewhere/cart" not found.',
    );
  });

  test('restricts check and audit to its objects', async () => {
    const wrong = await file(
      'wrong.yaml',
      ['default', 'elsewhere']
        .map(
          (namespace) =>
            `apiVersion: ${group}/v1\nkind: HTTPRoute\nmetadata: { name: wrong, namespace: ${namespace} }\nspec: { parentRefs: [{ name: web, namespace: default }], rules: [{ backendRefs: [{ name: absent, port: 80 }] }] }\n`,
        )
        .join('---\n'),
    );
    for (const args of [
      ['check', wrong, ...cluster],
      ['audit', '-f', wrong, ...cluster],
    ]) {
      const { output } = await outcome(...args, ...elsewhere);
      expect(output).toContain('Service "elsewhere/absent" not found');
      expect(output).not.toContain('Service "default/absent" not found');
      expect((await outcome(...args)).output).toContain('Service "default/absent" not found');
    }
  });

  test('reads only its objects where the credentials do not suffice for others, and tells it once', async () => {
    const refuse = (suffix: string): void =>
      stage.server.fail({ when: ({ path }) => path.endsWith(suffix), act: { code: 403, reason: 'Forbidden' } });
    for (const suffix of ['/v1/httproutes', '/v1/services', '/customresourcedefinitions', '/v1/gatewayclasses'])
      refuse(suffix);
    const route = (name: string, backend: string): string =>
      `apiVersion: ${group}/v1\nkind: HTTPRoute\nmetadata: { name: ${name}, namespace: default }\nspec: { parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: ${backend}, port: 80 }], timeouts: { request: 1s, backendRequest: 2s } }] }\n`;
    const wrong = await file('limited.yaml', route('limited', 'absent'));
    const { output, errors } = await outcome('check', wrong, ...cluster, '-n', 'default');
    // Services are observed in the namespace of the route.
    expect(output).toContain('Service "default/absent" not found');
    expect(output).toContain(': error [backend-request-timeout]');
    expect(errors.split('\n').toSorted()).toEqual([
      '',
      'CustomResourceDefinitions are not observed, v1.7 experimental is assumed: injected Forbidden',
      'Objects of kind GatewayClass are not observed: injected Forbidden',
      'Objects of the kinds HTTPRoute, Service are observed only in namespace "default". For example: injected Forbidden',
    ]);
  });

  test('check rejects a file by the assumed bundle where CRDs are forbidden: no API server has validated it', async () => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/customresourcedefinitions'),
      act: { code: 403, reason: 'Forbidden' },
    });
    const wrong = await file(
      'exactt.yaml',
      `apiVersion: ${group}/v1\nkind: HTTPRoute\nmetadata: { name: wrong, namespace: default }\nspec: { parentRefs: [{ name: web }], rules: [{ matches: [{ path: { type: Exactt, value: / } }] }] }\n`,
    );
    const { code, output } = await outcome('check', wrong, ...cluster, '-n', 'default');
    expect(output).toMatch(/: error \[[\w-]+\] .*Exactt/);
    expect(code).toBe(1);
  });

  test('audit reads the kinds that are not evaluated by discovery where CRDs are forbidden, and reports those it may not list', async () => {
    const kind = { kind: 'XListenerSet', plural: 'xlistenersets' };
    seed(stage, customResourceDefinitions, {
      metadata: { name: 'xlistenersets.gateway.networking.x-k8s.io' },
      spec: {
        group: 'gateway.networking.x-k8s.io',
        scope: 'Namespaced',
        names: kind,
        versions: [{ name: 'v1alpha1', served: true, storage: true }],
      },
      status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1alpha1'] },
    });
    for (const suffix of ['/customresourcedefinitions', '/xlistenersets'])
      stage.server.fail({ when: ({ path }) => path.endsWith(suffix), act: { code: 403, reason: 'Forbidden' } });
    const { errors } = await outcome('audit', ...cluster, '-n', 'default');
    expect(errors).toContain(
      'Objects of kind XListenerSet are observed only in namespace "default": injected Forbidden\n',
    );
  });

  test('is not needed where the credentials do not suffice for CRDs', async () => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/customresourcedefinitions'),
      act: { code: 403, reason: 'Forbidden' },
    });
    expect(await outcome('explain', ...cluster, 'http://shop.example.com/cart')).toMatchObject({
      code: 0,
      errors: 'CustomResourceDefinitions are not observed, v1.7 experimental is assumed: injected Forbidden\n',
      output: expect.stringContaining('10.0.0.1:8080'),
    });
  });

  test('restricts explain to its Gateways', async () => {
    const url = 'http://any.example/';
    expect((await outcome('explain', url, ...cluster, '-n', 'default')).output).toContain('Gateway default/web');
    const other = await outcome('explain', url, ...cluster, ...elsewhere);
    expect(other.output).toContain('No listener found');
    expect(other.code).toBe(1);
  });
});

describe('settings of the cluster', () => {
  const owned = 'hostnamePolicies: [{ name: owner, hostnames: ["*"], namespaces: { names: [shop] } }]\n';
  const late = `apiVersion: ${group}/v1\nkind: HTTPRoute\nmetadata: { name: late, namespace: default }\nspec: { parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: cart, port: 80 }], timeouts: { request: 1s, backendRequest: 2s } }] }\n`;
  const settingsIn = ['--controller-namespace', 'gateways'];

  const configMaps = type('ConfigMap', 'configmaps', { version: 'v1' });
  const place = { namespace: 'gateways', name: 'sallyport-settings' };

  afterAll(() => remove({ client: stage.client, type: configMaps }, place));
  beforeAll(() => {
    seed(stage, configMaps, {
      kind: 'ConfigMap',
      metadata: place,
      data: { 'settings.yaml': `effects: { backend-request-timeout: warn }\n${owned}` },
    });
  });

  test.each([
    [['--webhook-namespace', 'gateways'], 'warning'],
    [['--webhook-namespace', 'gateways', '--profile', 'standard'], 'error'],
    [[], 'error'],
  ])('check judges by those of the webhook: %j', async (args, severity) => {
    const { output } = await outcome('check', ...cluster, ...args, await file('late.yaml', late));
    expect(/: (\w+) \[backend-request-timeout\]/.exec(output)?.[1]).toBe(severity);
    expect(output.includes('HostnamePolicy "owner (settings)"')).toBe(severity === 'warning');
  });

  test('explain routes by their hostnamePolicies, unless a file replaces them', async () => {
    const url = 'http://shop.example.com/cart';
    const serves = '10.0.0.1:8080';
    expect((await outcome('explain', ...cluster, ...settingsIn, url)).output).not.toContain(serves);
    const empty = ['--settings', await file('empty.yaml', '# none\n')];
    expect((await outcome('explain', ...cluster, ...settingsIn, ...empty, url)).output).toContain(serves);
  });

  test('impact routes by their hostnamePolicies', async () => {
    // A route that is not served does not break.
    const deletion = ['--delete', 'service/default/cart', '-o', 'json'];
    expect((await outcome('impact', ...cluster, ...deletion)).output).toContain('any.example');
    expect((await outcome('impact', ...cluster, ...settingsIn, ...deletion)).output).not.toContain('any.example');
  });

  test('explain does not guess those of a controller whose ConfigMap is invalid', async () => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/configmaps/sallyport-settings'),
      act: { code: 200, body: JSON.stringify({ data: { 'settings.yaml': 'hostnamePolicy: []\n' } }) },
    });
    const { output, errors } = await outcome('explain', ...cluster, 'http://shop.example.com/cart');
    expect(errors).toContain('ConfigMap sallyport-system/sallyport-settings:1:1: hostnamePolicy: unknown setting');
    expect(output).toBe('');
  });

  test('a missing permission is reported once', async () => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/configmaps/sallyport-settings'),
      act: { code: 403, reason: 'Forbidden' },
    });
    const { errors, output } = await outcome('explain', ...cluster, 'http://shop.example.com/cart');
    expect(errors).toBe(
      'The settings in namespace "sallyport-system" are not observed, their hostnamePolicies are ignored: injected Forbidden\n',
    );
    expect(output).toContain('10.0.0.1:8080');
  });
});

test('doctor uses the kubeconfig and the context of its options', async () => {
  const [, , kubeconfig = ''] = cluster;
  const doctor = ['doctor', '--kubeconfig', kubeconfig, '--context'];
  expect((await outcome(...doctor, 'fake')).output).toContain('crds-');
  const other = await outcome(...doctor, 'other');
  expect(other.errors).toContain('cannot use the kubeconfig');
  expect(other).toMatchObject({ code: 2, output: '' });
});

describe('check --cluster', () => {
  test('judges all objects of the cluster', async () => {
    const { code, output } = await outcome('check', ...cluster);
    expect(output).toMatch(/6 objects: 0 errors, 0 warnings/);
    expect(code).toBe(0);
    seed(stage, type('HTTPRoute', 'httproutes'), {
      kind: 'HTTPRoute',
      metadata: { name: 'lost', namespace: 'default' },
      spec: { parentRefs: [{ name: 'web' }], rules: [{ backendRefs: [{ name: 'gone', port: 80 }] }] },
    });
    expect((await outcome('check', ...cluster)).output).toMatch(
      /^HTTPRoute default\/lost: warning \[[a-z-]+\] spec\.rules\[0\]\.backendRefs\[0\]/m,
    );
  });

  test('judges files with the cluster around them', async () => {
    const route = await file(
      'route.yaml',
      'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: { name: mine, namespace: default }\nspec: { parentRefs: [{ name: web }], rules: [{ backendRefs: [{ name: cart, port: 82 }] }] }\n',
    );
    const { output } = await outcome('check', ...cluster, route);
    expect(output).toMatch(/route\.yaml:4:\d+: warning \[/);
    expect(output).toContain('Port 82 not found in Service "default/cart".');
    // The route of the cluster has the same match.
    expect(output).toContain('[match-taken]');
    expect(output).toMatch(/1 object: 0 errors, 2 warnings/);
  });

  test('takes the bundle from the cluster', async () => {
    const { code, errors } = await outcome('check', ...cluster, '--bundle', '1.5');
    expect(errors).toContain("option '--cluster' cannot be used with option '--bundle <version>'");
    expect(code).toBe(2);
  });
});

describe('explain --cluster', () => {
  const url = 'http://shop.example.com/cart';

  test('tells on which data planes the answer is in force', async () => {
    const labels = {
      'app.kubernetes.io/managed-by': 'sallyport',
      'gateway.networking.k8s.io/gateway-name': 'web',
    };
    seed(stage, type('Pod', 'pods', { version: 'v1' }), {
      kind: 'Pod',
      metadata: { namespace: 'default', name: 'web-a', labels },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    expect((await outcome('explain', ...cluster, url)).output).toContain(
      'not in force: pod default/web-a is not connected to the controller',
    );
    const report = { 'default/web': { 'web-a': { generations: { 'Gateway/default/web': 9 } } } };
    seed(stage, type('ConfigMap', 'configmaps', { version: 'v1' }), {
      kind: 'ConfigMap',
      metadata: { namespace: 'sallyport-system', name: 'c', labels: { 'sallyport.dev/acknowledged-to': 'c' } },
      data: { report: JSON.stringify(report) },
    });
    const { output } = await outcome('explain', ...cluster, url);
    expect(output).toMatch(/1 of 1 ready pods serve generation \d+ of Gateway default\/web/);
    const { outcomes } = JSON.parse((await outcome('explain', ...cluster, url, '-o', 'json')).output) as {
      readonly outcomes: readonly { readonly inForce: object }[];
    };
    expect(outcomes.map(({ inForce }) => inForce)).toMatchObject([{ pods: [{ pod: 'default/web-a', generation: 9 }] }]);
  });

  test.each([
    [
      [],
      'Every GatewayClass that a Gateway names is assumed to be a class of Sallyport: ours. Use --gateway-class to name the classes of Sallyport.\n',
      'Gateway default/web, listener http',
    ],
    [['--gateway-class', 'ours'], '', 'Gateway default/web, listener http'],
    [['--gateway-class', 'other'], '', 'No listener found'],
  ])('finds listeners without permission for GatewayClasses: %j', async (args, note, expected) => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/gatewayclasses'),
      act: { code: 403, reason: 'Forbidden' },
    });
    const { output, errors } = await outcome('explain', ...cluster, ...args, url);
    expect(errors).toBe(`Objects of kind GatewayClass are not observed: injected Forbidden\n${note}`);
    expect(output).toContain(expected);
  });

  test.each([
    [[], 1, /^Breaks\n/],
    [['--gateway-class', 'ours'], 1, /^Breaks\n/],
    [['--gateway-class', 'other'], 0, /^0 broken, /],
  ])('impact finds out what breaks without permission for GatewayClasses: %j', async (args, exitCode, expected) => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/gatewayclasses'),
      act: { code: 403, reason: 'Forbidden' },
    });
    const { code, output, errors } = await outcome('impact', ...cluster, '--delete', 'gateway/default/web', ...args);
    expect(output).toMatch(expected);
    expect(code).toBe(exitCode);
    expect(errors).toContain('Objects of kind GatewayClass are not observed: ');
  });

  test('impact also assumes the classes that only Gateways of the change name', async () => {
    stage.server.fail({
      when: ({ path }) => path.endsWith('/gatewayclasses'),
      act: { code: 403, reason: 'Forbidden' },
    });
    const moved = await file(
      'moved.yaml',
      `apiVersion: ${group}/v1\nkind: Gateway\nmetadata: { name: web, namespace: default }\nspec: { gatewayClassName: next, listeners: [{ name: http, port: 80, protocol: HTTP }] }\n`,
    );
    const { code, output, errors } = await outcome('impact', ...cluster, '--change', moved);
    expect(errors).toContain('assumed to be a class of Sallyport: next, ours.');
    expect(output).toMatch(/^0 broken, /);
    expect(code).toBe(0);
  });

  test('does not tell it of files, or without permission', async () => {
    const files = ['-f', await file('service.yaml', otherPort)];
    expect((await outcome('explain', ...cluster, ...files, url)).output).not.toContain('in force');
    stage.server.fail({ when: ({ path }) => path.endsWith('/pods'), act: { code: 403, reason: 'Forbidden' } });
    const { output, errors } = await outcome('explain', ...cluster, url);
    expect(errors).toMatch(/^The data planes are not observed: .*\n$/);
    expect(output).toContain('Gateway default/web, listener http');
    expect(output).not.toContain('in force');
  });
});
