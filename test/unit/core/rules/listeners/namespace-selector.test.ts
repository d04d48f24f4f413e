import { describe, expect, test } from '@jest/globals';
import { namespaceSelector } from '../../../../../src/core/rules/listeners/namespace-selector.ts';
import { consequences, gatewayWith, judge } from '../../../../support/rules.ts';

const listener = (namespaces: unknown) => gatewayWith({ name: 'a' }, { name: 'b', allowedRoutes: { namespaces } });
const missing =
  'from: Selector needs a selector; without one no namespace is chosen. Write matchLabels under selector, e.g. kubernetes.io/metadata.name: shop, or write from: Same or from: All.';

describe('namespace-selector', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['all', { from: 'All' }],
    ['a selector', { from: 'Selector', selector: { matchLabels: { team: 'shop' } } }],
    ['an empty selector', { from: 'Selector', selector: {} }],
    ['a selector that is not asked', { from: 'Same', selector: { matchLabels: { 'a b': 'c' } } }],
    ['a selector that cannot be read', { from: 'Selector', selector: 'team=shop' }],
  ])('%s is fine', (_, namespaces) => {
    expect(judge(namespaceSelector, listener(namespaces))).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    ['no selector', undefined, '', missing],
    ['an unknown operator', { matchExpressions: [{ key: 'a', operator: 'Equals', values: ['b'] }] }, '.matchExpressions[0].operator',
      'This selector chooses no namespace: "Equals" is no operator; write In, NotIn, Exists or DoesNotExist.'],
    ['no values', { matchExpressions: [{ key: 'a', operator: 'In' }] }, '.matchExpressions[0].values',
      'This selector chooses no namespace: In has no values; list at least one, or use Exists.'],
    ['a bad label', { matchLabels: { 'example.com/a b': 'c' } }, '.matchLabels["example.com/a b"]',
      'This selector chooses no namespace: "example.com/a b" is no label name; write at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends.'],
  ])('%s', (_, selector, at, message) => {
    const gateway = listener({ from: 'Selector', selector });
    expect(judge(namespaceSelector, gateway)).toEqual([[`spec.listeners[1].allowedRoutes.namespaces.selector${at}`, message]]);
    expect(consequences(namespaceSelector, gateway)).toEqual(['Accepted UnsupportedValue listener']);
  });

  test('of ListenerSets: the Gateway itself goes on working', () => {
    const gateway = { ...(gatewayWith() as object), spec: { allowedListeners: { namespaces: { from: 'Selector' } } } };
    expect(judge(namespaceSelector, gateway)).toEqual([['spec.allowedListeners.namespaces.selector', missing]]);
    expect(consequences(namespaceSelector, gateway)).toEqual(['none']);
  });
});
