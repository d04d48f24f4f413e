import { describe, expect, test } from '@jest/globals';
import { backendRequestTimeout } from '../../../../../src/core/rules/timing/backend-request-timeout.ts';
import { consequences, judge, refusals, refusingBundles, routeWith } from '../../../../support/rules.ts';

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
    expect(judge(backendRequestTimeout, route)).toEqual([
      [
        'spec.rules[1].timeouts.backendRequest',
        `Invalid backendRequest ${backendRequest}: must not be longer than request (${request}). Use backendRequest: ${request} or less, or a longer request.`,
      ],
    ]);
    expect(consequences(backendRequestTimeout, route)).toEqual(['Accepted UnsupportedValue rule']);
  });
});

describe('bundles on timeouts', () => {
  test('the field is older in the experimental channel', () => {
    expect(
      refusingBundles('backend-request-timeout', routeWith({ timeouts: { request: '1s', backendRequest: '1001ms' } })),
    ).toEqual(['standard 1.2–1.7', 'experimental 1.0–1.7']);
  });

  test.each([
    ['1s', '1000ms'],
    ['0s', '1h'],
    ['0h0m', '1h'],
    ['1m', '60s'],
  ])('request %s takes backendRequest %s', (request, backendRequest) => {
    expect(refusals('backend-request-timeout', routeWith({ timeouts: { request, backendRequest } }))).toEqual([]);
  });
});
