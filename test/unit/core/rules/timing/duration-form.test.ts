import { describe, expect, test } from '@jest/globals';
import { durationForm } from '../../../../../src/core/rules/timing/duration-form.ts';
import { consequences, gatewayWith, judge, objectOf, routeWith } from '../../../../support/rules.ts';

describe('duration-form', () => {
  test.each(['0s', '10s', '1h30m', '30m1h', '99999h'])('%s is fine', (request) => {
    expect(judge(durationForm, routeWith({ timeouts: { request } }))).toEqual([]);
  });

  test.each([
    [
      '10',
      'Invalid duration "10": the number "10" has no unit. Use h, m, s or ms after it, for example 10s for seconds.',
    ],
    ['1.5h', 'Invalid duration "1.5h": fractions are not allowed. Use "1h30m".'],
    ['1d', 'Invalid duration "1d": the unit "d" is larger than an hour. Use "24h".'],
    ['', 'Invalid duration "": it is empty. Use a number and a unit, for example 10s, or 0s for zero.'],
    ['5s\n', 'Invalid duration "5s\\n": it contains a line break. Use "5s".'],
  ])('%j', (request, message) => {
    const route = routeWith({ timeouts: { request } });
    expect(judge(durationForm, route)).toEqual([['spec.rules[0].timeouts.request', message]]);
    expect(consequences(durationForm, route)).toEqual(['Accepted UnsupportedValue rule']);
  });

  test('judges durations wherever the schema has them', () => {
    const rule = {
      timeouts: { request: '1', backendRequest: '2' },
      retry: { backoff: '3' },
      sessionPersistence: { absoluteTimeout: '4' },
    };
    expect(
      judge(durationForm, routeWith({}, rule))
        .map(([path]) => path)
        .toSorted(),
    ).toEqual([
      'spec.rules[1].retry.backoff',
      'spec.rules[1].sessionPersistence.absoluteTimeout',
      'spec.rules[1].timeouts.backendRequest',
      'spec.rules[1].timeouts.request',
    ]);
  });

  test.each([
    ['XBackendTrafficPolicy', {}],
    ['XBackend', { type: 'EndpointSelector', port: { number: 80 } }],
  ])('a session of the kind %s', (kind, spec) => {
    const object = objectOf(kind, 'v1alpha1', { ...spec, sessionPersistence: { absoluteTimeout: '1d' } });
    expect(judge(durationForm, object)).toEqual([
      [
        'spec.sessionPersistence.absoluteTimeout',
        'Invalid duration "1d": the unit "d" is larger than an hour. Use "24h".',
      ],
    ]);
    expect(consequences(durationForm, object)).toEqual(['Accepted Invalid object']);
  });

  test('leaves other types and kinds alone', () => {
    expect(judge(durationForm, routeWith({ timeouts: { request: 10 } }))).toEqual([]);
    expect(judge(durationForm, gatewayWith())).toEqual([]);
  });
});
