import { available, between, experimental, since } from '../../schema/index.ts';
import { timeoutsInOrder } from '../timing/backend-request-timeout.ts';
import { lonelyHeader, lonelyMethod, lonelyOrigin } from '../filters/cors-wildcard.ts';
import { corsDistinct, filtersDistinct } from '../filters/filter-repeated.ts';
import { filterMember, pathModifierMember } from '../filters/filter-union.ts';
import { fractionUpToOne } from '../filters/fraction-above-one.ts';
import { oneMirrorShare } from '../filters/mirror-share-repeated.ts';
import { methodIsValid } from '../matches/grpc-method-match.ts';
import { parentsToldApartBySection, parentsToldApartBySectionOrPort } from '../parents/parent-repeated.ts';
import { pathIsValid } from '../matches/path-syntax.ts';
import { prefixIsClear } from '../filters/prefix-replacement.ts';
import { redirectAlone } from '../filters/redirect-with-backends.ts';
import { redirectOrRewrite } from '../filters/redirect-with-rewrite.ts';
import { ruleNameRepeated } from '../routes/rule-name-repeated.ts';
import { serverNamesAreNames } from '../tls/server-name-is-ip.ts';
import { matchesWithinLimit } from '../matches/too-many-matches.ts';
import { backendRef, externalAuth, sessionPersistence } from './shared.ts';
import { below, fitting, merge, type SiteGroup } from './sites.ts';

const parents = {
  'spec.parentRefs': [
    available({ since: { standard: '1.0' } }, parentsToldApartBySection),
    experimental('1.0', parentsToldApartBySectionOrPort),
  ],
};

const requestMirror = merge(
  { '': [since({ experimental: '1.2', standard: '1.3' }, oneMirrorShare)], fraction: [fractionUpToOne] },
  below(['backendRef'], backendRef),
);

const backendRefs = below(['spec.rules[].backendRefs[]'], backendRef);
const filterLists = ['spec.rules[].filters', 'spec.rules[].backendRefs[].filters'] as const;

/** The sites of routes with filters. */
const requestRoute = merge(
  parents,
  {
    'spec.rules': [since('1.2', matchesWithinLimit), since({ experimental: '1.2', standard: '1.7' }, ruleNameRepeated)],
  },
  backendRefs,
  below(['spec.rules[].sessionPersistence'], sessionPersistence),
  below(
    filterLists,
    merge({ '': [filtersDistinct], '[]': [filterMember] }, below(['[].requestMirror'], requestMirror)),
  ),
);

const httpFilters = merge(
  {
    '': [redirectOrRewrite, since('1.5', corsDistinct)],
    '[].requestRedirect.path': [pathModifierMember],
    '[].urlRewrite.path': [pathModifierMember],
    '[].cors.allowMethods': [lonelyMethod],
    '[].cors.allowOrigins': [since('1.4', lonelyOrigin)],
    '[].cors.allowHeaders': [since('1.5', lonelyHeader)],
  },
  below(['[].externalAuth'], externalAuth),
);

export const httpRouteSites: readonly SiteGroup[] = [
  {
    sites: fitting(
      'HTTPRoute',
      merge(requestRoute, below(filterLists, httpFilters), {
        'spec.rules[]': [redirectAlone, prefixIsClear],
        'spec.rules[].matches[].path': [pathIsValid],
        'spec.rules[].timeouts': [timeoutsInOrder],
      }),
    ),
  },
];

export const grpcRouteSites: readonly SiteGroup[] = [
  {
    sites: fitting('GRPCRoute', merge(requestRoute, { 'spec.rules[].matches[].method': [methodIsValid] })),
  },
];

const streamRoute = merge(parents, backendRefs);
const namedRules = { 'spec.rules': [experimental('1.2', ruleNameRepeated)] };

/** Since v1alpha3 of TLSRoute, and v1 of the others, a route has only one rule, so names need no comparison. */
export const tcpRouteSites: readonly SiteGroup[] = [
  { sites: fitting('TCPRoute', streamRoute) },
  { versions: ['v1alpha2'], sites: fitting('TCPRoute', namedRules) },
];

export const udpRouteSites: readonly SiteGroup[] = [
  { sites: fitting('UDPRoute', streamRoute) },
  { versions: ['v1alpha2'], sites: fitting('UDPRoute', namedRules) },
];

export const tlsRouteSites: readonly SiteGroup[] = [
  { sites: fitting('TLSRoute', streamRoute) },
  { versions: ['v1alpha2'], sites: fitting('TLSRoute', namedRules) },
  {
    versions: ['v1alpha3'],
    sites: fitting('TLSRoute', { 'spec.rules': [between({ experimental: '1.4' }, '1.5', ruleNameRepeated)] }),
  },
  {
    versions: ['v1alpha3', 'v1'],
    sites: fitting('TLSRoute', { 'spec.hostnames': [since('1.5', serverNamesAreNames)] }),
  },
];
