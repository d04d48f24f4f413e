import { describe, expect, test } from '@jest/globals';
import type { ObjectEvent } from '../../../../src/kubernetes/index.ts';
import { StoredObjects } from '../../../../src/webhook/audit/stored-objects.ts';

function upsert(name: string, namespace = 'shop'): ObjectEvent {
  const ref = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace, name };
  return { type: 'upsert', ref, object: { metadata: { name, namespace } } };
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
      objects.observe([upsert(name)]);
    }
    expect(taken).toEqual(['cart', 'about']);
    expect(objects.pending).toBe(2);
    expect([...objects.take()].map(({ name }) => name)).toEqual(['cart', 'about']);
  });

  test('are taken from each namespace in turn, also in a call after one that took a part of them', () => {
    const objects = new StoredObjects();
    objects.observe([...['a', 'b', 'c', 'd'].map((name) => upsert(name)), upsert('about', 'other')]);
    const taken: string[] = [];
    for (const { namespace, name } of objects.take()) {
      objects.observe([upsert(name, namespace)]);
      if (taken.push(name) === 2) break;
    }
    expect(taken).toEqual(['a', 'about']);
    objects.observe([upsert('new', 'new')]);
    expect([...objects.take()].map(({ name }) => name)).toEqual(['b', 'about', 'new', 'c', 'd', 'a']);
    expect(objects.pending).toBe(0);
  });

  test('of a namespace are known when each of the first call has been taken or deleted, even if they change all the time', () => {
    const objects = new StoredObjects();
    objects.observe([upsert('a'), upsert('b'), upsert('gone'), upsert('about', 'other')]);
    expect([objects.isKnown('shop'), objects.isKnown('other'), objects.areKnown]).toEqual([false, false, false]);
    const known: (readonly boolean[])[] = [];
    for (const { namespace, name } of objects.take()) {
      objects.observe([upsert(name, namespace), upsert(`new-${name}`)]);
      known.push([objects.isKnown('shop'), objects.isKnown('other'), objects.areKnown]);
      if (name === 'b') break;
    }
    objects.observe([deletion('gone')]);
    known.push([objects.isKnown('shop'), objects.isKnown('other'), objects.areKnown]);
    expect(known).toEqual([
      [false, false, false],
      [false, true, false],
      [false, true, false],
      [true, true, true],
    ]);
    expect(objects.isKnown('without objects')).toBe(true);
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
