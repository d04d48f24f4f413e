import { describe, expect, test } from '@jest/globals';
import { DataPlaneServices, type Reachability } from '../../../src/controller/data-plane-services.ts';
import type { ObjectChange } from '../../../src/controller/ports.ts';

const managed = { 'app.kubernetes.io/managed-by': 'sallyport' };

function service(name = 'web-sallyport', ...ingress: readonly object[]): ObjectChange {
  return {
    type: 'upsert',
    ref: { group: '', kind: 'Service', namespace: 'shop', name },
    object: {
      metadata: {
        namespace: 'shop',
        name,
        labels: managed,
        ownerReferences: [{ kind: 'Gateway', name: 'web', controller: true }],
      },
      status: { loadBalancer: { ingress } },
    },
  };
}

function slice(
  name: string,
  pods: Readonly<Record<string, boolean>>,
  labels: Readonly<Record<string, string>> = managed,
  serviceName = 'web-sallyport',
): ObjectChange {
  const endpoints = Object.entries(pods).map(([pod, ready]) => ({
    addresses: ['10.0.0.1'],
    conditions: { ready },
    targetRef: { kind: 'Pod', name: pod },
  }));
  return {
    type: 'upsert',
    ref: { group: 'discovery.k8s.io', kind: 'EndpointSlice', namespace: 'shop', name },
    object: {
      metadata: { namespace: 'shop', name, labels: { ...labels, 'kubernetes.io/service-name': serviceName } },
      endpoints,
    },
  };
}

function gone({ ref }: ObjectChange): ObjectChange {
  return { type: 'delete', ref };
}

function started() {
  const reached: string[] = [];
  const services = new DataPlaneServices({
    onReachability: (gateway, { addresses, pods }) =>
      void reached.push(
        `${gateway} at ${addresses.map(({ value }) => value).join(' ') || 'nothing'} by ${[...pods].sort().join(' ') || 'nobody'}`,
      ),
  });
  const observe = (...events: readonly ObjectChange[]): string | undefined => {
    for (const event of events) services.observe([event]);
    return reached.at(-1);
  };
  return { services, reached, observe };
}

const ip = { ip: '192.0.2.1' };

describe('how data planes can be reached', () => {
  test('at no address before somebody answers there, and from then on whoever restarts', () => {
    const { observe } = started();
    expect(observe(service('web-sallyport', ip))).toBe('shop/web at nothing by nobody');
    expect(observe(slice('a', { one: false }))).toBe('shop/web at nothing by nobody');
    expect(observe(slice('a', { one: true }))).toBe('shop/web at 192.0.2.1 by one');
    expect(observe(slice('a', { one: false }))).toBe('shop/web at 192.0.2.1 by nobody');
  });

  test('by the pods of all slices, whichever came first', () => {
    const { observe } = started();
    expect(observe(slice('a', { one: true, two: false }), slice('b', { three: true }))).toBeUndefined();
    expect(observe(service('web-sallyport', ip))).toBe('shop/web at 192.0.2.1 by one three');
    expect(observe(gone(slice('a', {})))).toBe('shop/web at 192.0.2.1 by three');
  });

  test('at once where they were served before this controller started', () => {
    const { services, observe } = started();
    services.assumeReachable('shop/web');
    expect(observe(service('web-sallyport', ip))).toBe('shop/web at 192.0.2.1 by nobody');
  });

  test('not because of pods that a slice named before the Service existed', () => {
    const { observe } = started();
    observe(slice('a', { one: true }), slice('a', { one: true }, managed, 'other'));
    expect(observe(service('web-sallyport', ip))).toBe('shop/web at nothing by nobody');
  });

  test('not because its Gateway was served earlier', () => {
    const { services, observe } = started();
    services.assumeReachable('shop/web');
    services.forget('shop/web');
    expect(observe(service('web-sallyport', ip))).toBe('shop/web at nothing by nobody');
  });

  test('not at all when the Service has gone', () => {
    const { observe } = started();
    observe(service('web-sallyport', ip), slice('a', { one: true }));
    expect(observe(gone(service()))).toBe('shop/web at nothing by nobody');
  });

  test('a copy of the Service under another name does not matter, nor does its end', () => {
    const { observe } = started();
    const reached = observe(service('web-sallyport', ip), slice('a', { one: true }));
    const copy = service('web-internal', { ip: '192.0.2.2' });
    expect(observe(copy)).toBe(reached);
    expect(observe(gone(copy))).toBe(reached);
  });

  test('Services and slices of others do not matter', () => {
    const { observe } = started();
    const theirs: ObjectChange = {
      type: 'upsert',
      ref: { group: '', kind: 'Service', namespace: 'shop', name: 'cart' },
      object: { metadata: { namespace: 'shop', name: 'cart' } },
    };
    expect(observe(theirs, gone(theirs), slice('a', { one: true }, {}), gone(slice('a', {})))).toBeUndefined();
  });

  test('not by the pods of a slice whose labels name another Service now, or none', () => {
    const { observe } = started();
    observe(service('web-sallyport', ip), slice('a', { one: true }), slice('b', { two: true }));
    expect(observe(slice('a', { one: true }, managed, 'other'))).toBe('shop/web at 192.0.2.1 by two');
    expect(observe(slice('b', { two: true }, {}))).toBe('shop/web at 192.0.2.1 by nobody');
    expect(observe(slice('a', { one: true }))).toBe('shop/web at 192.0.2.1 by one');
  });

  test('reported once for all events that arrive together', () => {
    const { services, reached } = started();
    services.observe([service('web-sallyport', ip), slice('a', { one: true }), slice('b', { two: true })]);
    expect(reached).toEqual(['shop/web at 192.0.2.1 by one two']);
  });

  test('by at most 2,000 pods', () => {
    const found: Reachability[] = [];
    const services = new DataPlaneServices({ onReachability: (_, reach) => void found.push(reach) });
    const slices = ['a', 'b', 'c'].map((name) =>
      slice(name, Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${name}-${index}`, true]))),
    );
    services.observe([service('web-sallyport', ip), ...slices]);
    expect(found.at(-1)?.pods.size).toBe(2_000);
  });

  test('at the addresses of both Services, each known by its source, and by the pods of either', () => {
    const reached: Reachability[] = [];
    const services = new DataPlaneServices({ onReachability: (_, reach) => void reached.push(reach) });
    const inCluster = service('web-sallyport-cluster');
    const ofCluster = slice('b', { one: true, two: true });
    services.observe([service('web-sallyport', ip), slice('a', { one: true })]);
    if (inCluster.type === 'upsert')
      services.observe([
        { ...inCluster, object: { ...inCluster.object, spec: { type: 'ClusterIP', clusterIPs: ['10.96.0.7'] } } },
      ]);
    if (ofCluster.type === 'upsert') {
      const { metadata } = ofCluster.object;
      const labels = { ...metadata.labels, 'kubernetes.io/service-name': 'web-sallyport-cluster' };
      services.observe([{ ...ofCluster, object: { ...ofCluster.object, metadata: { ...metadata, labels } } }]);
    }
    const cluster = { type: 'IPAddress', value: '10.96.0.7', routability: 'Cluster', scope: 'Cluster' };
    expect(reached.at(-1)).toEqual({
      addresses: [{ type: 'IPAddress', value: '192.0.2.1' }, cluster],
      pods: new Set(['one', 'two']),
    });
    expect(services.servicesOf('shop/web')).toHaveLength(2);
    services.observe([gone(service())]);
    expect(reached.at(-1)).toEqual({ addresses: [cluster], pods: new Set(['one', 'two']) });
  });
});
