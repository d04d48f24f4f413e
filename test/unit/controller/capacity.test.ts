import { describe, expect, test } from '@jest/globals';
import { Capacity } from '../../../src/controller/capacity.ts';
import type { ObjectChange } from '../../../src/controller/ports.ts';

function pod(name: string, reason: string | undefined, serviceAccountName: unknown = 'web-sallyport'): ObjectChange {
  const containerStatuses = reason === undefined ? [] : [{ image: 'i', state: { waiting: { reason } } }];
  return { type: 'upsert', ref: { group: '', kind: 'Pod', namespace: 'shop', name }, object: { metadata: { namespace: 'shop', name }, spec: { serviceAccountName }, status: { containerStatuses } } };
}

const quota: ObjectChange = {
  type: 'upsert', ref: { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web-sallyport' },
  object: { metadata: { namespace: 'shop', name: 'web-sallyport' }, status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }] } },
};

function started() {
  const changed: string[] = [];
  const capacity = new Capacity({ onChange: (gateway) => void changed.push(gateway) });
  return { capacity, changed, messages: () => capacity.troublesOf('shop/web').map(({ message }) => message) };
}

describe('capacity', () => {
  test('troubles of pods and Deployments belong to the Gateway, those that refuse it first', () => {
    const { capacity, changed, messages } = started();
    capacity.take(pod('a', 'CrashLoopBackOff'));
    expect(changed).toEqual([]);
    capacity.follow('shop/web');
    capacity.take(quota);
    capacity.take(pod('b', undefined));
    expect(changed).toEqual(['shop/web']);
    expect(messages()).toEqual(['Pods of Deployment shop/web-sallyport cannot be made: exceeded quota.', expect.stringContaining('Pod shop/a ends')]);
  });

  test('troubles go with what had them', () => {
    const { capacity, messages } = started();
    capacity.follow('shop/web');
    capacity.take(pod('a', 'ErrImagePull'));
    capacity.take(pod('a', undefined));
    capacity.take(pod('b', 'ErrImagePull'));
    capacity.take({ type: 'delete', ref: pod('b', undefined).ref });
    expect(messages()).toEqual([]);
    capacity.take(quota);
    capacity.take({ type: 'delete', ref: quota.ref });
    expect(messages()).toEqual([]);
  });

  test('pods of others do not matter, whatever they look like', () => {
    const { capacity, changed } = started();
    capacity.follow('shop/web');
    capacity.take(pod('a', 'ErrImagePull', 'cart'));
    capacity.take(pod('b', 'ErrImagePull', 7));
    capacity.take({ type: 'delete', ref: pod('unknown', undefined).ref });
    capacity.forget('shop/web');
    capacity.take(quota);
    expect(changed).toEqual([]);
  });
});
