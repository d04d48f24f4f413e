import { expect, test } from '@jest/globals';
import { ofQualifiedName, qualifiedName } from '../../../../src/core/resources/reference.ts';

test.each([
  [{ namespace: 'shop', name: 'front' }, 'shop/front'],
  [{ namespace: '', name: 'sallyport' }, 'sallyport'],
  [{ namespace: 'shop', name: 'a/b' }, 'shop/a/b'],
])('%j is %s', (ref, text) => {
  expect(qualifiedName(ref)).toBe(text);
  expect(ofQualifiedName(text)).toEqual(ref);
});
