import { available, between, experimental, since, type SchemaKind } from '../../schema/index.ts';
import { backendKindMisspelt, backendKindOfEvaluated, backendsOfOwnNamespace } from '../backends/backend-kinds.ts';
import { corsOriginPort, corsValueRedundant, corsWildcardWithCredentials } from '../filters/cors-values.ts';
import { extensionReference, filterWithoutEffect } from '../filters/filter-contents.ts';
import { filterOrder } from '../filters/filter-order.ts';
import { forwardBodySize } from '../filters/forward-body-size.ts';
import { grpcMethodUncommon } from '../matches/grpc-method-match.ts';
import { matchedHeadersDistinct, modifiedHeadersDistinct } from '../headers/header-name-repeated.ts';
import { hostnameCovered, hostnameIsIp, hostnameLabelTooLong, hostnameRepeated } from '../hostnames/hostnames.ts';
import { below, merge, type Sites, type SiteTables } from '../official/sites.ts';
import { parentGroup, parentRepeated, parentSectionShared, routeWithoutParents } from '../parents/parents.ts';
import { portableMethod, portableValue } from '../matches/regex-not-portable.ts';
import { regexPathWithoutSlash } from '../matches/regex-path-without-slash.ts';
import {
  backendTimeoutUnlimited, retryBackoff, retryCodeUnusual, retryOutlastsTimeout, retryRepeatsEffects, retrySwitchedOff, retryWithoutBackend,
} from '../timing/retries.ts';
import {
  backendRepeated, matchRepeated, mirrorToBackend, redirectPortOfOtherScheme, redirectWithoutChange, ruleWithoutBackend, weightsAllZero,
} from '../routes/rule-contents.ts';
import { ruleNameRepeated } from '../routes/rule-name-repeated.ts';
import { sessionNameRepeated, sessionOfRouteDeprecated } from '../sessions/sessions.ts';
import { ruleBeyondFirst, serverNamesMissing, versionSuperseded } from '../objects/versions.ts';
import { durationNotStandard, headerValueCharset, pathEncoding, pathReplacementSyntax } from '../routes/written-values.ts';
import { wherever } from './meanings.ts';
import { sessions } from './shared.ts';

const everyRoute: Sites = {
  '': [parentRepeated, parentSectionShared, routeWithoutParents, backendRepeated, backendsOfOwnNamespace],
  'spec.parentRefs[]': [parentGroup],
  'spec.rules': [ruleNameRepeated],
  'spec.rules[].backendRefs': [weightsAllZero],
};

function meaningsIn(kind: SchemaKind): Sites {
  return merge(
    { 'spec.hostnames': [hostnameRepeated, hostnameCovered] },
    wherever(kind, ['hostname', 'preciseHostname'], hostnameIsIp),
    wherever(kind, ['hostname', 'preciseHostname'], hostnameLabelTooLong),
    wherever(kind, ['headerMatches'], matchedHeadersDistinct),
    wherever(kind, ['headerModifier'], modifiedHeadersDistinct),
    wherever(kind, ['duration'], durationNotStandard),
  );
}

const filterLists = ['spec.rules[].filters', 'spec.rules[].backendRefs[].filters'];

/** Where the bundle itself does not look at the characters of header values. */
const plainHeaderValue = available({ until: { experimental: '1.5' } }, headerValueCharset);

const modifiers = filterLists.flatMap((list) => ['requestHeaderModifier', 'responseHeaderModifier'].map((member) => `${list}[].${member}`));

const headerValues: Sites = below(modifiers, { 'set[].value': [plainHeaderValue], 'add[].value': [plainHeaderValue] });

/** What routes with filters have in common. */
const requestRoute: Sites = merge(
  everyRoute,
  headerValues,
  { '': [mirrorToBackend], 'spec.rules': [matchRepeated, sessionNameRepeated], 'spec.rules[]': [ruleWithoutBackend], 'spec.rules[].matches[].headers[]': [portableValue] },
  below(['spec.rules[].sessionPersistence'], merge(sessions, { '': [experimental('1.7', sessionOfRouteDeprecated)] })),
  { 'spec.rules[].backendRefs[]': [backendKindOfEvaluated] },
  below(filterLists, { '': [filterWithoutEffect], '[].requestMirror.backendRef': [backendKindOfEvaluated], '[].extensionRef': [extensionReference] }),
);

const cors: Sites = { '': [corsValueRedundant, corsWildcardWithCredentials], 'allowOrigins[]': [corsOriginPort] };

const httpFilters: Sites = merge(
  { '': [filterOrder] },
  below(['[].cors'], cors),
  below(['[].requestRedirect'], { '': [redirectWithoutChange, redirectPortOfOtherScheme], path: [pathReplacementSyntax] }),
  below(['[].urlRewrite.path'], { '': [pathReplacementSyntax] }),
  below(['[].externalAuth.forwardBody.maxSize'], { '': [between({ experimental: '1.4' }, '1.7', forwardBodySize)] }),
);

const httpRoute: Sites = merge(requestRoute, below(filterLists, httpFilters), {
  'spec.rules[]': [retryOutlastsTimeout, retryWithoutBackend, retryRepeatsEffects],
  'spec.rules[].matches[].path': [pathEncoding, regexPathWithoutSlash, portableValue],
  'spec.rules[].matches[].headers[].value': [plainHeaderValue],
  'spec.rules[].matches[].queryParams[]': [portableValue],
  'spec.rules[].timeouts': [backendTimeoutUnlimited],
  'spec.rules[].retry': [retrySwitchedOff],
  'spec.rules[].retry.backoff': [retryBackoff],
  'spec.rules[].retry.codes[]': [retryCodeUnusual],
});

const grpcRoute: Sites = merge(requestRoute, { 'spec.rules[].matches[].method': [grpcMethodUncommon, portableMethod] });

const streamRoute: Sites = merge(everyRoute, { 'spec.rules[].backendRefs[]': [backendKindMisspelt] });
const superseded: Sites = { apiVersion: [versionSuperseded] };

export const unenforcedRouteTables: SiteTables = {
  HTTPRoute: [{ sites: merge(meaningsIn('HTTPRoute'), httpRoute) }, { versions: ['v1beta1'], sites: superseded }],
  GRPCRoute: [{ sites: merge(meaningsIn('GRPCRoute'), grpcRoute) }, { versions: ['v1alpha2'], sites: { apiVersion: [since('1.1', versionSuperseded)] } }],
  TLSRoute: [
    { sites: merge(meaningsIn('TLSRoute'), streamRoute) },
    { versions: ['v1alpha2'], sites: { '': [serverNamesMissing], spec: [ruleBeyondFirst] } },
    { versions: ['v1alpha2', 'v1alpha3'], sites: { apiVersion: [since('1.5', versionSuperseded)] } },
  ],
  TCPRoute: [{ sites: streamRoute }, { versions: ['v1alpha2'], sites: { apiVersion: [since('1.6', versionSuperseded)], spec: [ruleBeyondFirst] } }],
  UDPRoute: [{ sites: streamRoute }, { versions: ['v1alpha2'], sites: { apiVersion: [since('1.6', versionSuperseded)], spec: [ruleBeyondFirst] } }],
};
