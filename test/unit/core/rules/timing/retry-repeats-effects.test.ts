import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-repeats-effects', () => {
  test.each<[object]>([
    [{ matches: [{ method: 'GET' }], retry: { codes: [503] } }],
    [{ matches: [{ method: 'POST' }], retry: { attempts: 2 } }],
    [{ retry: { codes: [503] } }],
    [{ matches: [{ method: 'POST' }, { method: 'PUT' }], retry: { codes: [503] } }],
  ])('%j is fine', (value) => {
    expect(remarks('retry-repeats-effects', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { matches: [{ method: 'POST' }], retry: { codes: [503] } },
      [
        'spec.rules[0].retry.codes',
        'Retries can repeat effects: the rule matches only POST, and a backend that responds with 503 may already have processed the request. Remove codes, unless the backend detects duplicate requests.',
      ],
    ],
    [
      { matches: [{ method: 'POST' }, { method: 'PATCH' }], retry: { codes: [500, 502] } },
      [
        'spec.rules[0].retry.codes',
        'Retries can repeat effects: the rule matches only POST and PATCH, and a backend that responds with 500 or 502 may already have processed the request. Remove codes, unless the backend detects duplicate requests.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-repeats-effects', object(value))).toEqual(expected);
  });
});
