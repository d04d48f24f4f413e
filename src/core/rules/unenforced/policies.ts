import { between, experimental, since } from '../../schema/index.ts';
import { backendKindMisspelt } from '../backends/backend-kind-misspelt.ts';
import { backendHostnameDiffers } from '../tls/backend-hostname-differs.ts';
import { backendValidationMissing } from '../tls/backend-validation-missing.ts';
import { externalBackendWithoutTls } from '../tls/external-backend-without-tls.ts';
import { policySeveralTargets } from '../tls/policy-several-targets.ts';
import { policyTargetKind } from '../tls/policy-target-kind.ts';
import { externalHostnameIsIp } from '../hostnames/external-hostname-is-ip.ts';
import { externalHostnameLocal } from '../hostnames/external-hostname-local.ts';
import { sentHeadersDistinct } from '../headers/header-name-repeated.ts';
import { hostnameLabelTooLong } from '../hostnames/hostname-label-too-long.ts';
import { optionKey } from '../listeners/option-key.ts';
import { below, fitting, merge, type SiteTables } from '../official/sites.ts';
import { sessionPolicyDeprecated } from '../sessions/session-policy-deprecated.ts';
import { sessionWithoutHttp } from '../sessions/session-without-http.ts';
import { targetsDistinct } from '../policies/target-repeated.ts';
import { telemetryAttributeKey } from '../policies/telemetry-attribute-key.ts';
import { telemetryManyAttributes } from '../policies/telemetry-many-attributes.ts';
import { telemetrySecret } from '../policies/telemetry-secret.ts';
import { telemetryTargetKind } from '../policies/telemetry-target-kind.ts';
import { tracingWithoutEffect } from '../policies/tracing-without-effect.ts';
import { versionSuperseded } from '../objects/version-superseded.ts';
import { durationNotStandard } from '../timing/duration-not-standard.ts';
import { wherever } from './meanings.ts';
import { sessions, validation } from './shared.ts';

const backendTlsPolicy = merge(below(['spec.validation'], validation), {
  'spec.targetRefs': [policySeveralTargets],
  'spec.targetRefs[]': [policyTargetKind],
  'spec.options': [optionKey],
});

const xBackend = merge(below(['spec.tls.validation'], validation), below(['spec.sessionPersistence'], sessions), {
  spec: [externalBackendWithoutTls, backendHostnameDiffers, sessionWithoutHttp],
  'spec.externalHostname.hostname': [externalHostnameIsIp, externalHostnameLocal, hostnameLabelTooLong],
  'spec.tls': [between({ experimental: '1.6' }, '1.7', backendValidationMissing)],
});

const xTelemetryPolicy = {
  'spec.targetRefs': [targetsDistinct],
  'spec.targetRefs[]': [telemetryTargetKind],
  'spec.tracing': [telemetrySecret, tracingWithoutEffect],
  'spec.tracing.attributes': [telemetryManyAttributes],
  'spec.tracing.attributes[]': [telemetryAttributeKey],
  'spec.tracing.provider.backendRef': [backendKindMisspelt],
  'spec.tracing.provider.headers': [sentHeadersDistinct],
};

export const unenforcedPolicyTables: SiteTables = {
  BackendTLSPolicy: [
    { sites: fitting('BackendTLSPolicy', backendTlsPolicy) },
    { versions: ['v1alpha3'], sites: fitting('BackendTLSPolicy', { apiVersion: [since('1.4', versionSuperseded)] }) },
  ],
  BackendLBPolicy: [
    {
      sites: fitting(
        'BackendLBPolicy',
        merge(
          below(['spec.sessionPersistence'], sessions),
          wherever('BackendLBPolicy', ['duration'], durationNotStandard),
        ),
      ),
    },
  ],
  XBackendTrafficPolicy: [
    {
      sites: fitting(
        'XBackendTrafficPolicy',
        merge(
          below(['spec.sessionPersistence'], merge(sessions, { '': [experimental('1.7', sessionPolicyDeprecated)] })),
          { 'spec.targetRefs[]': [policyTargetKind] },
          wherever('XBackendTrafficPolicy', ['duration'], durationNotStandard),
        ),
      ),
    },
  ],
  XBackend: [{ sites: fitting('XBackend', merge(xBackend, wherever('XBackend', ['duration'], durationNotStandard))) }],
  XTelemetryPolicy: [{ sites: fitting('XTelemetryPolicy', xTelemetryPolicy) }],
};
