import { addressHostname, addressRepeated, addressRoutability } from './addresses.ts';
import { backendAuthority } from './backend-authority.ts';
import { backendReferenceRules } from './backend-references.ts';
import { backendTlsPolicyRules } from './backend-tls-policies.ts';
import { backendRequestTimeout } from './backend-request-timeout.ts';
import { controlCharacterInValue } from './control-character-in-value.ts';
import { controllerNameChanged } from './controller-name-changed.ts';
import { corsWildcard } from './cors-wildcard.ts';
import { durationForm } from './duration-form.ts';
import { fieldPruned } from './field-pruned.ts';
import { featureWithoutEffect } from './feature-without-effect.ts';
import { filterRepeated } from './filter-repeated.ts';
import { filterUnion } from './filter-union.ts';
import { fractionAboveOne, mirrorShareRepeated } from './fractions.ts';
import { grpcMethodMatch } from './grpc-method-match.ts';
import { gatewayTlsRules } from './gateway-tls.ts';
import { headerActedOnTwice } from './header-acted-on-twice.ts';
import { headerNameNotToken } from './header-name-not-token.ts';
import { httpsWithoutTls } from './https-without-tls.ts';
import { listenerCertificateMissing } from './listener-certificate-missing.ts';
import { listenerProtocolFields } from './listener-protocol-fields.ts';
import { listenerRepeated } from './listener-repeated.ts';
import { listenerSetRules } from './listener-set-parent.ts';
import { listenerRules } from './listener-validity.ts';
import { namespaceSelector } from './namespace-selector.ts';
import { gatewayClassParameters, gatewayParametersInvalid } from './parameters.ts';
import { pathSyntax } from './path-syntax.ts';
import { prefixReplacement } from './prefix-replacement.ts';
import { qualifiedKey } from './qualified-key.ts';
import { redirectWithBackends } from './redirect-with-backends.ts';
import { redirectWithRewrite } from './redirect-with-rewrite.ts';
import { refusedLater } from './refused-later.ts';
import { regexNotRe2 } from './regex-not-re2.ts';
import { retryInterval } from './retry-interval.ts';
import { attachmentRules } from './route-attachment.ts';
import type { Rule, RuleFrame } from './rule.ts';
import { serverNameIsIp } from './server-name-is-ip.ts';
import { servicePortMissing } from './service-port-missing.ts';
import { sessionWithoutEnd } from './session-without-end.ts';
import { targetRepeated } from './target-repeated.ts';
import { tooManyMatches } from './too-many-matches.ts';
import { tracingMissing } from './tracing-missing.ts';
import { trustBundleNamespace } from './trust-bundle-namespace.ts';
import { unionMember } from './union-member.ts';
import { unenforcedRules } from './unenforced/rules.ts';
import { unreadableField } from './unreadable-field.ts';
import { unsupportedFeature } from './unsupported-feature.ts';
import { backendPortForbidden, backendPortName, backendProtocolTls, externalHostnameInternal } from './x-backend.ts';

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

/** All rules. An object's findings come in this order, and status shows the first that concerns a condition. */
export const registry: readonly Rule[] = [
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
  ...backendReferenceRules,
  ...backendTlsPolicyRules,
];

/**
 * Rules that some bundle's CRDs enforce and that no other rule of ours has taken up for all bundles. What they forbid is
 * found for one bundle at a time (official/judge.ts).
 */
export const specificationRules: readonly RuleFrame[] = [
  tooManyMatches,
  serverNameIsIp,
  corsWildcard,
  mirrorShareRepeated,
  fractionAboveOne,
  unionMember,
  sessionWithoutEnd,
  backendPortForbidden,
  listenerRepeated,
  trustBundleNamespace,
  addressRepeated,
  addressHostname,
  addressRoutability,
  qualifiedKey,
  targetRepeated,
  backendAuthority,
  backendProtocolTls,
  externalHostnameInternal,
  backendPortName,
  retryInterval,
  tracingMissing,
];

/**
 * Rules that no bundle enforces, or not every one, about values of one object. Status and traffic do not react to what they
 * find, so only admission asks (unenforced/judge.ts).
 */
export { unenforcedRules };

/** Rules about a change, whatever the bundle; found by comparing with the old object. */
export const changeRules: readonly RuleFrame[] = [controllerNameChanged];

/** Rules about what was written with an object, beside the object itself. */
export const writeRules: readonly RuleFrame[] = [fieldPruned];

/** Rules about what an upgrade of the CRDs would do to an object. */
export const upgradeRules: readonly RuleFrame[] = [refusedLater];

/** Every rule that admission may have findings of, beside the schema's. */
export const allRules: readonly RuleFrame[] = [...registry, ...specificationRules, ...unenforcedRules, ...changeRules, ...writeRules, ...upgradeRules];
