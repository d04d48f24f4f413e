import { describe, expect, test } from '@jest/globals';
import { regexNotRe2 } from '../../../../../src/core/rules/matches/regex-not-re2.ts';
import { consequences, judge, routeWith } from '../../../../support/rules.ts';

const type = 'RegularExpression';

describe('regex-not-re2', () => {
  test.each<[string, unknown]>([
    [
      'RE2 everywhere',
      {
        path: { type, value: '/users/[0-9]+' },
        headers: [{ type, name: 'a', value: '(?i)b.*' }],
        queryParams: [{ type, name: 'c', value: 'd|e' }],
      },
    ],
    [
      'values that are compared',
      {
        path: { value: '/(' },
        headers: [{ name: 'a', value: '(' }],
        queryParams: [{ type: 'Exact', name: 'c', value: '(' }],
      },
    ],
    ['an unknown type', { path: { type: 'Glob', value: '(' } }],
  ])('%s is fine', (_, match) => {
    expect(judge(regexNotRe2, routeWith({ matches: [match] }))).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    [
      'a path',
      { path: { type, value: '/(?!admin).*' } },
      'path.value',
      'Invalid regular expression "/(?!admin).*", so the match matches nothing: RE2 does not support lookahead or lookbehind such as (?=…) or (?!…). List the alternatives with |, or use several matches or rules.',
    ],
    [
      'a header',
      { headers: [{ type, name: 'a', value: '[a' }] },
      'headers[0].value',
      'Invalid regular expression "[a", so the match matches nothing: missing closing ] at "[a". Use RE2 syntax, with \\ before each literal special character.',
    ],
    [
      'a query parameter',
      { queryParams: [{ type, name: 'a', value: '(b)\\1' }] },
      'queryParams[0].value',
      'Invalid regular expression "(b)\\\\1", so the match matches nothing: RE2 does not support backreferences such as \\1. Repeat the part itself.',
    ],
  ])('%s', (_, match, at, message) => {
    const route = routeWith({ matches: [{}, match] });
    expect(judge(regexNotRe2, route)).toEqual([[`spec.rules[0].matches[1].${at}`, message]]);
    expect(consequences(regexNotRe2, route)).toEqual(['Accepted UnsupportedValue match']);
  });
});
