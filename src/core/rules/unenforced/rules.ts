import { backendKindMisspelt, backendOfOtherNamespace } from '../backends/backend-kinds.ts';
import {
  altNameUri, altNameWithoutHostname, backendHostnameDiffers, backendSeveralAuthorities, backendValidationMissing, externalBackendWithoutTls,
  policySeveralTargets, policyTargetKind,
} from '../tls/backend-tls-details.ts';
import { corsOriginPort, corsValueRedundant, corsWildcardWithCredentials } from '../filters/cors-values.ts';
import { externalHostnameIsIp, externalHostnameLocal } from '../hostnames/external-hostnames.ts';
import { extensionReference, filterWithoutEffect } from '../filters/filter-contents.ts';
import { filterOrder } from '../filters/filter-order.ts';
import { forwardBodySize } from '../filters/forward-body-size.ts';
import {
  addressAskedTwice, addressSpeltTwice, classParametersNamespace, clientAuthorityUncommon, clientValidationWithoutListener, infrastructureLabelReserved,
  routabilityUnusual, trustBundleNamespaceIgnored,
} from '../gateways/gateway-details.ts';
import { grantGroup, grantOfEverything, grantRepeated, grantWithinNamespace } from '../references/grants.ts';
import { grpcMethodUncommon } from '../matches/grpc-method-match.ts';
import { headerNameRepeated } from '../headers/header-name-repeated.ts';
import { hostnameCovered, hostnameIsIp, hostnameLabelTooLong, hostnameRepeated } from '../hostnames/hostnames.ts';
import {
  certificatesWithoutUse, listenerFilterRepeated, listenerFiltersEmpty, optionKey, routeKindRepeated, selectorWithoutEffect, severalCertificates,
  tlsModesMixed,
} from '../listeners/listener-details.ts';
import { gatewayClassName, gatewayName } from '../gateways/names.ts';
import { parentGroup, parentRepeated, parentSectionShared, routeWithoutParents } from '../parents/parents.ts';
import { regexNotPortable } from '../matches/regex-not-portable.ts';
import { regexPathWithoutSlash } from '../matches/regex-path-without-slash.ts';
import {
  backendTimeoutUnlimited, retryBackoff, retryCodeUnusual, retryOutlastsTimeout, retryRepeatsEffects, retrySwitchedOff, retryWithoutBackend,
} from '../timing/retries.ts';
import {
  backendRepeated, matchRepeated, mirrorToBackend, redirectPortOfOtherScheme, redirectWithoutChange, ruleWithoutBackend, weightsAllZero,
} from '../routes/rule-contents.ts';
import { metadataSyntax } from '../objects/metadata-syntax.ts';
import { ruleNameRepeated } from '../routes/rule-name-repeated.ts';
import type { RuleFrame } from '../engine/rule.ts';
import {
  cookiePathRelative, cookiePathUnsafe, sessionEndsAtOnce, sessionNameRepeated, sessionNameReserved, sessionPolicyDeprecated, sessionWithoutHttp,
} from '../sessions/sessions.ts';
import { telemetryAttributeKey, telemetryManyAttributes, telemetrySecret, telemetryTargetKind, tracingWithoutEffect } from '../policies/telemetry.ts';
import { ruleBeyondFirst, serverNamesMissing, versionSuperseded } from '../objects/versions.ts';
import { durationNotStandard, headerValueCharset, pathEncoding, pathReplacementSyntax } from '../routes/written-values.ts';

/** The rules of which the tables beside this say where they look, as documents list them. */
export const unenforcedRules: readonly RuleFrame[] = [
  metadataSyntax,
  parentRepeated, parentSectionShared, parentGroup, routeWithoutParents,
  hostnameIsIp, hostnameLabelTooLong, hostnameRepeated, hostnameCovered,
  ruleNameRepeated, matchRepeated, ruleWithoutBackend, weightsAllZero, backendRepeated, backendKindMisspelt, backendOfOtherNamespace,
  headerNameRepeated, headerValueCharset, pathEncoding, regexNotPortable, regexPathWithoutSlash, grpcMethodUncommon, durationNotStandard,
  filterWithoutEffect, filterOrder, extensionReference, mirrorToBackend, pathReplacementSyntax, redirectWithoutChange, redirectPortOfOtherScheme,
  corsOriginPort, corsValueRedundant, corsWildcardWithCredentials, forwardBodySize,
  backendTimeoutUnlimited, retryOutlastsTimeout, retrySwitchedOff, retryWithoutBackend, retryRepeatsEffects, retryCodeUnusual, retryBackoff,
  sessionNameRepeated, sessionNameReserved, sessionEndsAtOnce, cookiePathUnsafe, cookiePathRelative, sessionPolicyDeprecated, sessionWithoutHttp,
  gatewayName, gatewayClassName, classParametersNamespace, infrastructureLabelReserved,
  tlsModesMixed, certificatesWithoutUse, severalCertificates, optionKey, routeKindRepeated, selectorWithoutEffect,
  listenerFiltersEmpty, listenerFilterRepeated, clientValidationWithoutListener, clientAuthorityUncommon, trustBundleNamespaceIgnored,
  addressSpeltTwice, addressAskedTwice, routabilityUnusual,
  grantGroup, grantWithinNamespace, grantRepeated, grantOfEverything,
  policySeveralTargets, policyTargetKind, backendSeveralAuthorities, altNameWithoutHostname, altNameUri,
  externalHostnameIsIp, externalHostnameLocal, externalBackendWithoutTls, backendValidationMissing, backendHostnameDiffers,
  telemetryTargetKind, telemetryAttributeKey, telemetrySecret, telemetryManyAttributes, tracingWithoutEffect,
  versionSuperseded, ruleBeyondFirst, serverNamesMissing,
];
