import { describe, expect, test } from '@jest/globals';
import { redirectWithRewrite } from '../../../../../src/core/rules/filters/redirect-with-rewrite.ts';
import { consequences, judge, refusals, refusingBundles, routeWith } from '../../../../support/rules.ts';

const redirect = { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } };
const rewrite = { type: 'URLRewrite', urlRewrite: { hostname: 'a.example' } };
const backend = { name: 'cart', port: 80 };

describe('redirect-with-rewrite', () => {
  test.each<[string, readonly unknown[]]>([
    ['one of them', [{ filters: [redirect] }]],
    ['each on its own rule', [{ filters: [redirect] }, { filters: [rewrite] }]],
    ['rewrites at two levels', [{ filters: [rewrite], backendRefs: [{ ...backend, filters: [rewrite] }] }]],
  ])('%s is fine', (_, rules) => {
    expect(judge(redirectWithRewrite, routeWith(...rules))).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    ['in one list', { filters: [rewrite, redirect] }, 'filters[0]', 'filters[1]'],
    [
      'redirect above',
      { filters: [redirect], backendRefs: [{ ...backend, filters: [rewrite] }] },
      'backendRefs[0].filters[0]',
      'filters[0]',
    ],
    [
      'rewrite above',
      { filters: [rewrite], backendRefs: [backend, { ...backend, filters: [redirect] }] },
      'filters[0]',
      'backendRefs[1].filters[0]',
    ],
    [
      'on two backends',
      {
        backendRefs: [
          { ...backend, filters: [redirect] },
          { ...backend, filters: [rewrite] },
        ],
      },
      'backendRefs[1].filters[0]',
      'backendRefs[0].filters[0]',
    ],
  ])('%s', (_, rule, at, other) => {
    const route = routeWith(rule);
    expect(judge(redirectWithRewrite, route)).toEqual([
      [
        `spec.rules[0].${at}`,
        `URLRewrite conflicts with the RequestRedirect at spec.rules[0].${other}: a request is either redirected or forwarded. Remove one of them, or move one to a separate rule.`,
      ],
    ]);
    expect(consequences(redirectWithRewrite, route)).toEqual(['Accepted IncompatibleFilters rule']);
  });
});

describe('bundles on redirects beside rewrites', () => {
  const filters = [{ type: 'URLRewrite' }, { type: 'RequestRedirect' }];

  test('look at one list at a time', () => {
    expect(refusals('redirect-with-rewrite', routeWith({ filters }))).toEqual([
      [
        'spec.rules[0].filters[0]',
        'URLRewrite conflicts with the RequestRedirect at filters[1]: a request is either redirected or forwarded. Remove one of them, or move one to a separate rule.',
      ],
    ]);
    expect(
      refusals(
        'redirect-with-rewrite',
        routeWith({ filters: [filters[0]], backendRefs: [{ name: 'a', filters: [filters[1]] }] }),
      ),
    ).toEqual([]);
    expect(refusingBundles('redirect-with-rewrite', routeWith({ backendRefs: [{ name: 'a', filters }] }))).toEqual([
      'standard 1.0–1.7',
      'experimental 1.0–1.7',
    ]);
  });
});
