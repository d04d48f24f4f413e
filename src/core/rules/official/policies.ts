import { available, experimental, since, until } from '../../schema/index.ts';
import { oneAuthority, oneAuthorityAlpha, oneAuthorityField } from '../tls/backend-authority.ts';
import { fractionUpToOne } from '../filters/fraction-above-one.ts';
import { selectorKeys } from '../objects/qualified-key.ts';
import { budgetInterval, rateInterval } from '../timing/retry-interval.ts';
import { targetsDistinct } from '../policies/target-repeated.ts';
import { hasTracing } from '../policies/tracing-missing.ts';
import {
  attributeMember,
  backendValidationMember,
  clientCertificateMember,
  hostnameBackendMember,
  parentBasedSamplingMember,
  selectorBackendMember,
  subjectAltNameMember,
  tracingMember,
} from '../objects/union-member.ts';
import { portHasNoName } from '../backends/backend-port-name.ts';
import { protocolSuitsTls } from '../backends/backend-protocol-tls.ts';
import { hostnameIsExternal } from '../hostnames/external-hostname-internal.ts';
import { backendRef, sessionPersistence } from './shared.ts';
import { below, fitting, merge, type SiteGroup } from './sites.ts';

/** The validation of a backend's certificate. */
const validation = {
  '': [available({ until: { experimental: '1.7' } }, oneAuthority), experimental('1.7', oneAuthorityField)],
  'subjectAltNames[]': [subjectAltNameMember],
};

export const backendTlsPolicySites: readonly SiteGroup[] = [
  {
    sites: fitting(
      'BackendTLSPolicy',
      merge(below(['spec.validation'], validation), {
        'spec.targetRefs': [since({ experimental: '1.3', standard: '1.4' }, targetsDistinct)],
      }),
    ),
  },
  { versions: ['v1alpha2'], sites: fitting('BackendTLSPolicy', { 'spec.tls': [oneAuthorityAlpha] }) },
];

export const backendLbPolicySites: readonly SiteGroup[] = [
  { sites: fitting('BackendLBPolicy', below(['spec.sessionPersistence'], sessionPersistence)) },
];

export const xBackendTrafficPolicySites: readonly SiteGroup[] = [
  {
    sites: fitting(
      'XBackendTrafficPolicy',
      merge(below(['spec.sessionPersistence'], sessionPersistence), {
        'spec.retryConstraint.budget.interval': [budgetInterval],
        'spec.retryConstraint.minRetryRate.interval': [rateInterval],
      }),
    ),
  },
];

export const xBackendSites: readonly SiteGroup[] = [
  {
    sites: fitting(
      'XBackend',
      merge(below(['spec.tls.validation'], validation), below(['spec.sessionPersistence'], sessionPersistence), {
        spec: [hostnameBackendMember, since('1.7', selectorBackendMember), since('1.7', protocolSuitsTls)],
        'spec.tls': [clientCertificateMember, since('1.7', backendValidationMember)],
        'spec.endpointSelector.matchLabels': [selectorKeys],
        'spec.externalHostname.hostname': [hostnameIsExternal],
        'spec.port.name': [until('1.7', portHasNoName)],
      }),
    ),
  },
];

export const xTelemetryPolicySites: readonly SiteGroup[] = [
  {
    sites: fitting(
      'XTelemetryPolicy',
      merge(below(['spec.tracing.provider.backendRef'], backendRef), {
        spec: [hasTracing],
        'spec.tracing': [tracingMember],
        'spec.tracing.samplingRate': [fractionUpToOne],
        'spec.tracing.parentBasedSampling': [parentBasedSamplingMember],
        'spec.tracing.parentBasedSampling.samplingRate': [fractionUpToOne],
        'spec.tracing.attributes[]': [attributeMember],
      }),
    ),
  },
];
