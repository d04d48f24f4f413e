import { describe, expect, test } from '@jest/globals';
import { headerActedOnTwice } from '../../../../../src/core/rules/headers/header-acted-on-twice.ts';
import { consequences, judge, routeWith } from '../../../../support/rules.ts';

const filter = (modifier: unknown) => ({ type: 'RequestHeaderModifier', requestHeaderModifier: modifier });
const header = (name: string) => ({ name, value: 'v' });

const message = (shown: string, list: string) =>
  `Duplicate header "${shown}": it is also in ${list}, and the order of the two is undefined (header names ignore case). Use only one of set, add and remove for it.`;

describe('header-acted-on-twice', () => {
  test.each<[string, unknown]>([
    ['one action each', { set: [header('a')], add: [header('b')], remove: ['c'] }],
    ['a list that repeats itself', { set: [header('a'), header('A')], remove: ['b', 'B'] }],
    ['nothing', {}],
    ['names that cannot be read', { set: [{}, { name: '' }, { name: 1 }], add: [{}], remove: [1, ''] }],
  ])('%s is fine', (_, modifier) => {
    expect(judge(headerActedOnTwice, routeWith({ filters: [filter(modifier)] }))).toEqual([]);
  });

  test('the same header in two filters is fine', () => {
    const response = { type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: ['a'] } };
    expect(judge(headerActedOnTwice, routeWith({ filters: [filter({ set: [header('a')] }), response] }))).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    [
      'set and add',
      { set: [header('x-a')], add: [header('x-b'), header('X-A')] },
      'add[1].name',
      message('X-A', 'set'),
    ],
    ['set and remove', { set: [header('x-a')], remove: ['x-a'] }, 'remove[0]', message('x-a', 'set')],
    ['add and remove', { add: [header('X-A')], remove: ['b', 'x-a'] }, 'remove[1]', message('x-a', 'add')],
  ])('%s', (_, modifier, at, expected) => {
    const route = routeWith({ filters: [filter(modifier)] });
    expect(judge(headerActedOnTwice, route)).toEqual([
      [`spec.rules[0].filters[0].requestHeaderModifier.${at}`, expected],
    ]);
    expect(consequences(headerActedOnTwice, route)).toEqual(['Accepted UnsupportedValue rule']);
  });

  test('on a backendRef', () => {
    const route = routeWith({
      backendRefs: [
        {
          name: 'a',
          filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [header('a')], remove: ['A'] } }],
        },
      ],
    });
    expect(judge(headerActedOnTwice, route).map(([path]) => path)).toEqual([
      'spec.rules[0].backendRefs[0].filters[0].responseHeaderModifier.remove[0]',
    ]);
    expect(consequences(headerActedOnTwice, route)).toEqual(['Accepted UnsupportedValue backendRef']);
  });
});
