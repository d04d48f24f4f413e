import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('backend-timeout-unlimited', () => {
  test.each<[object]>([
    [{ timeouts: { request: '10s' } }],
    [{ timeouts: { request: '0s', backendRequest: '0s' } }],
    [{ timeouts: { request: '10s', backendRequest: '2s' } }],
  ])('%j is fine', (value) => {
    expect(remarks('backend-timeout-unlimited', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { timeouts: { request: '10s', backendRequest: '0s' } },
      [
        'spec.rules[0].timeouts.backendRequest',
        'backendRequest: 0s disables the timeout, but the whole request still ends after 10s. Remove backendRequest, or set a timeout for one attempt.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('backend-timeout-unlimited', object(value))).toEqual(expected);
  });
});
