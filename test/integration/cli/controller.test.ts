import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startController, type ControllerCommandOptions } from '../../../src/cli/controller.ts';
import { parseIpAddress } from '../../../src/core/text/ip-address.ts';
import { customResourceDefinitions, remove, update, type KubernetesObject } from '../../../src/kubernetes/index.ts';
import { defineKind } from '../../support/definitions.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { until } from '../../support/until.ts';

const group = 'gateway.networking.k8s.io';
const classType = { apiVersion: `${group}/v1`, kind: 'GatewayClass', plural: 'gatewayclasses', namespaced: false };
const gatewayType = { apiVersion: `${group}/v1`, kind: 'Gateway', plural: 'gateways', namespaced: true };

type Running = Awaited<ReturnType<typeof startController>>;

let stage: KubernetesStage;
let folder: string;
const controllers: Running[] = [];

beforeEach(async () => {
  stage = await kubernetesStage();
  folder = await mkdtemp(join(tmpdir(), 'sallyport-controller-'));
  process.env['KUBECONFIG'] = join(folder, 'kubeconfig');
  await writeFile(
    join(folder, 'kubeconfig'),
    JSON.stringify({
      clusters: [{ name: 'fake', cluster: { server: stage.server.url, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'nobody' } }],
      users: [{ name: 'nobody', user: {} }],
      'current-context': 'fake',
    }),
  );
});

afterEach(async () => {
  for (const running of controllers.splice(0)) await running.stop();
  await stage.close();
  await rm(folder, { recursive: true });
});

async function start(
  identity: string,
  settings: Pick<ControllerCommandOptions, 'addressPool' | 'settings'> = {},
): Promise<Running> {
  const running = await startController({
    ...settings,
    port: 0,
    probePort: 0,
    namespace: 'default',
    service: 'sallyport-controller',
    secret: 'authority',
    lease: 'controller',
    identity,
    image: 'example.com/proxy',
    logLevel: 'silent',
  });
  controllers.push(running);
  return running;
}

function held(resource: string, namespace: string, name: string): KubernetesObject | undefined {
  return stage.server.store.get(resource, namespace, name);
}

