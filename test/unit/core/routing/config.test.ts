import { describe, expect, test } from '@jest/globals';
import {
  endpointsFor,
  routeFor,
  sessionsOf,
  type RetryBudget,
  type Session,
} from '../../../../src/core/routing/config.ts';
import { endpointsConfig } from '../../../support/config.ts';
import { backendOf, routeTo } from '../../../support/proxy.ts';

const budget: RetryBudget = { backend: 'shop/app', percent: 20, interval: 1, minimum: { count: 1, interval: 1 } };
const session: Session = {
  type: 'cookie',
  identity: 'XBackendTrafficPolicy/shop/app',
  rule: 'HTTPRoute/shop/web 0',
  name: 'app',
  path: '/',
  permanent: false,
};
const exceptFor = ['infra/late'];

describe('a policy without room in its status for a Gateway', () => {
  test('limits no retries of this Gateway', () => {
    const endpoints = { ...endpointsConfig('app', 80), retryBudget: { ...budget, exceptFor } };
    expect(endpointsFor('infra/late', endpoints)).toEqual(endpointsConfig('app', 80));
    expect(endpointsFor('infra/other', endpoints)).toEqual({ ...endpointsConfig('app', 80), retryBudget: budget });
  });

  test('keeps no clients of this Gateway at endpoints', () => {
    const plain = backendOf('plain');
    const route = routeTo('app', { backends: [backendOf('app', { session: { ...session, exceptFor } }), plain] });
    const backendsFor = (gateway: string) => routeFor(gateway, route).rules[0]?.backends;
    expect(backendsFor('infra/late')).toEqual([backendOf('app'), plain]);
    expect(backendsFor('infra/other')).toEqual([backendOf('app', { session }), plain]);
  });
});

test('configuration without such exceptions stays the same object', () => {
  const endpoints = { ...endpointsConfig('app', 80), retryBudget: budget };
  expect(endpointsFor('infra/gateway', endpoints)).toBe(endpoints);
  const route = routeTo('app', { backends: [backendOf('app', { session })] });
  expect(routeFor('infra/gateway', route)).toBe(route);
  expect(sessionsOf(route)).toEqual([session]);
});
