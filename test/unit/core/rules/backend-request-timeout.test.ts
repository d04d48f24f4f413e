import { describe, expect, test } from '@jest/globals';
import { backendRequestTimeout } from '../../../../src/core/rules/backend-request-timeout.ts';
import { consequences, judge, routeWith } from '../../../support/rules.ts';

describe('backend-request-timeout', () => {
  test.each([
    ['10s', '10s'],
    ['10s', '9999ms'],
    ['0s', '1h'],
    ['0h', '1h'],
    ['10s', '0s'],
    ['1m', '60s'],
    ['10s', undefined],
    [undefined, '10s'],
    ['10', '20s'],
    ['10s', 'x'],
  ])('request %s, backendRequest %s is fine', (request, backendRequest) => {
    expect(judge(backendRequestTimeout, routeWith({ timeouts: { request, backendRequest } }))).toEqual([]);
  });

  test.each([
    ['10s', '20s'],
    ['1m', '61s'],
    ['999ms', '1s'],
  ])('request %s, backendRequest %s', (request, backendRequest) => {
    const route = routeWith({}, { timeouts: { request, backendRequest } });
    expect(judge(backendRequestTimeout, route)).toEqual([[
      'spec.rules[1].timeouts.backendRequest',
      `backendRequest is ${backendRequest}, but the whole request ends after ${request}. Write backendRequest: ${request} or less, or a longer request.`,
    ]]);
    expect(consequences(backendRequestTimeout, route)).toEqual(['Accepted UnsupportedValue rule']);
  });
});
