import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { gatherFacts } from '../../../src/cli/doctor/gather.ts';
import { diagnose } from '../../../src/cli/doctor/report.ts';
import { gatherControllerFacts } from '../../../src/cli/doctor/gather-controller.ts';
import type { ControllerFacts } from '../../../src/cli/doctor/facts.ts';
import { tables, type KindName } from '../../../src/core/schema/index.ts';
import type { KubernetesObject, ResourceType } from '../../../src/kubernetes/index.ts';
import { createAuthority } from '../../../src/certificates/index.ts';
import { issueLeaf } from '../../support/certificates.ts';
import { defineKind } from '../../support/definitions.ts';
import { healthy } from '../../support/doctor.ts';
import type { FakeOptions } from '../../support/fake-api-server.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';

const { installation } = healthy;
const system = installation.namespace;
const managed = { 'app.kubernetes.io/managed-by': 'sallyport', 'gateway.networking.k8s.io/gateway-name': 'web' };
const kinds = ['GatewayClass', 'Gateway', 'HTTPRoute', 'UDPRoute', 'XBackend'] as const;
const versionOf = (kind: KindName): string => (kind === 'XBackend' ? 'v1alpha1' : 'v1');

const options: FakeOptions = {};
let stage: KubernetesStage;
let facts: ControllerFacts;

function type(plural: string, apiVersion = 'v1'): ResourceType {
  return { apiVersion, kind: '', plural, namespaced: true };
}

function store(resource: ResourceType, kind: string, name: string, rest: Partial<KubernetesObject> = {}): void {
  const { metadata, ...fields } = rest;
  seed(stage, resource, { kind, metadata: { namespace: 'shop', name, ...metadata }, ...fields });
}

function storeGatewayKind(kind: KindName, name: string, spec: object): void {
  const { plural, group, namespaced } = tables[kind];
  seed(
    stage,
    { apiVersion: `${group}/${versionOf(kind)}`, kind, plural, namespaced },
    { kind, metadata: { ...(namespaced && { namespace: 'shop' }), name, generation: 3 }, spec },
  );
}

