import { describe, expect, test } from '@jest/globals';
import { admissionKinds, ClusterState, type ObjectReader } from '../../../src/cluster/cluster-state.ts';
import { authorityCell, installationCell, readObject } from '../../../src/core/graph/inputs.ts';
import { runToEnd } from '../../../src/core/text/steps.ts';
import { schemaTables, type SchemaKind } from '../../../src/core/schema/index.ts';
import type { FollowedKind, InstalledKind, KindState, KubernetesObject } from '../../../src/kubernetes/index.ts';
import { installedKind } from '../../support/doctor.ts';
import { EvaluationQueue } from '../../../src/time/evaluation-queue.ts';
import { emptyEvaluation } from '../../support/evaluation.ts';

/** A source that a test moves by hand. */
class Source {
  readonly states = new Map<string, KindState>(
    admissionKinds.map((kind) => [kind, { phase: 'following', synced: true, lastContact: 1_000 }]),
  );
  settled = true;
  reader: ObjectReader | undefined;
  isStopped = false;

  stateOf({ entry }: FollowedKind): KindState {
    return this.states.get(entry.kind) ?? { phase: 'waiting', synced: false };
  }

  async stop(): Promise<void> {
    this.isStopped = true;
  }
}

function started() {
  const kernel = emptyEvaluation();
  const source = new Source();
  const installed: ReadonlyMap<string, InstalledKind>[] = [];
  const state = new ClusterState({
    // With a clock that stands still, each change fits in a slice.
    evaluation: new EvaluationQueue(kernel, () => 0),
    kinds: admissionKinds,
    controllerName: 'example.com/controller',
    onInstalled: (definitions) => installed.push(definitions),
    follow(reader) {
      source.reader = reader;
      return source;
    },
  });
  return { kernel, source, state, installed };
}

const ref = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop', name: 'cart' };
const route: KubernetesObject = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'cart', namespace: 'shop', generation: 3 },
  spec: { hostnames: ['a.example'] },
};

function definitionOf(kind: SchemaKind, version: string): ReadonlyMap<string, InstalledKind> {
  const { group, plural } = schemaTables[kind];
  const name = `${plural}.${group}`;
  const annotations = {
    'gateway.networking.k8s.io/bundle-version': version,
    'gateway.networking.k8s.io/channel': 'standard',
  };
  return new Map([
    [
      name,
      {
        name,
        uid: 'a',
        group,
        kind,
        plural,
        annotations,
        versions: [],
        storedVersions: [],
        established: true,
        deleting: false,
      },
    ],
  ]);
}

