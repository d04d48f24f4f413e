import { expect, test } from '@jest/globals';
import { nearest } from '../../../../src/core/text/suggest.ts';

const kinds = ['HTTPRoute', 'GRPCRoute', 'Gateway', 'GatewayClass', 'Service'];

test.each([
  ['HTTPRouet', 'HTTPRoute'],
  ['httproute', 'HTTPRoute'],
  ['HttpRoutes', 'HTTPRoute'],
  ['Gatway', 'Gateway'],
  ['Gateway', 'Gateway'],
  ['service', 'Service'],
  ['Deployment', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
])('nearest(%j) is %j', (word, expected) => {
  expect(nearest(word, kinds)).toBe(expected);
});

test('the first of equals', () => {
  expect(nearest('ac', ['ab', 'ad'])).toBe('ab');
});