beforeAll(async () => {
  stage = await kubernetesStage(options);
  for (const kind of kinds) defineKind(stage, kind, versionOf(kind));
  storeGatewayKind('GatewayClass', 'ours', { controllerName: 'sallyport.dev/gateway-controller' });
  storeGatewayKind('GatewayClass', 'theirs', { controllerName: 'example.com/other' });
  const listener = {
    name: 'https',
    port: 443,
    protocol: 'HTTPS',
    tls: { certificateRefs: [{ name: 'tls' }, { name: 'absent' }] },
  };
  storeGatewayKind('Gateway', 'web', {
    gatewayClassName: 'ours',
    listeners: [listener, { name: 'dns', port: 53, protocol: 'UDP' }],
  });
  storeGatewayKind('Gateway', 'other', { gatewayClassName: 'theirs', listeners: [] });
  storeGatewayKind('HTTPRoute', 'store', {
    parentRefs: [{ name: 'web' }],
    rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }],
  });
  storeGatewayKind('HTTPRoute', 'detached', { rules: [{ backendRefs: [{ name: 'idle', port: 80 }] }] });
  storeGatewayKind('UDPRoute', 'names', {
    parentRefs: [{ name: 'web' }],
    rules: [{ backendRefs: [{ name: 'dns', port: 53 }] }],
  });
  storeGatewayKind('XBackend', 'partner', { tls: { mode: 'ClientAndServer', clientCertificateRef: { name: 'tls' } } });
  const imported = { group: 'multicluster.x-k8s.io', kind: 'ServiceImport', name: 'cart', port: 80 };
  storeGatewayKind('HTTPRoute', 'imported', { rules: [{ backendRefs: [imported] }] });
  store(type('services'), 'Service', 'dns', { spec: { ports: [{ port: 53, protocol: 'UDP' }] } });
  for (const name of ['cart', 'idle']) store(type('services'), 'Service', name, { spec: { ports: [{ port: 80 }] } });
  const { cert, key } = await issueLeaf(await createAuthority(), { dnsNames: ['shop.example.com'] });
  const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
  store(type('secrets'), 'Secret', 'tls', {
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': base64(cert), 'tls.key': base64(key) },
  });
  const podOf = (labels: object, isReady: boolean, image: string): Partial<KubernetesObject> => ({
    metadata: { name: '', labels: labels as Readonly<Record<string, string>> },
    spec: { containers: [{ image }] },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  });
  const named = (name: string, namespace: string, rest: Partial<KubernetesObject>) =>
    seed(stage, type('pods'), { kind: 'Pod', ...rest, metadata: { ...rest.metadata, name, namespace } });
  named('c-1', system, podOf({ 'app.kubernetes.io/component': 'controller' }, true, 'image:1'));
  named('webhook', system, podOf({ 'app.kubernetes.io/component': 'webhook' }, true, 'image:1'));
  named('web-a', 'shop', podOf(managed, true, 'image:1'));
  named('cart-a', 'shop', podOf({}, true, 'cart:1'));
  seed(stage, type('deployments', 'apps/v1'), {
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'web-sallyport', labels: managed },
    status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }] },
  });
  seed(stage, type('configmaps'), {
    kind: 'ConfigMap',
    metadata: { namespace: system, name: 'c-1-acknowledged', labels: { 'sallyport.dev/acknowledged-to': 'c-1' } },
    data: { report: JSON.stringify({ 'shop/web': { 'web-a': { generations: { 'Gateway/shop/web': 3 } } } }) },
  });
  seed(stage, type('leases', 'coordination.k8s.io/v1'), {
    kind: 'Lease',
    metadata: { namespace: system, name: 'sallyport-controller' },
    spec: { holderIdentity: 'c-1', renewTime: '2026-01-01T00:00:00.000000Z', leaseDurationSeconds: 15 },
  });
  facts = await gatherControllerFacts(stage.client, installation);
});

afterAll(() => stage.close());

test('the controller, its leader and its data planes', () => {
  expect(facts).toMatchObject({
    lease: { value: { holder: 'c-1', renewed: Date.UTC(2026, 0, 1), duration: 15_000 } },
    pods: { value: [{ name: 'c-1', isReady: true, image: 'image:1' }] },
    authorities: { type: 'known', value: undefined },
    dataPlanePods: { value: [{ namespace: 'shop', name: 'web-a', gatewayLabel: 'web', problems: [] }] },
    deploymentProblems: {
      value: new Map([['shop/web', ['Deployment "shop/web-sallyport" cannot create pods: exceeded quota.']]]),
    },
  });
  const { reports } = facts;
  expect(reports.type === 'known' && reports.value[0]?.get('shop/web')?.get('web-a')?.generations).toEqual({
    'Gateway/shop/web': 3,
  });
});

test('the Gateways of our classes, their certificates without keys, and Services without endpoints', () => {
  const { objects } = facts;
  if (objects.type === 'unknown') throw new Error(objects.problem);
  expect(objects.value.classes.map(({ ref }) => ref.name)).toEqual(['ours']);
  expect(objects.value.gateways.map(({ ref }) => ref.name)).toEqual(['web']);
  const certificate = {
    source: { kind: 'Secret', namespace: 'shop', name: 'tls' },
    facts: expect.objectContaining({ type: 'certificate' }),
  };
  expect(objects.value.certificates).toEqual([
    { user: 'Gateway shop/web', ...certificate },
    { user: 'XBackend shop/partner', ...certificate },
  ]);
  expect(JSON.stringify(objects.value)).not.toContain('PRIVATE');
  expect(objects.value.idle).toEqual([
    { kind: 'Service', namespace: 'shop', name: 'cart', port: '80', users: ['HTTPRoute shop/store'] },
    { kind: 'Service', namespace: 'shop', name: 'dns', port: '53/UDP', users: ['UDPRoute shop/names'] },
  ]);
});

