import { available, between, experimental, since, type SchemaKind } from '../../schema/index.ts';
import { backendKindMisspelt } from '../backends/backend-kind-misspelt.ts';
import { backendKindOfEvaluated } from '../backends/backend-kind-unsupported.ts';
import { backendsOfOwnNamespace } from '../backends/backend-of-other-namespace.ts';
import { corsOriginPort } from '../filters/cors-origin-port.ts';
import { corsValueRedundant } from '../filters/cors-value-redundant.ts';
import { corsWildcardWithCredentials } from '../filters/cors-wildcard-with-credentials.ts';
import { extensionReference } from '../filters/extension-reference.ts';
import { filterWithoutEffect } from '../filters/filter-without-effect.ts';
import { filterOrder } from '../filters/filter-order.ts';
import { forwardBodySize } from '../filters/forward-body-size.ts';
import { grpcMethodUncommon } from '../matches/grpc-method-uncommon.ts';
import { matchedHeadersDistinct, modifiedHeadersDistinct } from '../headers/header-name-repeated.ts';
import { hostnameCovered } from '../hostnames/hostname-covered.ts';
import { hostnameIsIp } from '../hostnames/hostname-is-ip.ts';
import { hostnameLabelTooLong } from '../hostnames/hostname-label-too-long.ts';
import { hostnameRepeated } from '../hostnames/hostname-repeated.ts';
import { below, fitting, merge, type SiteTables } from '../official/sites.ts';
import { parentGroup } from '../parents/parent-group.ts';
import { parentRepeated } from '../parents/parent-repeated.ts';
import { parentSectionShared } from '../parents/parent-section-shared.ts';
import { routeWithoutParents } from '../parents/route-without-parents.ts';
import { portableMethod, portableValue } from '../matches/regex-not-portable.ts';
import { regexPathWithoutSlash } from '../matches/regex-path-without-slash.ts';
import { backendTimeoutUnlimited } from '../timing/backend-timeout-unlimited.ts';
import { retryBackoff } from '../timing/retry-backoff.ts';
import { retryCodeUnusual } from '../timing/retry-code-unusual.ts';
import { retryOutlastsTimeout } from '../timing/retry-outlasts-timeout.ts';
import { retryRepeatsEffects } from '../timing/retry-repeats-effects.ts';
import { retrySwitchedOff } from '../timing/retry-switched-off.ts';
import { retryWithoutBackend } from '../timing/retry-without-backend.ts';
import { backendRepeated } from '../backends/backend-repeated.ts';
import { ruleWithoutBackend } from '../backends/rule-without-backend.ts';
import { weightsAllZero } from '../backends/weights-all-zero.ts';
import { mirrorToBackend } from '../filters/mirror-to-backend.ts';
import { redirectPortOfOtherScheme } from '../filters/redirect-port-of-other-scheme.ts';
import { redirectWithoutChange } from '../filters/redirect-without-change.ts';
import { matchRepeated } from '../matches/match-repeated.ts';
import { ruleNameRepeated } from '../routes/rule-name-repeated.ts';
import { sessionNameRepeated } from '../sessions/session-name-repeated.ts';
import { sessionOfRouteDeprecated } from '../sessions/session-policy-deprecated.ts';
import { ruleBeyondFirst } from '../objects/rule-beyond-first.ts';
import { serverNamesMissing } from '../objects/server-names-missing.ts';
import { versionSuperseded } from '../objects/version-superseded.ts';
import { pathReplacementSyntax } from '../filters/path-replacement-syntax.ts';
import { headerValueCharset } from '../headers/header-value-charset.ts';
import { pathEncoding } from '../matches/path-encoding.ts';
import { durationNotStandard } from '../timing/duration-not-standard.ts';
import { wherever } from './meanings.ts';
import { sessions } from './shared.ts';

const everyRoute = {
  '': [parentRepeated, parentSectionShared, routeWithoutParents, backendRepeated, backendsOfOwnNamespace],
  'spec.parentRefs[]': [parentGroup],
  'spec.rules': [ruleNameRepeated],
  'spec.rules[].backendRefs': [weightsAllZero],
};

function meaningsIn(kind: SchemaKind) {
  return merge(
    { 'spec.hostnames': [hostnameRepeated, hostnameCovered] },
    wherever(kind, ['hostname', 'preciseHostname'], hostnameIsIp),
    wherever(kind, ['hostname', 'preciseHostname'], hostnameLabelTooLong),
    wherever(kind, ['headerMatches'], matchedHeadersDistinct),
    wherever(kind, ['headerModifier'], modifiedHeadersDistinct),
    wherever(kind, ['duration'], durationNotStandard),
  );
}

