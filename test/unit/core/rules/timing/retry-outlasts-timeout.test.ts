import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-outlasts-timeout', () => {
  test.each<[object]>([
    [{ timeouts: { request: '30s' }, retry: { attempts: 2 } }],
    [{ retry: { attempts: 3 } }],
    [{ timeouts: { request: '0s' }, retry: { attempts: 100 } }],
  ])('%j is fine', (value) => {
    expect(remarks('retry-outlasts-timeout', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { retry: { attempts: 1000000 } },
      [
        'spec.rules[0].retry.attempts',
        'Too many attempts: 1000000 retries multiply the load of a failing backend. Use a small number such as 2.',
      ],
    ],
    [
      { timeouts: { request: '10s' }, retry: { attempts: 5, backoff: '5s' } },
      [
        'spec.rules[0].retry.attempts',
        'Too many attempts: 5 retries with backoff 5s wait for 25s in total, but the request ends after 10s. Use fewer attempts, a shorter backoff, or a longer timeouts.request.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-outlasts-timeout', object(value))).toEqual(expected);
  });
});
