import { backendKindMisspelt, backendOfOtherNamespace } from '../backend-kinds.ts';
import {
  altNameUri, altNameWithoutHostname, backendHostnameDiffers, backendSeveralAuthorities, backendValidationMissing, externalBackendWithoutTls,
  policySeveralTargets, policyTargetKind,
} from '../backend-tls-details.ts';
import { corsOriginPort, corsValueRedundant, corsWildcardWithCredentials } from '../cors-values.ts';
import { externalHostnameIsIp, externalHostnameLocal } from '../external-hostnames.ts';
import { extensionReference, filterWithoutEffect } from '../filter-contents.ts';
import { filterOrder } from '../filter-order.ts';
import { forwardBodySize } from '../forward-body-size.ts';
import {
  addressAskedTwice, addressSpeltTwice, classParametersNamespace, clientAuthorityUncommon, clientValidationWithoutListener, infrastructureLabelReserved,
  routabilityUnusual, trustBundleNamespaceIgnored,
} from '../gateway-details.ts';
import { grantGroup, grantOfEverything, grantRepeated, grantWithinNamespace } from '../grants.ts';
import { grpcMethodUncommon } from '../grpc-method-match.ts';
import { headerNameRepeated } from '../header-name-repeated.ts';
import { hostnameCovered, hostnameIsIp, hostnameLabelTooLong, hostnameRepeated } from '../hostnames.ts';
import {
  certificatesWithoutUse, listenerFilterRepeated, listenerFiltersEmpty, optionKey, routeKindRepeated, selectorWithoutEffect, severalCertificates,
  tlsModesMixed,
} from '../listener-details.ts';
import { gatewayClassName, gatewayName } from '../names.ts';
import { parentGroup, parentRepeated, parentSectionShared, routeWithoutParents } from '../parents.ts';
import { regexNotPortable } from '../regex-not-portable.ts';
import { regexPathWithoutSlash } from '../regex-path-without-slash.ts';
import {
  backendTimeoutUnlimited, retryBackoff, retryCodeUnusual, retryOutlastsTimeout, retryRepeatsEffects, retrySwitchedOff, retryWithoutBackend,
} from '../retries.ts';
import {
  backendRepeated, matchRepeated, mirrorToBackend, redirectPortOfOtherScheme, redirectWithoutChange, ruleWithoutBackend, weightsAllZero,
} from '../rule-contents.ts';
import { metadataSyntax } from '../metadata-syntax.ts';
import { ruleNameRepeated } from '../rule-name-repeated.ts';
import type { RuleFrame } from '../rule.ts';
import {
  cookiePathRelative, cookiePathUnsafe, sessionEndsAtOnce, sessionNameRepeated, sessionNameReserved, sessionPolicyDeprecated, sessionWithoutHttp,
} from '../sessions.ts';
import { telemetryAttributeKey, telemetryManyAttributes, telemetrySecret, telemetryTargetKind, tracingWithoutEffect } from '../telemetry.ts';
import { ruleBeyondFirst, serverNamesMissing, versionSuperseded } from '../versions.ts';
import { durationNotStandard, headerValueCharset, pathEncoding, pathReplacementSyntax } from '../written-values.ts';

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
