import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Inventory, keyOf, type ObjectEvent } from '../../../src/kubernetes/inventory.ts';

const type = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', plural: 'httproutes', namespaced: true };

function object(name: string, uid = 'a', resourceVersion = '1') {
  return { metadata: { name, namespace: 'shop', uid, resourceVersion, managedFields: [{}] }, spec: {} };
}

function short(events: readonly ObjectEvent[]): readonly string[] {
  return events.map(({ type, ref }) => `${type} ${ref.name}`);
}

describe('what is news', () => {
  test('an object says what it is, and not who manages its fields', () => {
    expect(new Inventory(type).upsert(object('cart'))).toEqual([
      {
        type: 'upsert',
        ref: { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop', name: 'cart' },
        object: {
          apiVersion: type.apiVersion,
          kind: 'HTTPRoute',
          metadata: { name: 'cart', namespace: 'shop', uid: 'a', resourceVersion: '1' },
          spec: {},
        },
      },
    ]);
  });

  test('the same version is none', () => {
    const inventory = new Inventory(type);
    inventory.upsert(object('cart'));
    expect(inventory.upsert(object('cart'))).toEqual([]);
    expect(short(inventory.upsert(object('cart', 'a', '2')))).toEqual(['upsert cart']);
  });

  test('another uid is another object', () => {
    const inventory = new Inventory(type);
    inventory.upsert(object('cart'));
    expect(short(inventory.upsert(object('cart', 'b', '5')))).toEqual(['delete cart', 'upsert cart']);
    expect(inventory.remove(object('cart', 'a', '4'))).toEqual([]);
    expect(short(inventory.remove(object('cart', 'b', '6')))).toEqual(['delete cart']);
    expect(inventory.remove(object('cart', 'b', '6'))).toEqual([]);
  });

  test('an earlier version is another object: the API server was restored from a backup', () => {
    const inventory = new Inventory(type);
    inventory.upsert(object('cart', 'a', '10'));
    expect(short(inventory.upsert(object('cart', 'a', '9')))).toEqual(['delete cart', 'upsert cart']);
  });

  test('doubted objects come once more, also at the same version', () => {
    const inventory = new Inventory(type);
    inventory.upsert(object('cart'));
    inventory.doubtAll();
    expect(short(inventory.upsert(object('cart')))).toEqual(['upsert cart']);
    expect(inventory.upsert(object('cart'))).toEqual([]);
  });

  test('what did not arrive comes again with the next list, gone or not', () => {
    const inventory = new Inventory(type);
    inventory.distrust(inventory.upsert(object('cart')));
    expect(short(inventory.upsert(object('cart')))).toEqual(['upsert cart']);
    inventory.distrust(inventory.remove(object('cart')));
    expect(short(inventory.retain(new Set()))).toEqual(['delete cart']);
    expect(inventory.size).toBe(0);
  });

  test('another version of the kind takes over: all is told once more, and what is gone is gone', () => {
    const former = new Inventory(type);
    former.upsert(object('cart'));
    former.upsert(object('gone'));
    const inventory = new Inventory({ ...type, apiVersion: 'gateway.networking.k8s.io/v1beta1' });
    inventory.adopt(former);
    expect(short(inventory.upsert(object('cart')))).toEqual(['upsert cart']);
    expect(short(inventory.retain(new Set(['shop/cart'])))).toEqual(['delete gone']);
  });

  test('a reader who applies all events has what the last list has', () => {
    const one = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      uid: fc.constantFrom('1', '2'),
      resourceVersion: fc.constantFrom('1', '2'),
    });
    const list = fc.uniqueArray(one, { selector: ({ name }) => name });
    fc.assert(
      fc.property(fc.array(list), (lists) => {
        const inventory = new Inventory(type);
        const held = new Map<string, string>();
        for (const items of lists) {
          const objects = items.map(({ name, uid, resourceVersion }) => object(name, uid, resourceVersion));
          const events = [
            ...objects.flatMap((item) => inventory.upsert(item)),
            ...inventory.retain(new Set(objects.map(({ metadata }) => keyOf(metadata)))),
          ];
          for (const event of events) {
            if (event.type === 'delete') expect(held.delete(event.ref.name)).toBe(true);
            else held.set(event.ref.name, `${event.object.metadata.uid} ${event.object.metadata.resourceVersion}`);
          }
          expect(held).toEqual(
            new Map(items.map(({ name, uid, resourceVersion }) => [name, `${uid} ${resourceVersion}`])),
          );
        }
      }),
    );
  });
});
