import { backendKindUnsupported } from '../backends/backend-kind-unsupported.ts';
import { backendNotFound } from '../backends/backend-not-found.ts';
import { backendNotPermitted } from '../backends/backend-not-permitted.ts';
import { backendProtocolUnsupported } from '../backends/backend-protocol-unsupported.ts';
import { backendAuthorityInvalid } from '../tls/backend-authority-invalid.ts';
import { backendAuthorityMissing } from '../tls/backend-authority-missing.ts';
import { backendPolicyConflicted } from '../tls/backend-policy-conflicted.ts';
import { backendPolicyTargetMissing } from '../tls/backend-policy-target-missing.ts';
import { backendValidationInvalid } from '../tls/backend-validation-invalid.ts';
import { xBackendInvalid } from '../backends/x-backend-invalid.ts';
import { xBackendCertificateInvalid } from '../backends/x-backend-certificate-invalid.ts';
import { xBackendUnsupported } from '../backends/x-backend-unsupported.ts';
import { backendRequestTimeout } from '../timing/backend-request-timeout.ts';
import { controlCharacterInValue } from '../headers/control-character-in-value.ts';
import { durationForm } from '../timing/duration-form.ts';
import { featureWithoutEffect } from '../support/feature-without-effect.ts';
import { filterRepeated } from '../filters/filter-repeated.ts';
import { filterUnion } from '../filters/filter-union.ts';
import { grpcMethodMatch } from '../matches/grpc-method-match.ts';
import { backendCertificateInvalid } from '../tls/backend-certificate-invalid.ts';
import { clientAuthorityInvalid } from '../tls/client-authority-invalid.ts';
import { clientAuthorityMissing } from '../tls/client-authority-missing.ts';
import { insecureClientValidation } from '../tls/insecure-client-validation.ts';
import { headerActedOnTwice } from '../headers/header-acted-on-twice.ts';
import { headerNameNotToken } from '../headers/header-name-not-token.ts';
import { httpsWithoutTls } from '../listeners/https-without-tls.ts';
import { listenerCertificateMissing } from '../listeners/listener-certificate-missing.ts';
import { listenerProtocolFields } from '../listeners/listener-protocol-fields.ts';
import { listenerSetNotAllowed } from '../listeners/listener-set-not-allowed.ts';
import { listenerSetParentNotFound } from '../listeners/listener-set-parent-not-found.ts';
import { listenerCertificateInvalid } from '../listeners/listener-certificate-invalid.ts';
import { listenerConflict } from '../listeners/listener-conflict.ts';
import { listenerProtocolUnsupported } from '../listeners/listener-protocol-unsupported.ts';
import { listenerRouteKindsInvalid } from '../listeners/listener-route-kinds-invalid.ts';
import { listenerTlsOverlap } from '../listeners/listener-tls-overlap.ts';
import { namespaceSelector } from '../listeners/namespace-selector.ts';
import { gatewayClassParameters } from '../gateways/gateway-class-parameters.ts';
import { gatewayParametersInvalid } from '../gateways/gateway-parameters.ts';
import { pathSyntax } from '../matches/path-syntax.ts';
import { prefixReplacement } from '../filters/prefix-replacement.ts';
import { redirectWithBackends } from '../filters/redirect-with-backends.ts';
import { redirectWithRewrite } from '../filters/redirect-with-rewrite.ts';
import { regexNotRe2 } from '../matches/regex-not-re2.ts';
import { regexTotalCost } from '../matches/regex-total-cost.ts';
import { profileLabelRule } from '../namespaces/profile-label.ts';
import { hostnameNotPermitted } from '../parents/hostname-not-permitted.ts';
import { pathNotPermitted } from '../matches/path-not-permitted.ts';
import { noMatchingListenerHostname } from '../parents/no-matching-listener-hostname.ts';
import { noMatchingParent } from '../parents/no-matching-parent.ts';
import { notAllowedByListeners } from '../parents/not-allowed-by-listeners.ts';
import { parentNotFound } from '../parents/parent-not-found.ts';
import { tooManyListeners } from '../parents/too-many-listeners.ts';
import type { ObjectRule } from './rule.ts';
import { servicePortMissing } from '../backends/service-port-missing.ts';
import { unlistedFeature } from '../support/unlisted-feature.ts';
import { unreadableField } from '../objects/unreadable-field.ts';
import { cookiePathUnsafe } from '../sessions/cookie-path-unsafe.ts';
import { sessionAffinityConflict } from '../sessions/session-affinity-conflict.ts';
import { sessionOverridden } from '../sessions/session-overridden.ts';
import { telemetryUnsupported } from '../policies/telemetry-unsupported.ts';
import { trafficPolicyInvalid } from '../policies/traffic-policy-invalid.ts';
import { sessionNameReserved } from '../sessions/session-name-reserved.ts';
import { unsupportedFeature } from '../support/unsupported-feature.ts';

/** Rules about one object that do not depend on other objects. */
export const defensiveRules: readonly ObjectRule[] = [
  listenerProtocolFields,
  httpsWithoutTls,
  listenerCertificateMissing,
  namespaceSelector,
  pathSyntax,
  grpcMethodMatch,
  regexNotRe2,
  headerNameNotToken,
  controlCharacterInValue,
  filterUnion,
  filterRepeated,
  headerActedOnTwice,
  redirectWithRewrite,
  redirectWithBackends,
  prefixReplacement,
  servicePortMissing,
  durationForm,
  backendRequestTimeout,
  cookiePathUnsafe,
  sessionNameReserved,
];

/** All rules that decide which parts of an object work. Findings have this order, and status shows the first one for each condition. */
export const linkRules: readonly ObjectRule[] = [
  unreadableField,
  ...defensiveRules,
  gatewayClassParameters,
  gatewayParametersInvalid,
  unsupportedFeature,
  featureWithoutEffect,
  sessionAffinityConflict,
  sessionOverridden,
  listenerSetParentNotFound,
  listenerSetNotAllowed,
  listenerConflict,
  listenerTlsOverlap,
  listenerProtocolUnsupported,
  listenerRouteKindsInvalid,
  listenerCertificateInvalid,
  clientAuthorityInvalid,
  clientAuthorityMissing,
  insecureClientValidation,
  backendCertificateInvalid,
  parentNotFound,
  noMatchingParent,
  notAllowedByListeners,
  noMatchingListenerHostname,
  tooManyListeners,
  hostnameNotPermitted,
  pathNotPermitted,
  regexTotalCost,
  backendNotFound,
  backendNotPermitted,
  backendKindUnsupported,
  backendProtocolUnsupported,
  xBackendInvalid,
  xBackendUnsupported,
  xBackendCertificateInvalid,
  backendPolicyConflicted,
  backendPolicyTargetMissing,
  backendValidationInvalid,
  trafficPolicyInvalid,
  telemetryUnsupported,
  backendAuthorityInvalid,
  backendAuthorityMissing,
  unlistedFeature,
  profileLabelRule,
];
