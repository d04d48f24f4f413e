import { describe, expect, test } from '@jest/globals';
import { DataPlaneWorkloads } from '../../../src/controller/data-plane-workloads.ts';
import type { ObjectChange } from '../../../src/controller/ports.ts';

function pod(name: string, reason: string | undefined, serviceAccountName: unknown = 'web-sallyport'): ObjectChange {
  const containerStatuses = reason === undefined ? [] : [{ image: 'i', state: { waiting: { reason } } }];
  return {
    type: 'upsert',
    ref: { group: '', kind: 'Pod', namespace: 'shop', name },
    object: { metadata: { namespace: 'shop', name }, spec: { serviceAccountName }, status: { containerStatuses } },
  };
}

const quota: ObjectChange = {
  type: 'upsert',
  ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web-sallyport' },
  object: {
    metadata: { namespace: 'shop', name: 'web-sallyport' },
    status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }] },
  },
};

function started() {
  const changed: string[] = [];
  const capacity = new DataPlaneWorkloads({ onChange: (gateway) => void changed.push(gateway) });
  return { capacity, changed, messages: () => capacity.problemsOf('shop/web').map(({ message }) => message) };
}

describe('capacity', () => {
  test('problems of pods and Deployments belong to the Gateway, those that refuse it first', () => {
    const { capacity, changed, messages } = started();
    capacity.observe([pod('a', 'CrashLoopBackOff')]);
    expect(changed).toEqual([]);
    capacity.follow('shop/web');
    capacity.observe([quota]);
    capacity.observe([pod('b', undefined)]);
    expect(changed).toEqual(['shop/web']);
    expect(messages()).toEqual([
      'Deployment "shop/web-sallyport" cannot create pods: exceeded quota.',
      expect.stringContaining('Pod "shop/a" is in CrashLoopBackOff'),
    ]);
  });

  test('problems go with what had them', () => {
    const { capacity, messages } = started();
    capacity.follow('shop/web');
    capacity.observe([pod('a', 'ErrImagePull')]);
    capacity.observe([pod('a', undefined)]);
    capacity.observe([pod('b', 'ErrImagePull')]);
    capacity.observe([{ type: 'delete', ref: pod('b', undefined).ref }]);
    expect(messages()).toEqual([]);
    capacity.observe([quota]);
    capacity.observe([{ type: 'delete', ref: quota.ref }]);
    expect(messages()).toEqual([]);
  });

  test('reported once for all events that arrive together', () => {
    const { capacity, changed } = started();
    capacity.follow('shop/web');
    capacity.observe([pod('a', 'ErrImagePull'), pod('b', 'ErrImagePull'), quota]);
    expect(changed).toEqual(['shop/web']);
  });

  test('pods of others do not matter, whatever they look like', () => {
    const { capacity, changed } = started();
    capacity.follow('shop/web');
    capacity.observe([pod('a', 'ErrImagePull', 'cart')]);
    capacity.observe([pod('b', 'ErrImagePull', 7)]);
    capacity.observe([{ type: 'delete', ref: pod('unknown', undefined).ref }]);
    capacity.forget('shop/web');
    capacity.observe([quota]);
    expect(changed).toEqual([]);
  });
});