const filterLists = ['spec.rules[].filters', 'spec.rules[].backendRefs[].filters'] as const;

/** For bundles that do not validate the characters of header values themselves. */
const plainHeaderValue = available({ until: { experimental: '1.5' } }, headerValueCharset);

const headerValues = below(
  filterLists,
  below(['[].requestHeaderModifier', '[].responseHeaderModifier'], {
    'set[].value': [plainHeaderValue],
    'add[].value': [plainHeaderValue],
  }),
);

/** The sites of routes with filters. */
const requestRoute = merge(
  everyRoute,
  headerValues,
  {
    '': [mirrorToBackend],
    'spec.rules': [matchRepeated, sessionNameRepeated],
    'spec.rules[]': [ruleWithoutBackend],
    'spec.rules[].matches[].headers[]': [portableValue],
  },
  below(['spec.rules[].sessionPersistence'], merge(sessions, { '': [experimental('1.7', sessionOfRouteDeprecated)] })),
  { 'spec.rules[].backendRefs[]': [backendKindOfEvaluated] },
  below(filterLists, {
    '': [filterWithoutEffect],
    '[].requestMirror.backendRef': [backendKindOfEvaluated],
    '[].extensionRef': [extensionReference],
  }),
);

const cors = { '': [corsValueRedundant, corsWildcardWithCredentials], 'allowOrigins[]': [corsOriginPort] };

const httpFilters = merge(
  { '': [filterOrder] },
  below(['[].cors'], cors),
  below(['[].requestRedirect'], {
    '': [redirectWithoutChange, redirectPortOfOtherScheme],
    path: [pathReplacementSyntax],
  }),
  below(['[].urlRewrite.path'], { '': [pathReplacementSyntax] }),
  below(['[].externalAuth.forwardBody.maxSize'], { '': [between({ experimental: '1.4' }, '1.7', forwardBodySize)] }),
);

const httpRoute = merge(requestRoute, below(filterLists, httpFilters), {
  'spec.rules[]': [retryOutlastsTimeout, retryWithoutBackend, retryRepeatsEffects],
  'spec.rules[].matches[].path': [pathEncoding, regexPathWithoutSlash, portableValue],
  'spec.rules[].matches[].headers[].value': [plainHeaderValue],
  'spec.rules[].matches[].queryParams[]': [portableValue],
  'spec.rules[].timeouts': [backendTimeoutUnlimited],
  'spec.rules[].retry': [retrySwitchedOff],
  'spec.rules[].retry.backoff': [retryBackoff],
  'spec.rules[].retry.codes[]': [retryCodeUnusual],
});

const grpcRoute = merge(requestRoute, { 'spec.rules[].matches[].method': [grpcMethodUncommon, portableMethod] });

const streamRoute = merge(everyRoute, { 'spec.rules[].backendRefs[]': [backendKindMisspelt] });
const superseded = { apiVersion: [versionSuperseded] };

export const unenforcedRouteTables: SiteTables = {
  HTTPRoute: [
    { sites: fitting('HTTPRoute', merge(meaningsIn('HTTPRoute'), httpRoute)) },
    { versions: ['v1beta1'], sites: fitting('HTTPRoute', superseded) },
  ],
  GRPCRoute: [
    { sites: fitting('GRPCRoute', merge(meaningsIn('GRPCRoute'), grpcRoute)) },
    { versions: ['v1alpha2'], sites: fitting('GRPCRoute', { apiVersion: [since('1.1', versionSuperseded)] }) },
  ],
  TLSRoute: [
    { sites: fitting('TLSRoute', merge(meaningsIn('TLSRoute'), streamRoute)) },
    { versions: ['v1alpha2'], sites: fitting('TLSRoute', { '': [serverNamesMissing], spec: [ruleBeyondFirst] }) },
    {
      versions: ['v1alpha2', 'v1alpha3'],
      sites: fitting('TLSRoute', { apiVersion: [since('1.5', versionSuperseded)] }),
    },
  ],
  TCPRoute: [
    { sites: fitting('TCPRoute', streamRoute) },
    {
      versions: ['v1alpha2'],
      sites: fitting('TCPRoute', { apiVersion: [since('1.6', versionSuperseded)], spec: [ruleBeyondFirst] }),
    },
  ],
  UDPRoute: [
    { sites: fitting('UDPRoute', streamRoute) },
    {
      versions: ['v1alpha2'],
      sites: fitting('UDPRoute', { apiVersion: [since('1.6', versionSuperseded)], spec: [ruleBeyondFirst] }),
    },
  ],
};
