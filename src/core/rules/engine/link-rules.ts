import { backendReferenceRules } from '../backends/backend-references.ts';
import { backendTlsPolicyRules } from '../tls/backend-tls-policies.ts';
import { backendRequestTimeout } from '../timing/backend-request-timeout.ts';
import { controlCharacterInValue } from '../headers/control-character-in-value.ts';
import { durationForm } from '../timing/duration-form.ts';
import { featureWithoutEffect } from '../support/feature-without-effect.ts';
import { filterRepeated } from '../filters/filter-repeated.ts';
import { filterUnion } from '../filters/filter-union.ts';
import { grpcMethodMatch } from '../matches/grpc-method-match.ts';
import { gatewayTlsRules } from '../tls/gateway-tls.ts';
import { headerActedOnTwice } from '../headers/header-acted-on-twice.ts';
import { headerNameNotToken } from '../headers/header-name-not-token.ts';
import { httpsWithoutTls } from '../listeners/https-without-tls.ts';
import { listenerCertificateMissing } from '../listeners/listener-certificate-missing.ts';
import { listenerProtocolFields } from '../listeners/listener-protocol-fields.ts';
import { listenerSetRules } from '../listeners/listener-set-parent.ts';
import { listenerRules } from '../listeners/listener-validity.ts';
import { namespaceSelector } from '../listeners/namespace-selector.ts';
import { gatewayClassParameters, gatewayParametersInvalid } from '../gateways/parameters.ts';
import { pathSyntax } from '../matches/path-syntax.ts';
import { prefixReplacement } from '../filters/prefix-replacement.ts';
import { redirectWithBackends } from '../filters/redirect-with-backends.ts';
import { redirectWithRewrite } from '../filters/redirect-with-rewrite.ts';
import { regexNotRe2 } from '../matches/regex-not-re2.ts';
import { regexTotalCost } from '../matches/regex-total-cost.ts';
import { attachmentRules } from '../parents/route-attachment.ts';
import type { Rule } from './rule.ts';
import { servicePortMissing } from '../backends/service-port-missing.ts';
import { unlistedFeature } from '../support/unlisted-feature.ts';
import { unreadableField } from '../objects/unreadable-field.ts';
import { unsupportedFeature } from '../support/unsupported-feature.ts';

/** What is wrong within one object, whatever other objects exist: one file each, or few. */
export const defensiveRules: readonly Rule[] = [
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
];

/**
 * Every rule by which is told what of an object works: its findings come in this order, and status shows the first that concerns
 * a condition.
 */
export const linkRules: readonly Rule[] = [
  unreadableField,
  ...defensiveRules,
  gatewayClassParameters,
  gatewayParametersInvalid,
  unsupportedFeature,
  featureWithoutEffect,
  ...listenerSetRules,
  ...listenerRules,
  ...gatewayTlsRules,
  ...attachmentRules,
  regexTotalCost,
  ...backendReferenceRules,
  ...backendTlsPolicyRules,
  unlistedFeature,
];
