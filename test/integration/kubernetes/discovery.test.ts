import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  customResourceDefinitions,
  Discovery,
  remove,
  update,
  type FollowedKind,
  type InstalledKind,
  type KubernetesObject,
} from '../../../src/kubernetes/index.ts';
import { tables } from '../../../src/core/schema/index.ts';
import { eventually } from '../../support/eventually.ts';
import { clusterTrustBundles } from '../../support/api-server/resources.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { settled } from '../../support/settled.ts';

const group = 'gateway.networking.k8s.io';
const routes: FollowedKind = { entry: { group, kind: 'HTTPRoute', plural: 'httproutes', namespaced: true } };
const classes: FollowedKind = { entry: { group, kind: 'GatewayClass', plural: 'gatewayclasses', namespaced: false } };
const services: FollowedKind = { entry: { group: '', kind: 'Service', plural: 'services', namespaced: true } };
const hostnamePolicies: FollowedKind = { entry: tables.HostnamePolicy };
const routeType = { apiVersion: `${group}/v1`, kind: 'HTTPRoute', plural: 'httproutes', namespaced: true };

let stage: KubernetesStage;
let discovery: Discovery;
const steps: string[] = [];
let installed: ReadonlyMap<string, InstalledKind> = new Map();

beforeEach(async () => {
  steps.length = 0;
  stage = await kubernetesStage();
});

afterEach(async () => {
  await discovery.stop();
  await stage.close();
});

function start(): void {
  discovery = new Discovery({
    ...stage,
    kinds: [routes, classes, services, hostnamePolicies],
    onEvents: (events) => void steps.push(...events.map(({ type, ref }) => `${type} ${ref.kind} ${ref.name}`)),
    onInstalled: (all) => {
      installed = new Map(all);
    },
  });
}

function define({ entry }: FollowedKind, ...versions: readonly string[]): KubernetesObject {
  return seed(stage, customResourceDefinitions, {
    metadata: { name: `${entry.plural}.${entry.group}` },
    spec: {
      group: entry.group,
      scope: entry.namespaced ? 'Namespaced' : 'Cluster',
      names: { kind: entry.kind, plural: entry.plural },
      versions: versions.map((name) => ({ name, served: true, storage: true })),
    },
    status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: versions },
  });
}

const reads = () => stage.server.audit.filter(({ path }) => path.includes('/customresourcedefinitions/'));

