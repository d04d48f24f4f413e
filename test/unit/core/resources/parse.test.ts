import { describe, expect, test } from '@jest/globals';
import { identifyObject } from '../../../../src/core/resources/parse.ts';

describe('identifyObject', () => {
  // Both are parts of keys, in which a slash separates them.
  test.each([
    [{ name: 'a/b', namespace: 'shop' }, 'metadata.name must not contain "/"'],
    [{ name: 'a', namespace: 'shop/b' }, 'metadata.namespace must not contain "/"'],
  ])('rejects %j', (metadata, problem) => {
    expect(identifyObject({ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'Gateway', metadata })).toEqual({
      type: 'invalid',
      problem,
    });
  });

  test('ignores the namespace of a kind without namespaces', () => {
    const metadata = { name: 'a', namespace: 'shop/b' };
    const identified = identifyObject({ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', metadata });
    expect(identified).toMatchObject({ ref: { namespace: '', name: 'a' } });
  });
});
