import { describe, expect, test } from '@jest/globals';
import { isKubernetesObject, microTime, pathOf, resourceType } from '../../../src/kubernetes/object.ts';

const routes = resourceType(
  { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', plural: 'httproutes', namespaced: true },
  'v1',
);
const nodes = resourceType({ group: '', kind: 'Node', plural: 'nodes', namespaced: false }, 'v1');

describe('paths', () => {
  test.each([
    [routes, {}, '', '/apis/gateway.networking.k8s.io/v1/httproutes'],
    [routes, { namespace: 'shop' }, '', '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes'],
    [
      routes,
      { namespace: 'shop', name: 'cart' },
      'status',
      '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/cart/status',
    ],
    [nodes, { namespace: 'shop', name: 'a' }, '', '/api/v1/nodes/a'],
    [
      routes,
      { namespace: 'shop', name: '../../x?y' },
      '',
      '/apis/gateway.networking.k8s.io/v1/namespaces/shop/httproutes/..%2F..%2Fx%3Fy',
    ],
  ])('%#', (type, name, subresource, path) => {
    expect(pathOf(type, name, subresource)).toBe(path);
  });
});

test('a MicroTime has six digits', () => {
  expect(microTime(new Date(0))).toBe('1970-01-01T00:00:00.000000Z');
});

test('an object has a name, and no part of its identity has another type', () => {
  const metadata = { name: 'cart', namespace: 'shop', uid: 'a', resourceVersion: '1' };
  expect(isKubernetesObject({ metadata })).toBe(true);
  expect(isKubernetesObject({ metadata: { name: 'cart' } })).toBe(true);
  expect(isKubernetesObject({ metadata: { ...metadata, name: '' } })).toBe(false);
  for (const field of Object.keys(metadata))
    for (const value of [null, 1, {}, ['shop']])
      expect(isKubernetesObject({ metadata: { ...metadata, [field]: value } })).toBe(false);
});

test('the version of an object is no longer than a path can be', () => {
  const versioned = (length: number) => ({ metadata: { name: 'cart', resourceVersion: '1'.repeat(length) } });
  expect([isKubernetesObject(versioned(1_024)), isKubernetesObject(versioned(1_025))]).toEqual([true, false]);
});
