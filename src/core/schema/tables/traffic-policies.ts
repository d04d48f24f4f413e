import { between, experimental } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { integer, object, string } from '../node.ts';
import { duration, durationBounds } from './common.ts';
import { distinctTargetRefs, policyStatus } from './policy.ts';
import { sessionPersistence } from './session-persistence.ts';
import { experimentalTable, gatewayTable, stored } from './table.ts';

// The distribution of requests among the endpoints of a backend: BackendLBPolicy and its successor.

const required = { required: ['targetRefs'] } as const;

export const backendLbPolicy = gatewayTable({
  kind: 'BackendLBPolicy',
  plural: 'backendlbpolicies',
  namespaced: true,
  versions: [between({ experimental: '1.1' }, '1.3', stored('v1alpha2'))],
  body: object(
    { spec: object({ sessionPersistence, targetRefs: distinctTargetRefs }, required), status: policyStatus },
    { required: ['spec'] },
  ),
  instead: experimental('1.3', 'XBackendTrafficPolicy of gateway.networking.x-k8s.io/v1alpha1'),
});

/** The limit of retries relative to regular requests (GEP-3388). */
const retryConstraint = object({
  budget: object(
    {
      interval: string({ ...durationBounds, default: fieldDefaults.retryBudget.interval }),
      percent: integer({ default: fieldDefaults.retryBudget.percent, minimum: 0, maximum: 100 }),
    },
    { default: fieldDefaults.retryBudget },
  ),
  minRetryRate: object(
    { count: integer({ minimum: 1, maximum: 1_000_000 }), interval: duration },
    { default: fieldDefaults.minRetryRate },
  ),
});

export const xBackendTrafficPolicy = experimentalTable({
  kind: 'XBackendTrafficPolicy',
  plural: 'xbackendtrafficpolicies',
  namespaced: true,
  versions: [experimental('1.3', stored('v1alpha1'))],
  body: object(
    {
      spec: object({ retryConstraint, sessionPersistence, targetRefs: distinctTargetRefs }, required),
      status: policyStatus,
    },
    { required: ['spec'] },
  ),
});
