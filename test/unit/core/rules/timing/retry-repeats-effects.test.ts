import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-repeats-effects', () => {
  test.each<[object]>([
    [{ matches: [ { method: 'GET' } ], retry: { codes: [ 503 ] } }],
    [{ matches: [ { method: 'POST' } ], retry: { attempts: 2 } }],
    [{ retry: { codes: [ 503 ] } }],
    [{ matches: [ { method: 'POST' }, { method: 'PUT' } ], retry: { codes: [ 503 ] } }],
  ])('%j is fine', (value) => {
    expect(remarks('retry-repeats-effects', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ matches: [ { method: 'POST' } ], retry: { codes: [ 503 ] } }, [ 'spec.rules[0].retry.codes', 'This rule matches POST alone, and a backend that answers 503 may have done what was asked: a retry would do it twice. Remove codes unless the backend recognises repetitions.' ]],
    [{ matches: [ { method: 'POST' }, { method: 'PATCH' } ], retry: { codes: [ 500, 502 ] } }, [ 'spec.rules[0].retry.codes', 'This rule matches POST and PATCH alone, and a backend that answers 500 or 502 may have done what was asked: a retry would do it twice. Remove codes unless the backend recognises repetitions.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-repeats-effects', object(value))).toEqual(expected);
  });
});
