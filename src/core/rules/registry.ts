import { attachmentRules } from './route-attachment.ts';
import { backendReferenceRules } from './backend-references.ts';
import { backendRequestTimeout } from './backend-request-timeout.ts';
import { controlCharacterInValue } from './control-character-in-value.ts';
import { durationForm } from './duration-form.ts';
import { featureWithoutEffect } from './feature-without-effect.ts';
import { filterRepeated } from './filter-repeated.ts';
import { filterUnion } from './filter-union.ts';
import { gatewayClassParameters } from './gateway-class-parameters.ts';
import { headerActedOnTwice } from './header-acted-on-twice.ts';
import { headerNameNotToken } from './header-name-not-token.ts';
import { headerNameRepeated } from './header-name-repeated.ts';
import { hostnameIsIp } from './hostname-is-ip.ts';
import { hostnameLabelTooLong } from './hostname-label-too-long.ts';
import { listenerProtocolFields } from './listener-protocol-fields.ts';
import { listenerRules } from './listener-validity.ts';
import { namespaceSelector } from './namespace-selector.ts';
import { parentRepeated } from './parent-repeated.ts';
import { pathSyntax } from './path-syntax.ts';
import { prefixReplacement } from './prefix-replacement.ts';
import { redirectWithBackends } from './redirect-with-backends.ts';
import { redirectWithRewrite } from './redirect-with-rewrite.ts';
import { regexNotRe2 } from './regex-not-re2.ts';
import type { Rule } from './rule.ts';
import { ruleNameRepeated } from './rule-name-repeated.ts';
import { servicePortMissing } from './service-port-missing.ts';
import { unreadableField } from './unreadable-field.ts';
import { unsupportedFeature } from './unsupported-feature.ts';

/** What is wrong within one object, whatever other objects exist: one file each. */
export const defensiveRules: readonly Rule[] = [
  listenerProtocolFields,
  namespaceSelector,
  parentRepeated,
  hostnameIsIp,
  hostnameLabelTooLong,
  ruleNameRepeated,
  pathSyntax,
  regexNotRe2,
  headerNameRepeated,
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
  unsupportedFeature,
  featureWithoutEffect,
  ...listenerRules,
  ...attachmentRules,
  ...backendReferenceRules,
];
