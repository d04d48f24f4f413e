import { describe, expect, test } from '@jest/globals';
import type { ObjectEvent } from '../../../../src/kubernetes/index.ts';
import { StoredObjects } from '../../../../src/webhook/audit/stored-objects.ts';

function upsert(name: string): ObjectEvent {
  const ref = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop', name };
  return { type: 'upsert', ref, object: { metadata: { name, namespace: 'shop' } } };
}

function deletion(name: string): ObjectEvent {
  return { type: 'delete', ref: upsert(name).ref };
}

describe('the pending objects', () => {
  test('are taken once, even if they change all the time; the changes stay pending', () => {
    const objects = new StoredObjects();
    objects.observe([upsert('cart'), upsert('about')]);
    const taken: string[] = [];
    for (const { name } of objects.take()) {
      if (taken.push(name) > 2) break;
      objects.observe([upsert(name), upsert(`new-${name}`)]);
    }
    expect(taken).toEqual(['cart', 'about']);
    expect(objects.pending).toBe(4);
  });

  test('do not include those that are deleted in the meantime, and are taken as they are stored then', () => {
    const objects = new StoredObjects();
    objects.observe([upsert('cart'), upsert('about'), upsert('gone')]);
    const [first, ...others] = objects.take().map((object) => {
      if (object.name === 'cart') objects.observe([upsert('about'), deletion('gone')]);
      return object;
    });
    expect(first?.name).toBe('cart');
    expect(others.map(({ name }) => name)).toEqual(['about']);
    expect(objects.pending).toBe(0);
  });

  test('of an outdated version are still stored until they are deleted', () => {
    const objects = new StoredObjects();
    objects.observe([upsert('cart')]);
    const [cart] = objects.take();
    if (cart === undefined) throw new Error('nothing is pending');
    objects.observe([upsert('cart')]);
    expect(objects.has(cart)).toBe(true);
    objects.observe([deletion('cart')]);
    expect(objects.has(cart)).toBe(false);
  });
});