function conditionOf(object: KubernetesObject | undefined, type: string): unknown {
  const { conditions = [] } = (object?.['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.find((condition) => condition.type === type)?.status;
}

const heldClass = () => held(`gatewayclasses.${group}`, '', 'ours');
const heldGateway = () => held(`gateways.${group}`, 'default', 'web');
const service = () => held('services.', 'default', 'web-sallyport');

function seedClass(): void {
  seed(stage, classType, {
    kind: 'GatewayClass',
    metadata: { name: 'ours' },
    spec: { controllerName: 'sallyport.dev/gateway-controller' },
  });
}

test('a controller goes on with what exists, while CRDs are missing, come, change and go', async () => {
  await start('first');
  defineKind(stage, 'GatewayClass', 'v1');
  seedClass();
  await until(() => expect(conditionOf(heldClass(), 'Accepted')).toBe('True'));

  // An old bundle, then its upgrade.
  const definition = defineKind(stage, 'Gateway', 'v1beta1');
  seed(
    stage,
    { ...gatewayType, apiVersion: `${group}/v1beta1` },
    {
      apiVersion: `${group}/v1beta1`,
      kind: 'Gateway',
      metadata: { name: 'web', namespace: 'default' },
      spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
    },
  );
  await until(() => expect(conditionOf(heldGateway(), 'Accepted')).toBe('True'));
  await until(() => expect(service()).toBeDefined());
  await until(() =>
    expect(heldClass()?.metadata['finalizers']).toEqual(['gateway-exists-finalizer.gateway.networking.k8s.io']),
  );
  const versions = ['v1', 'v1beta1'].map((name) => ({
    name,
    served: true,
    storage: name === 'v1',
    subresources: { status: {} },
  }));
  await update(
    { client: stage.client, type: customResourceDefinitions },
    { ...definition, spec: { ...((definition as KubernetesObject)['spec'] as object), versions } },
  );
  await until(() =>
    expect(
      stage.server.audit.some(({ method, path }) => method === 'GET' && path === `/apis/${group}/v1/gateways`),
    ).toBe(true),
  );

  // The class goes with its definition, and the data plane with the class; nothing else does.
  await remove({ client: stage.client, type: customResourceDefinitions }, { name: `gatewayclasses.${group}` });
  await until(() => expect(service()).toBeUndefined());
  expect(heldGateway()).toBeDefined();
  defineKind(stage, 'GatewayClass', 'v1');
  seedClass();
  await until(() => expect(conditionOf(heldClass(), 'Accepted')).toBe('True'));
  await until(() => expect(service()).toBeDefined());
}, 60_000);

test('another replica goes on where one has stopped, and writes nothing again that is as it must be', async () => {
  for (const kind of ['GatewayClass', 'Gateway'] as const) defineKind(stage, kind, 'v1');
  seedClass();
  seed(stage, gatewayType, {
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'default' },
    spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  });
  const first = await start('first');
  await until(() => expect(conditionOf(heldGateway(), 'Accepted')).toBe('True'));
  await start('second');
  const statusWrites = () =>
    stage.server.audit.filter(({ method, path }) => method === 'PUT' && path.endsWith('/status')).length;
  const before = statusWrites();
  await first.stop();
  await until(() =>
    expect(held('leases.coordination.k8s.io', 'default', 'controller')?.['spec']).toMatchObject({
      holderIdentity: 'second',
    }),
  );
  await stage.client.request({
    method: 'PATCH',
    path: `/apis/${group}/v1/namespaces/default/gateways/web`,
    contentType: 'application/merge-patch+json',
    body: { spec: { listeners: [{ name: 'http', port: 8080, protocol: 'HTTP' }] } },
  });
  await until(() => expect(JSON.stringify(service()?.['spec'])).toContain('8080'));
  await until(() => expect(JSON.stringify(heldGateway()?.['status'])).toContain('"observedGeneration":2'));
  expect(statusWrites() - before).toBeLessThanOrEqual(2);
}, 60_000);

test('a pool of addresses outlives its leader: what was given stays, and nothing is given twice', async () => {
  for (const kind of ['GatewayClass', 'Gateway'] as const) defineKind(stage, kind, 'v1');
  seedClass();
  const seedGateway = (name: string, spec: object = {}) =>
    seed(stage, gatewayType, {
      kind: 'Gateway',
      metadata: { name, namespace: 'default' },
      spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }], ...spec },
    });
  const addressOf = (name: string) => held('services.', 'default', `${name}-sallyport`)?.['status'];
  const given = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } });
  const [first = 0n, last = 0n] = ['10.0.0.1', '10.0.0.2'].map(parseIpAddress);
  const settings = { addressPool: [{ first, last }] };

  const former = await start('first', settings);
  seedGateway('wanting', { addresses: [{ type: 'IPAddress', value: '10.0.0.1' }] });
  await until(() => expect(addressOf('wanting')).toEqual(given('10.0.0.1')));
  await start('second', settings);
  await former.stop();
  seedGateway('next');
  await until(() => expect(addressOf('next')).toEqual(given('10.0.0.2')));
  seedGateway('late');
  await until(() =>
    expect(JSON.stringify(held(`gateways.${group}`, 'default', 'late')?.['status'])).toContain(
      '"reason":"AddressNotAssigned"',
    ),
  );
  expect([addressOf('wanting'), addressOf('late')]).toEqual([given('10.0.0.1'), undefined]);
  await remove(
    { client: stage.client, type: { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true } },
    { namespace: 'default', name: 'wanting-sallyport' },
  );
  await until(() => expect([addressOf('wanting'), addressOf('late')]).toContainEqual(given('10.0.0.1')));
}, 60_000);

test('hostnamePolicies of the settings decide on statuses, from the moment when the file appears', async () => {
  for (const kind of ['GatewayClass', 'Gateway', 'HTTPRoute'] as const) defineKind(stage, kind, 'v1');
  seedClass();
  seed(stage, gatewayType, {
    kind: 'Gateway',
    metadata: { name: 'web', namespace: 'default' },
    spec: { gatewayClassName: 'ours', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  });
  seed(
    stage,
    { apiVersion: `${group}/v1`, kind: 'HTTPRoute', plural: 'httproutes', namespaced: true },
    {
      kind: 'HTTPRoute',
      metadata: { name: 'taker', namespace: 'default' },
      spec: { parentRefs: [{ name: 'web' }], hostnames: ['shop.example.com'], rules: [{}] },
    },
  );
  const status = () => JSON.stringify(held(`httproutes.${group}`, 'default', 'taker')?.['status'] ?? {});
  const settings = join(folder, 'settings.yaml');
  const owners = (namespace: string): Promise<void> =>
    writeFile(
      settings,
      `hostnamePolicies: [{ name: shop, hostnames: [shop.example.com], namespaces: { names: [${namespace}] } }]\n`,
    );
  await start('first', { settings });
  await until(() => expect(status()).toContain('"type":"Accepted","status":"True"'));
  await owners('shop');
  await until(() => expect(status()).toContain('"reason":"HostnameNotPermitted"'));
  expect(status()).toContain('HostnamePolicy \\"shop (settings)\\"');
  await owners('default');
  await until(() => expect(status()).toContain('"type":"Accepted","status":"True"'));
}, 60_000);

test('does not start with invalid settings', async () => {
  const settings = join(folder, 'settings.yaml');
  await writeFile(settings, 'hostnamePolicies: [{ name: shop }]\n');
  await expect(start('first', { settings })).rejects.toThrow('settings.yaml:1:');
});