describe('kinds of the Gateway API', () => {
  test('are absent, not waited for, where no definition is', async () => {
    start();
    expect(discovery.stateOf(routes)).toMatchObject({ phase: 'waiting', synced: false });
    await eventually(() => expect(discovery.synced).toBe(true));
    expect(discovery.stateOf(routes)).toMatchObject({ phase: 'absent', synced: true });
    expect(discovery.stateOf(services)).toMatchObject({ phase: 'following', version: 'v1', synced: true });
    expect(discovery.settled).toBe(true);
    expect(stage.server.audit.filter(({ path }) => path.includes('httproutes'))).toEqual([]);
  });

  test('are followed in the version that is served, each on its own', async () => {
    define(routes, 'v1beta1', 'v1');
    define(classes, 'v1beta1');
    seed(stage, routeType, { metadata: { name: 'cart' } });
    start();
    await eventually(() => expect(discovery.synced).toBe(true));
    expect(steps).toEqual(['upsert HTTPRoute cart']);
    expect(discovery.stateOf(routes)).toMatchObject({ version: 'v1' });
    expect(discovery.stateOf(classes)).toMatchObject({ version: 'v1beta1' });
    expect([...installed.keys()].toSorted()).toEqual([
      'gatewayclasses.gateway.networking.k8s.io',
      'httproutes.gateway.networking.k8s.io',
    ]);
  });

  test('are read again only when their last change is in force, however often they change', async () => {
    const waiting: PromiseWithResolvers<void>[] = [];
    discovery = new Discovery({
      ...stage,
      kinds: [routes],
      onEvents: () => {},
      onInstalled: () => {
        const inForce = Promise.withResolvers<void>();
        waiting.push(inForce);
        return inForce.promise;
      },
    });
    let definition = define(routes, 'v1');
    await eventually(() => expect(waiting).toHaveLength(1));
    for (let version = 0; version < 20; version += 1) {
      const metadata = { ...definition.metadata, annotations: { version: String(version) } };
      const outcome = await update(
        { client: stage.client, type: customResourceDefinitions },
        { ...definition, metadata },
      );
      if (outcome.type === 'ok' && outcome.object !== undefined) definition = outcome.object;
    }
    await settled(() => reads().length);
    expect(waiting).toHaveLength(1);
    waiting[0]?.resolve();
    await eventually(() => expect(waiting).toHaveLength(2));
    await settled(() => reads().length);
    expect(waiting).toHaveLength(2);
    waiting[1]?.resolve();
  });

  test('of other groups are none of ours: their definitions are not read', async () => {
    define({ entry: { group: 'example.com', kind: 'Widget', plural: 'widgets', namespaced: true } }, 'v1');
    start();
    await eventually(() => expect(discovery.synced).toBe(true));
    expect(reads()).toEqual([]);
  });

  test("include Sallyport's own, as soon as their definition is installed", async () => {
    define(routes, 'v1');
    start();
    await eventually(() => expect(discovery.synced).toBe(true));
    expect(discovery.stateOf(hostnamePolicies)).toMatchObject({ phase: 'absent' });
    expect(stage.server.audit.filter(({ path }) => path.includes('hostnamepolicies'))).toEqual([]);
    const { group: ownGroup, kind, plural } = tables.HostnamePolicy;
    define(hostnamePolicies, 'v1alpha1');
    seed(
      stage,
      { apiVersion: `${ownGroup}/v1alpha1`, kind, plural, namespaced: false },
      { metadata: { name: 'shop' } },
    );
    await eventually(() => expect(steps).toEqual(['upsert HostnamePolicy shop']));
    expect([...installed.keys()]).toContain('hostnamepolicies.sallyport.dev');
    await remove({ client: stage.client, type: customResourceDefinitions }, { name: 'hostnamepolicies.sallyport.dev' });
    await eventually(() => expect(steps.at(-1)).toBe('delete HostnamePolicy shop'));
  });

  test('wait until they are established', async () => {
    const definition = define(routes, 'v1');
    const { store } = stage.server;
    store.replace(
      'customresourcedefinitions.apiextensions.k8s.io',
      definition as never,
      { ...definition, status: {} } as never,
    );
    start();
    await eventually(() => expect(discovery.settled).toBe(true));
    expect(discovery.stateOf(routes)).toMatchObject({ phase: 'absent' });
    const current = store.get('customresourcedefinitions.apiextensions.k8s.io', '', definition.metadata.name);
    store.replace(
      'customresourcedefinitions.apiextensions.k8s.io',
      current as never,
      { ...current, status: definition['status'] } as never,
    );
    await eventually(() => expect(discovery.stateOf(routes)).toMatchObject({ phase: 'following', synced: true }));
  });

  test('go with their objects, and come back', async () => {
    define(routes, 'v1');
    seed(stage, routeType, { metadata: { name: 'cart' } });
    start();
    await eventually(() => expect(discovery.synced).toBe(true));
    const writer = { client: stage.client, type: customResourceDefinitions };
    await remove(writer, { name: 'httproutes.gateway.networking.k8s.io' });
    await eventually(() => expect(discovery.stateOf(routes)).toMatchObject({ phase: 'absent' }));
    expect(steps).toEqual(['upsert HTTPRoute cart', 'delete HTTPRoute cart']);
    expect(installed.size).toBe(0);
    define(routes, 'v1');
    seed(stage, routeType, { metadata: { name: 'again' } });
    await eventually(() => expect(steps.at(-1)).toBe('upsert HTTPRoute again'));
  });

  test('are there while their definition is on its way out, as long as finalizers keep their objects', async () => {
    const definition = define(classes, 'v1');
    const kept = seed(
      stage,
      { apiVersion: `${group}/v1`, kind: 'GatewayClass', plural: 'gatewayclasses', namespaced: false },
      { metadata: { name: 'kept', finalizers: ['example.com/used'] } },
    );
    start();
    await eventually(() => expect(discovery.synced).toBe(true));
    const { store } = stage.server;
    store.replace(
      'customresourcedefinitions.apiextensions.k8s.io',
      definition as never,
      { ...definition, metadata: { ...definition.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } as never,
    );
    await eventually(() => expect(reads()).toHaveLength(2));
    await eventually(() => expect(discovery.settled).toBe(true));
    expect(discovery.stateOf(classes)).toMatchObject({ phase: 'following', synced: true });
    expect(steps).toEqual(['upsert GatewayClass kept']);
    store.delete('gatewayclasses.gateway.networking.k8s.io', kept);
    await eventually(() => expect(steps).toEqual(['upsert GatewayClass kept', 'delete GatewayClass kept']));
  });

  test('are gone even when nobody saw their objects go', async () => {
    const definition = define(routes, 'v1');
    seed(stage, routeType, { metadata: { name: 'cart' } });
    start();
    await eventually(() => expect(steps).toEqual(['upsert HTTPRoute cart']));
    stage.server.store.delete('customresourcedefinitions.apiextensions.k8s.io', definition as never);
    await eventually(() => expect(discovery.stateOf(routes)).toMatchObject({ phase: 'absent' }));
    expect(steps).toEqual(['upsert HTTPRoute cart', 'delete HTTPRoute cart']);
  });

  test('change their version without a gap: objects are told again, and what went meanwhile as deleted', async () => {
    const definition = define(routes, 'v1beta1');
    const [, gone] = ['cart', 'gone'].map((name) =>
      seed(stage, { ...routeType, apiVersion: `${group}/v1beta1` }, { metadata: { name } }),
    );
    start();
    await eventually(() => expect(stage.server.watches.count).toBe(3));
    expect(steps.splice(0)).toEqual(['upsert HTTPRoute cart', 'upsert HTTPRoute gone']);
    // The watch is pausing while an object goes.
    stage.server.watches.end('httproutes.gateway.networking.k8s.io');
    await eventually(() => expect(discovery.stateOf(routes).problem).toBeDefined());
    stage.server.store.delete('httproutes.gateway.networking.k8s.io', gone as never);
    const versions = ['v1', 'v1beta1'].map((name) => ({ name, served: true, storage: true }));
    const spec = { ...(definition['spec'] as object), versions };
    await update({ client: stage.client, type: customResourceDefinitions }, { ...definition, spec });
    await eventually(() => expect(discovery.stateOf(routes)).toMatchObject({ version: 'v1', synced: true }));
    expect(steps).toEqual(['upsert HTTPRoute cart', 'delete HTTPRoute gone']);
  });

  test('are not taken for absent while their definition cannot be read', async () => {
    define(routes, 'v1');
    define(classes, 'v1');
    for (let time = 0; time < 3; time++)
      stage.server.fail({
        when: ({ path }) => path.endsWith('/httproutes.gateway.networking.k8s.io'),
        act: { code: 403, reason: 'Forbidden' },
      });
    start();
    await eventually(() => expect(discovery.stateOf(routes).problem).toBe('injected Forbidden'));
    expect(discovery.stateOf(routes)).toMatchObject({ phase: 'waiting', synced: false });
    await eventually(() => {
      stage.clock.advance(1_000);
      expect(discovery.synced).toBe(true);
    });
    expect(discovery.stateOf(routes)).toMatchObject({ phase: 'following' });
    expect(discovery.stateOf(routes)).not.toHaveProperty('problem');
  });
});

describe('optional kinds of Kubernetes', () => {
  const bundles: FollowedKind = { entry: tables.ClusterTrustBundle };
  const name = 'clustertrustbundles.certificates.k8s.io';
  const certificates = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    plural: 'clustertrustbundles',
  };
  const nextLook = () => stage.clock.advance(30_000);

  function startWithBundles(): void {
    discovery = new Discovery({
      ...stage,
      kinds: [routes, bundles],
      onEvents: (events) => void steps.push(...events.map(({ type, ref }) => `${type} ${ref.kind} ${ref.name}`)),
      onInstalled: (all) => {
        installed = new Map(all);
        steps.push(`installed ${[...all.keys()].join(' ')}`);
      },
    });
  }

  test('are absent where the discovery documents do not contain them, and nobody asks for their objects', async () => {
    startWithBundles();
    await eventually(() => expect(discovery.settled).toBe(true));
    expect(discovery.stateOf(bundles)).toMatchObject({ phase: 'absent', synced: true });
    expect(stage.server.audit.filter(({ path }) => path.includes('clustertrustbundles'))).toEqual([]);
  });

  test('come and go at run time, with their objects, in the best version that is served', async () => {
    startWithBundles();
    await eventually(() => expect(discovery.settled).toBe(true));
    stage.server.store.optional = [clusterTrustBundles('v1alpha1', 'v1beta1', 'v1')];
    seed(stage, { ...certificates, namespaced: false }, { metadata: { name: 'example.com:ca:v1' } });
    nextLook();
    await eventually(() => expect(steps.at(-1)).toBe('upsert ClusterTrustBundle example.com:ca:v1'));
    expect(discovery.stateOf(bundles)).toMatchObject({ phase: 'following', version: 'v1' });
    expect([...installed.keys()]).toContain(name);
    // A second look that finds the same changes nothing.
    const before = steps.length;
    const looks = stage.server.audit.length;
    nextLook();
    await eventually(() => expect(stage.server.audit.length).toBeGreaterThanOrEqual(looks + 4));
    expect(steps).toHaveLength(before);
    stage.server.store.optional = [];
    await eventually(() => {
      stage.clock.advance(1_000);
      expect(steps.slice(-2)).toEqual(['delete ClusterTrustBundle example.com:ca:v1', 'installed ']);
    });
    expect(discovery.stateOf(bundles)).toMatchObject({ phase: 'absent' });
  });

  test('stay as they are while the discovery documents cannot be read', async () => {
    stage.server.store.optional = [clusterTrustBundles('v1beta1')];
    startWithBundles();
    await eventually(() => expect(discovery.stateOf(bundles)).toMatchObject({ version: 'v1beta1', synced: true }));
    stage.server.fail({ when: ({ path }) => path === '/apis/certificates.k8s.io', act: { code: 403 } });
    nextLook();
    await eventually(() => expect(stage.logged.join('')).toContain('cannot read the discovery documents'));
    expect(discovery.stateOf(bundles)).toMatchObject({ phase: 'following' });
  });

  test('count as absent where the discovery documents are forbidden from the start', async () => {
    stage.server.store.optional = [clusterTrustBundles('v1')];
    stage.server.fail({ when: ({ path }) => path === '/apis/certificates.k8s.io', act: { code: 403 } });
    startWithBundles();
    await eventually(() => expect(discovery.settled).toBe(true));
    expect(discovery.stateOf(bundles)).toMatchObject({ phase: 'absent', synced: true });
  });

  test('that may not be listed say so', async () => {
    stage.server.store.optional = [clusterTrustBundles('v1')];
    stage.server.fail({
      when: ({ path }) => path.endsWith('/clustertrustbundles'),
      act: { code: 403, reason: 'Forbidden' },
    });
    startWithBundles();
    await eventually(() => expect(discovery.stateOf(bundles)).toMatchObject({ synced: false, forbidden: true }));
    await eventually(() => {
      stage.clock.advance(1_000);
      expect(discovery.stateOf(bundles).synced).toBe(true);
    });
    expect(discovery.stateOf(bundles)).not.toHaveProperty('forbidden');
  });
});
