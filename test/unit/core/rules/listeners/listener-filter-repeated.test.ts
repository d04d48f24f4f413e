import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (requests: readonly object[]): unknown => soundGateway({ filters: { requests } });

describe('listener-filter-repeated', () => {
  test.each<[readonly object[]]>([
    [[ { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'auth', port: 80 } } } ]],
  ])('%j is fine', (value) => {
    expect(remarks('listener-filter-repeated', object(value))).toEqual([]);
  });

  test.each<[readonly object[], ...[path: string, message: string][]]>([
    [[ { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'auth', port: 80 } } }, { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'users', port: 80 } } } ], [ 'spec.listeners[0].filters.requests[1]', 'requests[0] asks a server already, so each request waits for two answers. Remove one of the two unless both have to agree.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('listener-filter-repeated', object(value))).toEqual(expected);
  });
});