test('the other kinds that the API server does not serve, and the objects that refer to them', () => {
  const { objects } = facts;
  expect(objects.type === 'known' && objects.value.unserved).toEqual([
    { kind: 'HostnamePolicy', users: [] },
    { kind: 'ServiceImport', users: ['HTTPRoute shop/imported'] },
    { kind: 'ClusterTrustBundle', users: [] },
  ]);
});

test('writes nothing', () => {
  expect(stage.server.audit.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('no Services without endpoints behind routes whose hostnames the settings give to others', async () => {
  const owner = '{ name: owner, hostnames: ["*"], namespaces: { names: [elsewhere] } }';
  store(type('configmaps'), 'ConfigMap', 'sallyport-settings', {
    metadata: { namespace: system, name: 'sallyport-settings' },
    data: { 'settings.yaml': `hostnamePolicies: [${owner}]` },
  });
  const { objects } = await gatherControllerFacts(stage.client, installation);
  expect(objects.type === 'known' && objects.value.idle.map(({ users }) => users)).toEqual([['UDPRoute shop/names']]);
});

test('settings that are invalid or may not be read are no settings that permit everything', async () => {
  stage.server.fail({
    when: ({ path }) => path.endsWith('/sallyport-settings'),
    act: { code: 200, body: JSON.stringify({ data: { 'settings.yaml': 'hostnamePolicy: []\n' } }) },
  });
  const settingsAndIdle = async (): Promise<unknown> => {
    const { objects } = await gatherControllerFacts(stage.client, installation);
    return objects.type === 'known' && { settings: objects.value.settings, idle: objects.value.idle };
  };
  expect(await settingsAndIdle()).toEqual({
    settings: { type: 'invalid', problem: expect.stringContaining('hostnamePolicy: unknown setting') },
    idle: [],
  });
  options.permits = (path) => !path.endsWith('/sallyport-settings');
  expect(await settingsAndIdle()).toMatchObject({
    settings: { type: 'unread', problem: expect.stringContaining('forbidden') },
    idle: [],
  });
});

test('a user of one namespace, without discovery: its objects are judged, and the others are not', async () => {
  options.permits = (path) => path.includes('/namespaces/shop/');
  const read = await gatherFacts(stage.client, { ...installation, namespace: 'shop' });
  const { objects } = read.controller;
  expect(read.server).toEqual({ type: 'known', value: undefined });
  expect(objects).toMatchObject({
    type: 'known',
    value: { unobserved: expect.arrayContaining([expect.objectContaining({ kind: 'HTTPRoute', namespace: 'shop' })]) },
  });
  expect(objects.type === 'known' && objects.value.stored.some(({ ref }) => ref.name === 'store')).toBe(true);
  const verdicts = diagnose(read);
  expect(verdicts.filter(({ message }) => message.includes('customresourcedefinitions'))).toHaveLength(1);
  expect(verdicts.filter(({ check }) => check === 'objects').map(({ message }) => message)).toEqual(
    expect.arrayContaining([expect.stringMatching(/HTTPRoute.* are observed only in namespace "shop"/)]),
  );
  expect(verdicts.filter(({ status }) => status === 'fail')).toEqual([]);
  expect(verdicts.filter(({ check }) => check === 'gateways')).toEqual([
    expect.objectContaining({ status: 'warn', message: expect.stringContaining('GatewayClass are not observed') }),
  ]);
  expect(read.controller).toMatchObject({
    dataPlanePods: { value: [{ namespace: 'shop', name: 'web-a' }] },
    deploymentProblems: { value: new Map([['shop/web', [expect.stringContaining('exceeded quota')]]]) },
    partlyListed: [
      { kind: 'Pod', namespace: 'shop' },
      { kind: 'Deployment', namespace: 'shop' },
    ],
  });
  // Without permission for the namespace, either, nothing is known.
  const other = await gatherControllerFacts(stage.client, { ...installation, namespace: 'other' });
  expect(other).toMatchObject({ dataPlanePods: { type: 'unknown' }, partlyListed: [] });
});
