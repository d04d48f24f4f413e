import { describe, expect, test } from '@jest/globals';
import { redirectWithBackends } from '../../../../../src/core/rules/filters/redirect-with-backends.ts';
import { consequences, judge, routeWith } from '../../../../support/rules.ts';

const redirect = { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } };
const modifier = { type: 'RequestHeaderModifier', requestHeaderModifier: {} };
const backend = { name: 'cart', port: 80 };

describe('redirect-with-backends', () => {
  test.each<[string, unknown]>([
    ['a redirect alone', { filters: [redirect] }],
    ['a redirect with an empty list', { filters: [redirect], backendRefs: [] }],
    ['backends alone', { filters: [modifier], backendRefs: [backend] }],
    ['a redirect on a backendRef', { backendRefs: [{ ...backend, filters: [redirect] }] }],
  ])('%s is fine', (_, rule) => {
    expect(judge(redirectWithBackends, routeWith(rule))).toEqual([]);
  });

  test('a redirect with backends', () => {
    const route = routeWith({ filters: [modifier, redirect], backendRefs: [backend] });
    expect(judge(redirectWithBackends, route)).toEqual([
      [
        'spec.rules[0].filters[1]',
        'backendRefs conflicts with the RequestRedirect filter: the rule redirects every request, so no backend gets one. Remove backendRefs, or remove the filter.',
      ],
    ]);
    expect(consequences(redirectWithBackends, route)).toEqual(['Accepted IncompatibleFilters rule']);
  });
});
