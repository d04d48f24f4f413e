import { between, experimental, since } from '../../schema/index.ts';
import { backendKindMisspelt } from '../backends/backend-kinds.ts';
import {
  backendHostnameDiffers, backendValidationMissing, externalBackendWithoutTls, policySeveralTargets, policyTargetKind,
} from '../tls/backend-tls-details.ts';
import { externalHostnameIsIp, externalHostnameLocal } from '../hostnames/external-hostnames.ts';
import { sentHeadersDistinct } from '../headers/header-name-repeated.ts';
import { hostnameLabelTooLong } from '../hostnames/hostnames.ts';
import { optionKey } from '../listeners/listener-details.ts';
import { below, merge, type Sites, type SiteTables } from '../official/sites.ts';
import { sessionPolicyDeprecated, sessionWithoutHttp } from '../sessions/sessions.ts';
import { targetsDistinct } from '../policies/target-repeated.ts';
import {
  telemetryAttributeKey, telemetryManyAttributes, telemetrySecret, telemetryTargetKind, tracingWithoutEffect,
} from '../policies/telemetry.ts';
import { versionSuperseded } from '../objects/versions.ts';
import { durationNotStandard } from '../routes/written-values.ts';
import { wherever } from './meanings.ts';
import { sessions, validation } from './shared.ts';

const backendTlsPolicy: Sites = merge(below(['spec.validation'], validation), {
  'spec.targetRefs': [policySeveralTargets],
  'spec.targetRefs[]': [policyTargetKind],
  'spec.options': [optionKey],
});

const xBackend: Sites = merge(below(['spec.tls.validation'], validation), below(['spec.sessionPersistence'], sessions), {
  spec: [externalBackendWithoutTls, backendHostnameDiffers, sessionWithoutHttp],
  'spec.externalHostname.hostname': [externalHostnameIsIp, externalHostnameLocal, hostnameLabelTooLong],
  'spec.tls': [between({ experimental: '1.6' }, '1.7', backendValidationMissing)],
});

const xTelemetryPolicy: Sites = {
  'spec.targetRefs': [targetsDistinct],
  'spec.targetRefs[]': [telemetryTargetKind],
  'spec.tracing': [telemetrySecret, tracingWithoutEffect],
  'spec.tracing.attributes': [telemetryManyAttributes],
  'spec.tracing.attributes[]': [telemetryAttributeKey],
  'spec.tracing.provider.backendRef': [backendKindMisspelt],
  'spec.tracing.provider.headers': [sentHeadersDistinct],
};

export const unenforcedPolicyTables: SiteTables = {
  BackendTLSPolicy: [{ sites: backendTlsPolicy }, { versions: ['v1alpha3'], sites: { apiVersion: [since('1.4', versionSuperseded)] } }],
  BackendLBPolicy: [{ sites: merge(below(['spec.sessionPersistence'], sessions), wherever('BackendLBPolicy', ['duration'], durationNotStandard)) }],
  XBackendTrafficPolicy: [{
    sites: merge(
      below(['spec.sessionPersistence'], merge(sessions, { '': [experimental('1.7', sessionPolicyDeprecated)] })),
      wherever('XBackendTrafficPolicy', ['duration'], durationNotStandard),
    ),
  }],
  XBackend: [{ sites: merge(xBackend, wherever('XBackend', ['duration'], durationNotStandard)) }],
  XTelemetryPolicy: [{ sites: xTelemetryPolicy }],
};
