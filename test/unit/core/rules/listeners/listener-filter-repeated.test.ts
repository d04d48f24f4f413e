import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (requests: readonly object[]): unknown => soundGateway({ filters: { requests } });

describe('listener-filter-repeated', () => {
  test.each<[readonly object[]]>([
    [[{ type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'auth', port: 80 } } }]],
  ])('%j is fine', (value) => {
    expect(remarks('listener-filter-repeated', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [
      [
        { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'auth', port: 80 } } },
        { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'users', port: 80 } } },
      ],
      [
        'spec.listeners[0].filters.requests[1]',
        'Duplicate ExternalAuth filter: requests[0] has the same type, so two servers must authorize each request. Remove one of them, unless both must agree.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('listener-filter-repeated', object(value))).toEqual(expected);
  });
});