describe('the state of a cluster', () => {
  test('objects come and go as the source tells', () => {
    const { kernel, source } = started();
    void source.reader?.onEvents([{ type: 'upsert', ref, object: route }]);
    expect(readObject(kernel.read, 'HTTPRoute', 'shop', 'cart')).toMatchObject({
      ref,
      meta: { generation: 3 },
      spec: { hostnames: ['a.example'] },
    });
    void source.reader?.onEvents([{ type: 'delete', ref }]);
    expect(readObject(kernel.read, 'HTTPRoute', 'shop', 'cart')).toBeUndefined();
  });

  test('the objects of a list are read one by one', () => {
    const source = new Source();
    let steps = 0;
    const state = new ClusterState({
      kinds: admissionKinds,
      controllerName: 'example.com/controller',
      evaluation: {
        apply: () => 0,
        applyRead(read) {
          while (read.next().done !== true) steps += 1;
          return 0;
        },
      },
      follow(reader) {
        source.reader = reader;
        return source;
      },
    });
    const secret = { metadata: { name: 'tls', namespace: 'shop' }, type: 'kubernetes.io/tls' };
    const event = { type: 'upsert', ref: { group: '', kind: 'Secret', namespace: 'shop', name: 'tls' } } as const;
    void source.reader?.onEvents(Array.from({ length: 100 }, () => ({ ...event, object: secret })));
    expect(state.problems()).toEqual([]);
    expect(steps).toBe(100);
  });

  test('all changes are applied by the queue, the first one included', () => {
    const kernel = emptyEvaluation();
    const source = new Source();
    const waiting: (() => void)[] = [];
    const state = new ClusterState({
      kinds: admissionKinds,
      controllerName: 'example.com/controller',
      evaluation: {
        async apply(writes) {
          waiting.push(() => kernel.apply(writes));
          return 0;
        },
        async applyRead(read) {
          waiting.push(() => kernel.apply(runToEnd(read)));
          return 0;
        },
      },
      follow(reader) {
        source.reader = reader;
        return source;
      },
    });
    void source.reader?.onEvents([{ type: 'upsert', ref, object: route }]);
    expect(state.problems()).toEqual([]);
    expect([kernel.read.input(installationCell), readObject(kernel.read, 'HTTPRoute', 'shop', 'cart')]).toEqual([
      undefined,
      undefined,
    ]);
    for (const apply of waiting) apply();
    expect(kernel.read.input(installationCell)).toMatchObject({ controllerName: 'example.com/controller' });
    expect(readObject(kernel.read, 'HTTPRoute', 'shop', 'cart')).toMatchObject({ ref });
  });

  test('of a delete and a new object of the same name in one batch, the new one stays', () => {
    const { kernel, source } = started();
    void source.reader?.onEvents([{ type: 'upsert', ref, object: route }]);
    void source.reader?.onEvents([
      { type: 'delete', ref },
      { type: 'upsert', ref, object: { ...route, spec: { hostnames: ['b.example'] } } },
    ]);
    expect(readObject(kernel.read, 'HTTPRoute', 'shop', 'cart')).toMatchObject({ spec: { hostnames: ['b.example'] } });
  });

  test('what is no object of its kind counts as absent', () => {
    const { kernel, source } = started();
    void source.reader?.onEvents([{ type: 'upsert', ref, object: route }]);
    void source.reader?.onEvents([{ type: 'upsert', ref, object: { metadata: { name: 'cart', namespace: 'shop' } } }]);
    expect(readObject(kernel.read, 'HTTPRoute', 'shop', 'cart')).toBeUndefined();
  });

  test('the installed bundle is a fact of the evaluation, and follows the definition', () => {
    const { kernel, source } = started();
    expect(kernel.read.input(installationCell)).toMatchObject({
      controllerName: 'example.com/controller',
      bundleVersions: {},
    });
    source.reader?.onInstalled(
      new Map([
        ...definitionOf('GatewayClass', 'v1.7.0'),
        ...definitionOf('HTTPRoute', 'v1.8.0'),
        ...definitionOf('XMesh', 'v1.9.0'),
      ]),
    );
    // XMesh is not followed, but its CRD belongs to the bundle.
    expect(kernel.read.input(installationCell)?.bundleVersions).toEqual({
      GatewayClass: 'v1.7.0',
      HTTPRoute: 'v1.8.0',
      XMesh: 'v1.9.0',
    });
    source.reader?.onInstalled(new Map());
    expect(kernel.read.input(installationCell)?.bundleVersions).toEqual({});
  });

  test('the bundle of a definition whose schema matches no release is a guess', () => {
    const { kernel, source } = started();
    const known = installedKind('gateways');
    source.reader?.onInstalled(new Map([...definitionOf('HTTPRoute', 'v1.5.0'), [known.name, known]]));
    expect(kernel.read.input(installationCell)).toMatchObject({
      bundles: { Gateway: { minor: '1.7', channel: 'standard' }, HTTPRoute: { minor: '1.5', channel: 'standard' } },
      guessed: ['HTTPRoute'],
    });
  });

  test('what is not followed is said to be unobserved, so that nobody takes it for absent', () => {
    const { kernel } = started();
    expect(kernel.read.input(installationCell)?.unobserved).toEqual(['EndpointSlice', 'Secret', 'ConfigMap']);
  });

  test('a ServiceImport is an unsupported kind while its definition is not installed, and its definition is none of the Gateway API', () => {
    const { kernel, installed, source } = started();
    expect(kernel.read.input(installationCell)?.notInstalled).toContain('ServiceImport');
    source.reader?.onInstalled(definitionOf('ServiceImport', ''));
    expect(kernel.read.input(installationCell)).toMatchObject({
      notInstalled: ['XBackendTrafficPolicy', 'XTelemetryPolicy', 'HostnamePolicy', 'ClusterTrustBundle', 'XBackend'],
      bundleVersions: {},
      bundles: {},
    });
    expect(installed).toEqual([new Map()]);
    source.reader?.onInstalled(new Map());
    expect(kernel.read.input(installationCell)?.notInstalled).toContain('ServiceImport');
  });

  test('a ClusterTrustBundle is an unsupported kind while the API server does not serve it, and its facts come and go', () => {
    const { kernel, source } = started();
    expect(kernel.read.input(installationCell)?.notInstalled).toContain('ClusterTrustBundle');
    source.reader?.onInstalled(definitionOf('ClusterTrustBundle', ''));
    expect(kernel.read.input(installationCell)?.notInstalled).not.toContain('ClusterTrustBundle');
    const bundle = {
      group: 'certificates.k8s.io',
      kind: 'ClusterTrustBundle',
      namespace: '',
      name: 'example.com:ca:v1',
    };
    const object = { apiVersion: 'certificates.k8s.io/v1', metadata: { name: bundle.name }, spec: { trustBundle: '' } };
    void source.reader?.onEvents([{ type: 'upsert', ref: bundle, object }]);
    expect(kernel.read.input(authorityCell, '', bundle.name)).toMatchObject({ type: 'unusable' });
    void source.reader?.onEvents([{ type: 'delete', ref: bundle }]);
    expect(kernel.read.input(authorityCell, '', bundle.name)).toBeUndefined();
    source.reader?.onInstalled(new Map());
    expect(kernel.read.input(installationCell)?.notInstalled).toContain('ClusterTrustBundle');
  });

  test('nothing waits for ClusterTrustBundles that may not be listed, but for those that cannot be listed yet', () => {
    const { source, state } = started();
    const unsynced = { phase: 'following', synced: false, problem: 'clustertrustbundles is forbidden' } as const;
    source.states.set('ClusterTrustBundle', unsynced);
    expect(state.problems()).toEqual([
      'objects of kind ClusterTrustBundle are not synced yet (clustertrustbundles is forbidden)',
    ]);
    source.states.set('ClusterTrustBundle', { ...unsynced, forbidden: true });
    expect(state.problems()).toEqual([]);
    expect(state.age()).toBe(1);
  });

  test('HostnamePolicies count while their definition is installed, which is none of the Gateway API', () => {
    const { kernel, installed, source } = started();
    expect(kernel.read.input(installationCell)).toMatchObject({ hostnamePolicies: false });
    source.reader?.onInstalled(definitionOf('HostnamePolicy', ''));
    expect(kernel.read.input(installationCell)).toMatchObject({
      hostnamePolicies: true,
      bundleVersions: {},
      bundles: {},
    });
    expect(installed).toEqual([new Map()]);
    source.reader?.onInstalled(new Map());
    expect(kernel.read.input(installationCell)).toMatchObject({ hostnamePolicies: false });
  });

  test('whoever asks for them is told the definitions', () => {
    const { installed, source } = started();
    const definitions = definitionOf('GatewayClass', 'v1.7.0');
    source.reader?.onInstalled(definitions);
    expect(installed).toEqual([definitions]);
  });

  test('what is not read yet is told, with what stands in the way', () => {
    const { source, state } = started();
    source.states.set('Gateway', { phase: 'waiting', synced: false });
    source.states.set('Service', { phase: 'following', synced: false, problem: 'services is forbidden' });
    expect(state.problems()).toEqual([
      'not known yet whether Gateway is installed',
      'objects of kind Service are not synced yet (services is forbidden)',
    ]);
  });

  test('definitions count, too', () => {
    const { source, state } = started();
    source.settled = false;
    expect(state.problems()).toEqual(['the installed CRDs are not synced yet']);
  });

  test('a kind that is known to be absent is no problem', () => {
    const { source, state } = started();
    source.states.set('HTTPRoute', { phase: 'absent', synced: true, lastContact: 5 });
    expect(state.problems()).toEqual([]);
  });

  test('once complete, it stays usable when something is out of reach for a while', () => {
    const { source, state } = started();
    expect(state.problems()).toEqual([]);
    source.states.set('HTTPRoute', { phase: 'following', synced: false, problem: 'no connection' });
    expect(state.problems()).toEqual([]);
  });

  test('its age is that of the kind that was heard of least, in seconds', () => {
    const { source, state } = started();
    source.states.set('Namespace', { phase: 'following', synced: true, lastContact: 61_500 });
    expect(state.age()).toBe(61.5);
    source.states.set('Gateway', { phase: 'waiting', synced: false });
    expect(state.age()).toBeUndefined();
  });

  test('stopping it stops the source', async () => {
    const { source, state } = started();
    await state.stop();
    expect(source.isStopped).toBe(true);
  });
});
