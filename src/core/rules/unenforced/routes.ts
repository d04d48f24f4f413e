import type { SchemaKind } from '../../schema/index.ts';
import { matchedHeadersDistinct, modifiedHeadersDistinct } from '../header-name-repeated.ts';
import { hostnameCovered, hostnameIsIp, hostnameLabelTooLong, hostnameRepeated } from '../hostnames.ts';
import { merge, type Sites, type SiteTables } from '../official/sites.ts';
import { parentGroup, parentRepeated, parentSectionShared, routeWithoutParents } from '../parents.ts';
import { ruleNameRepeated } from '../rule-name-repeated.ts';
import { wherever } from './meanings.ts';

const everyRoute: Sites = {
  '': [parentRepeated, parentSectionShared, routeWithoutParents],
  'spec.parentRefs[]': [parentGroup],
  'spec.rules': [ruleNameRepeated],
};

const hostnames: Sites = { 'spec.hostnames': [hostnameRepeated, hostnameCovered] };

function meaningsIn(kind: SchemaKind): Sites {
  return merge(
    wherever(kind, ['hostname', 'preciseHostname'], hostnameIsIp),
    wherever(kind, ['hostname', 'preciseHostname'], hostnameLabelTooLong),
    wherever(kind, ['headerMatches'], matchedHeadersDistinct),
    wherever(kind, ['headerModifier'], modifiedHeadersDistinct),
  );
}

export const unenforcedRouteTables: SiteTables = {
  HTTPRoute: [{ sites: merge(everyRoute, hostnames, meaningsIn('HTTPRoute')) }],
  GRPCRoute: [{ sites: merge(everyRoute, hostnames, meaningsIn('GRPCRoute')) }],
  TLSRoute: [{ sites: merge(everyRoute, hostnames, meaningsIn('TLSRoute')) }],
  TCPRoute: [{ sites: everyRoute }],
  UDPRoute: [{ sites: everyRoute }],
};
