import { expect, test } from '@jest/globals';
import { keyOfRef, ofQualifiedName, qualifiedName, refOfKey } from '../../../../src/core/resources/reference.ts';

test.each([
  [{ namespace: 'shop', name: 'front' }, 'shop/front'],
  [{ namespace: '', name: 'sallyport' }, 'sallyport'],
  [{ namespace: 'shop', name: 'a/b' }, 'shop/a/b'],
])('%j is %s', (ref, text) => {
  expect(qualifiedName(ref)).toBe(text);
  expect(ofQualifiedName(text)).toEqual(ref);
});

test.each([
  [{ kind: 'HTTPRoute', namespace: 'shop', name: 'cart' }, 'HTTPRoute/shop/cart'],
  [{ kind: 'GatewayClass', namespace: '', name: 'sallyport' }, 'GatewayClass//sallyport'],
  [{ kind: 'HTTPRoute', namespace: 'shop', name: 'a/b' }, 'HTTPRoute/shop/a/b'],
])('%j has the key %s', (ref, key) => {
  expect(keyOfRef(ref)).toBe(key);
  expect(refOfKey(key)).toEqual(ref);
});
