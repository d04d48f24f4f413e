import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-without-backend', () => {
  test.each<[object]>([
    [{ retry: { attempts: 2 } }],
    [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }], backendRefs: [] }],
  ])('%j is fine', (value) => {
    expect(remarks('retry-without-backend', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }],
        backendRefs: [],
        retry: { attempts: 2 },
      },
      [
        'spec.rules[0].retry',
        'retry is ignored because the rule forwards no requests to a backend. Remove retry, or set backendRefs.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-without-backend', object(value))).toEqual(expected);
  });
});
