import { backendReferenceRules } from './backend-references.ts';
import { backendTlsPolicyRules } from './backend-tls-policies.ts';
import { backendRequestTimeout } from './backend-request-timeout.ts';
import { controlCharacterInValue } from './control-character-in-value.ts';
import { durationForm } from './duration-form.ts';
import { featureWithoutEffect } from './feature-without-effect.ts';
import { filterRepeated } from './filter-repeated.ts';
import { filterUnion } from './filter-union.ts';
import { grpcMethodMatch } from './grpc-method-match.ts';
import { gatewayTlsRules } from './gateway-tls.ts';
import { headerActedOnTwice } from './header-acted-on-twice.ts';
import { headerNameNotToken } from './header-name-not-token.ts';
import { httpsWithoutTls } from './https-without-tls.ts';
import { listenerCertificateMissing } from './listener-certificate-missing.ts';
import { listenerProtocolFields } from './listener-protocol-fields.ts';
import { listenerSetRules } from './listener-set-parent.ts';
import { listenerRules } from './listener-validity.ts';
import { namespaceSelector } from './namespace-selector.ts';
import { gatewayClassParameters, gatewayParametersInvalid } from './parameters.ts';
import { pathSyntax } from './path-syntax.ts';
import { prefixReplacement } from './prefix-replacement.ts';
import { redirectWithBackends } from './redirect-with-backends.ts';
import { redirectWithRewrite } from './redirect-with-rewrite.ts';
import { regexNotRe2 } from './regex-not-re2.ts';
import { regexTotalCost } from './regex-total-cost.ts';
import { attachmentRules } from './route-attachment.ts';
import type { Rule } from './rule.ts';
import { servicePortMissing } from './service-port-missing.ts';
import { unlistedFeature } from './unlisted-feature.ts';
import { unreadableField } from './unreadable-field.ts';
import { unsupportedFeature } from './unsupported-feature.ts';

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
