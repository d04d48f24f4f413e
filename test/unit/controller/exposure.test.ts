import { describe, expect, test } from '@jest/globals';
import { Exposure } from '../../../src/controller/exposure.ts';
import type { ObjectChange } from '../../../src/controller/ports.ts';

const managed = { 'app.kubernetes.io/managed-by': 'sallyport' };

function service(name = 'web-sallyport', ...ingress: readonly object[]): ObjectChange {
  return {
    type: 'upsert', ref: { group: '', kind: 'Service', namespace: 'shop', name },
    object: { metadata: { namespace: 'shop', name, labels: managed, ownerReferences: [{ kind: 'Gateway', name: 'web', controller: true }] }, status: { loadBalancer: { ingress } } },
  };
}

function slice(name: string, pods: Readonly<Record<string, boolean>>, labels: Readonly<Record<string, string>> = managed): ObjectChange {
  const endpoints = Object.entries(pods).map(([pod, ready]) => ({ addresses: ['10.0.0.1'], conditions: { ready }, targetRef: { kind: 'Pod', name: pod } }));
  return {
    type: 'upsert', ref: { group: 'discovery.k8s.io', kind: 'EndpointSlice', namespace: 'shop', name },
    object: { metadata: { namespace: 'shop', name, labels: { ...labels, 'kubernetes.io/service-name': 'web-sallyport' } }, endpoints },
  };
}

function gone({ ref }: ObjectChange): ObjectChange {
  return { type: 'delete', ref };
}

function started() {
  const reached: string[] = [];
  const exposure = new Exposure({
    onReach: (gateway, { addresses, pods }) => void reached.push(`${gateway} at ${addresses.map(({ value }) => value).join(' ') || 'nothing'} by ${[...pods].sort().join(' ') || 'nobody'}`),
  });
  const take = (...events: readonly ObjectChange[]): string | undefined => {
    for (const event of events) exposure.take(event);
    return reached.at(-1);
  };
  return { exposure, take };
}

const ip = { ip: '192.0.2.1' };

describe('how data planes can be reached', () => {
  test('at no address before somebody answers there, and from then on whoever restarts', () => {
    const { take } = started();
    expect(take(service('web-sallyport', ip))).toBe('shop/web at nothing by nobody');
    expect(take(slice('a', { one: false }))).toBe('shop/web at nothing by nobody');
    expect(take(slice('a', { one: true }))).toBe('shop/web at 192.0.2.1 by one');
    expect(take(slice('a', { one: false }))).toBe('shop/web at 192.0.2.1 by nobody');
  });

  test('by the pods of all slices, whichever came first', () => {
    const { take } = started();
    expect(take(slice('a', { one: true, two: false }), slice('b', { three: true }))).toBeUndefined();
    expect(take(service('web-sallyport', ip))).toBe('shop/web at 192.0.2.1 by one three');
    expect(take(gone(slice('a', {})))).toBe('shop/web at 192.0.2.1 by three');
  });

  test('at once where they were served before this controller started', () => {
    const { exposure, take } = started();
    exposure.assumeReachable('shop/web');
    expect(take(service('web-sallyport', ip))).toBe('shop/web at 192.0.2.1 by nobody');
  });

  test('not at all when the Service has gone', () => {
    const { take } = started();
    take(service('web-sallyport', ip), slice('a', { one: true }));
    expect(take(gone(service()))).toBe('shop/web at nothing by nobody');
  });

  test('a copy of the Service under another name does not matter, nor does its end', () => {
    const { take } = started();
    const reached = take(service('web-sallyport', ip), slice('a', { one: true }));
    const copy = service('web-internal', { ip: '192.0.2.2' });
    expect(take(copy)).toBe(reached);
    expect(take(gone(copy))).toBe(reached);
  });

  test('Services and slices of others do not matter', () => {
    const { take } = started();
    const theirs: ObjectChange = { type: 'upsert', ref: { group: '', kind: 'Service', namespace: 'shop', name: 'cart' }, object: { metadata: { namespace: 'shop', name: 'cart' } } };
    expect(take(theirs, gone(theirs), slice('a', { one: true }, {}), gone(slice('a', {})))).toBeUndefined();
  });
});
