import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { dump, load } from 'js-yaml';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, kubectl, kubectlOutput, type Outcome } from './support/kubectl.ts';
import { backend, httpRoute, service } from './support/routes.ts';

// The commands as a plugin of a real kubectl: `kubectl sallyport check --cluster`.
const shop = useNamespace('plugin-shop');
const other = useNamespace('plugin-other');
const gatewayClass = 'plugin';

interface Kubeconfig {
  readonly contexts: readonly { readonly name: string; readonly context: object }[];
  readonly clusters: readonly object[];
}

/** With the plugin, as kubectl finds it. */
const PATH = `${resolve('bin')}${delimiter}${process.env['PATH'] ?? ''}`;

let folder: string;
/** The path of a kubeconfig whose current context is a cluster that does not exist. */
let kubeconfig: string;
/** The context of the cluster. */
let context: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-plugin-'));
  context = (await kubectlOutput(['config', 'current-context'])).trim();
  const present = load(await kubectlOutput(['config', 'view', '--raw', '--flatten'])) as Kubeconfig;
  const absent = { name: 'absent', cluster: { server: 'https://127.0.0.1:1' } };
  kubeconfig = join(folder, 'kubeconfig');
  await writeFile(
    kubeconfig,
    dump({
      ...present,
      clusters: [...present.clusters, absent],
      contexts: [...present.contexts, { name: 'absent', context: { cluster: 'absent', user: '' } }],
      'current-context': 'absent',
    }),
  );
  await installCrds('v1.7.0', 'standard');
  await apply(
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: gatewayClass },
      spec: { controllerName: 'sallyport.dev/gateway-controller' },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'web', namespace: shop },
      spec: { gatewayClassName: gatewayClass, listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
    service(shop, 'cart'),
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'cart', namespace: shop, labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      ports: [{ port: 8080 }],
      endpoints: [{ addresses: ['10.77.0.9'], conditions: { ready: true } }],
    },
    service(other),
    httpRoute(
      { name: 'store', namespace: shop },
      {
        parentRefs: [{ name: 'web' }],
        hostnames: ['store.example.com'],
        rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }],
      },
    ),
    // The API server admits it. The webhook would reject it.
    httpRoute(
      { name: 'wrong', namespace: other },
      {
        rules: [
          {
            filters: [
              {
                type: 'RequestHeaderModifier',
                requestHeaderModifier: { set: [{ name: 'X-Shop', value: 'cart' }], remove: ['x-shop'] },
              },
            ],
            backendRefs: [backend],
          },
        ],
      },
    ),
  );
});

afterAll(async () => {
  await kubectl(['delete', 'gatewayclass', gatewayClass]);
  await removeCrds();
  await rm(folder, { recursive: true });
});

function plugin(...args: readonly string[]): Promise<Outcome> {
  return kubectl(['sallyport', ...args], { environment: { PATH } });
}

/** With the kubeconfig whose current context does not exist. */
function pluginElsewhere(...args: readonly string[]): Promise<Outcome> {
  return kubectl(['sallyport', ...args], { environment: { PATH, KUBECONFIG: kubeconfig } });
}

test('kubectl lists the plugin', async () => {
  expect(await kubectlOutput(['plugin', 'list'], { environment: { PATH } })).toContain(
    resolve('bin/kubectl-sallyport'),
  );
});

describe('kubectl sallyport', () => {
  test('check judges the objects of the cluster, of a namespace with -n', async () => {
    const all = await plugin('check', '--cluster');
    expect(all).toMatchObject({ code: 1, stderr: '' });
    expect(all.stdout).toContain(`${other}/wrong`);
    expect(await plugin('check', '--cluster', '-n', shop)).toMatchObject({ code: 0, stderr: '' });
  });

  test('check reads the kubeconfig and the context of its options', async () => {
    const unreachable = await pluginElsewhere('check', '--cluster');
    expect(unreachable.code).toBe(2);
    expect(unreachable.stderr).toContain('127.0.0.1:1');
    const inContext = await pluginElsewhere('check', '--cluster', '--context', context, '-n', other);
    expect(inContext).toMatchObject({ code: 1, stderr: '' });
    expect(inContext.stdout).toContain(`${other}/wrong`);
    const ofFile = await plugin('check', '--cluster', '--kubeconfig', kubeconfig, '--context', context, '-n', other);
    expect(ofFile.stdout).toBe(inContext.stdout);
    const mistaken = await plugin('check', '--cluster', '--kubeconfig', kubeconfig, '--context', 'nowhere');
    expect(mistaken.code).toBe(2);
    expect(mistaken.stderr).toContain('nowhere');
  });

  test('explain names the route and backend of a request', async () => {
    const { stdout, stderr, code } = await plugin('explain', 'http://store.example.com/cart', '--cluster');
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toContain(`${shop}/store`);
    expect(stdout).toContain(`${shop}/cart`);
  });

  test('audit judges the stored objects, of a namespace with -n', async () => {
    const all = await plugin('audit', '--cluster', '-o', 'json');
    expect(all.code).toBe(1);
    expect(JSON.stringify(JSON.parse(all.stdout))).toContain(other);
    expect((await plugin('audit', '--cluster', '-n', shop)).code).toBe(0);
  });

  test('impact predicts what a deletion breaks', async () => {
    const { stdout, code } = await plugin('impact', '--cluster', '--delete', `service/${shop}/cart`);
    expect(code).toBe(1);
    expect(stdout).toContain('ResolvedRefs');
    // The namespace of a name without one.
    expect((await plugin('impact', '--cluster', '-n', shop, '--delete', 'service/cart')).stdout).toBe(stdout);
  });

  test('preflight finds the policy that denies an older bundle', async () => {
    const { stdout, code } = await plugin('preflight', '--cluster', '--to', 'v1.6.3');
    expect(code).toBe(1);
    expect(stdout).toContain('safe-upgrades');
    expect((await plugin('preflight', '--cluster', '--to', 'v1.7.0')).code).toBe(0);
  });

  test('doctor finds that nothing is installed', async () => {
    const { stdout } = await plugin('doctor', '-o', 'json');
    const { verdicts } = JSON.parse(stdout) as {
      readonly verdicts: readonly { readonly check: string; readonly message: string }[];
    };
    expect(verdicts.find(({ check }) => check === 'webhook-configuration')?.message).toContain('not found');
  });
});
