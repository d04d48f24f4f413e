import { describe, expect, test } from '@jest/globals';
import { prefixReplacement } from '../../../../../src/core/rules/filters/prefix-replacement.ts';
import { consequences, judge, refusals, routeWith } from '../../../../support/rules.ts';

const modifier = (type: string, member: string, path = 'ReplacePrefixMatch') => ({
  type,
  [member]: { path: { type: path, replacePrefixMatch: '/x' } },
});
const rewrite = modifier('URLRewrite', 'urlRewrite');
const redirect = modifier('RequestRedirect', 'requestRedirect');
const prefix = { path: { type: 'PathPrefix', value: '/a' } };
const exact = { path: { type: 'Exact', value: '/a' } };

const message = (problem: string) =>
  `ReplacePrefixMatch requires a rule with exactly one match, of type PathPrefix, but ${problem}. Move the other matches to separate rules, or use ReplaceFullPath.`;

describe('prefix-replacement', () => {
  test.each<[string, unknown]>([
    ['one prefix match', { matches: [prefix], filters: [rewrite] }],
    ['the default match', { filters: [redirect] }],
    ['the default path', { matches: [{ method: 'GET' }], filters: [redirect] }],
    ['the default type', { matches: [{ path: { value: '/a' } }], filters: [redirect] }],
    [
      'replacing the full path',
      { matches: [exact, prefix], filters: [modifier('URLRewrite', 'urlRewrite', 'ReplaceFullPath')] },
    ],
    ['no filters', { matches: [exact, prefix] }],
    ['matches that cannot be read', { matches: 'x', filters: [rewrite] }],
  ])('%s is fine', (_, rule) => {
    expect(judge(prefixReplacement, routeWith(rule))).toEqual([]);
  });

  test.each<[string, readonly unknown[], string]>([
    ['two matches', [prefix, prefix], 'the rule has 2 matches'],
    ['an exact match', [exact], 'the match has type Exact'],
    [
      'a regular expression',
      [{ path: { type: 'RegularExpression', value: '/.*' } }],
      'the match has type RegularExpression',
    ],
    ['no match', [], 'its list of matches is empty'],
  ])('%s', (_, matches, problem) => {
    const route = routeWith({ matches, filters: [rewrite] });
    expect(judge(prefixReplacement, route)).toEqual([
      ['spec.rules[0].filters[0].urlRewrite.path.type', message(problem)],
    ]);
    expect(consequences(prefixReplacement, route)).toEqual(['Accepted UnsupportedValue rule']);
  });

  test('several backends, which the CRDs overlook', () => {
    const route = routeWith({
      matches: [exact],
      backendRefs: [
        { name: 'a', filters: [rewrite] },
        { name: 'b', filters: [redirect] },
      ],
    });
    expect(judge(prefixReplacement, route)).toEqual([
      ['spec.rules[0].backendRefs[0].filters[0].urlRewrite.path.type', message('the match has type Exact')],
      ['spec.rules[0].backendRefs[1].filters[0].requestRedirect.path.type', message('the match has type Exact')],
    ]);
  });
});

describe('bundles on prefixes that are replaced', () => {
  const rewrite = { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } } };
  const redirect = {
    type: 'RequestRedirect',
    requestRedirect: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
  };
  const backend = (...filters: readonly object[]): object => ({ name: 'a', port: 80, filters });
  const exact = [{ path: { type: 'Exact', value: '/a' } }];
  const places = (rule: object): readonly string[] =>
    refusals('prefix-replacement', routeWith(rule)).map(([path]) => path);

  test('look at the rule and at a single backendRef', () => {
    expect(places({ matches: exact, filters: [rewrite] })).toEqual(['spec.rules[0].filters[0].urlRewrite.path.type']);
    expect(places({ matches: exact, backendRefs: [backend(rewrite), backend()] })).toEqual([
      'spec.rules[0].backendRefs[0].filters[0].urlRewrite.path.type',
    ]);
  });

  test('overlook two backendRefs that do the same, but not two that do different things', () => {
    expect(places({ matches: exact, backendRefs: [backend(rewrite), backend(rewrite)] })).toEqual([]);
    expect(places({ matches: exact, backendRefs: [backend(rewrite), backend(redirect)] })).toHaveLength(2);
  });

  test('overlook a list in which two filters do the same, or one that does not say by what', () => {
    const hidden = { ...rewrite, type: 'RequestMirror' };
    const empty = { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch' } } };
    expect(places({ matches: exact, filters: [hidden, rewrite] })).toEqual([]);
    expect(places({ matches: exact, backendRefs: [backend(hidden, rewrite)] })).toEqual([]);
    expect(places({ matches: exact, filters: [empty], backendRefs: [backend(empty)] })).toEqual([]);
    expect(places({ matches: exact, backendRefs: [backend(hidden, rewrite), backend(rewrite)] })).toEqual([
      'spec.rules[0].backendRefs[1].filters[0].urlRewrite.path.type',
    ]);
  });

  test('the default match is a prefix', () => {
    expect([...places({ filters: [rewrite] }), ...places({ matches: [{}], filters: [rewrite] })]).toEqual([]);
    expect(places({ matches: [], filters: [rewrite] })).toHaveLength(1);
    expect(places({ matches: [{}, {}], filters: [redirect] })).toHaveLength(1);
  });
});
