import { describe, expect, test } from '@jest/globals';
import { namespaceSelector } from '../../../../../src/core/rules/listeners/namespace-selector.ts';
import { consequences, gatewayWith, judge } from '../../../../support/rules.ts';

const listener = (namespaces: unknown) => gatewayWith({ name: 'a' }, { name: 'b', allowedRoutes: { namespaces } });
const missing =
  'selector is required with from: Selector. Without it, no namespace matches. Set matchLabels under selector, for example kubernetes.io/metadata.name: shop, or use from: Same or from: All.';

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
    [
      'an unknown operator',
      { matchExpressions: [{ key: 'a', operator: 'Equals', values: ['b'] }] },
      '.matchExpressions[0].operator',
      'Invalid selector, so no namespace matches: unsupported operator "Equals". Use In, NotIn, Exists or DoesNotExist.',
    ],
    [
      'no values',
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      '.matchExpressions[0].values',
      'Invalid selector, so no namespace matches: values is required with operator In. Set at least one value, or use operator Exists.',
    ],
    [
      'a bad label',
      { matchLabels: { 'example.com/a b': 'c' } },
      '.matchLabels["example.com/a b"]',
      'Invalid selector, so no namespace matches: invalid label key "example.com/a b". Use at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends.',
    ],
  ])('%s', (_, selector, at, message) => {
    const gateway = listener({ from: 'Selector', selector });
    expect(judge(namespaceSelector, gateway)).toEqual([
      [`spec.listeners[1].allowedRoutes.namespaces.selector${at}`, message],
    ]);
    expect(consequences(namespaceSelector, gateway)).toEqual(['Accepted UnsupportedValue listener']);
  });

  test('of ListenerSets: the Gateway itself goes on working', () => {
    const gateway = { ...(gatewayWith() as object), spec: { allowedListeners: { namespaces: { from: 'Selector' } } } };
    expect(judge(namespaceSelector, gateway)).toEqual([['spec.allowedListeners.namespaces.selector', missing]]);
    expect(consequences(namespaceSelector, gateway)).toEqual(['none']);
  });
});
