import { between, since, versions } from '../availability.ts';
import { object } from '../node.ts';
import { parentRefs, routeStatus, useDefaultGateways } from './common.ts';
import { streamRules } from './stream-rules.ts';
import { deprecated, gatewayTable, stored, unserved, type KindTable } from './table.ts';

// TCPRoute and UDPRoute have the same schema in all releases.

/** @param maxRules one since v1; several before, although only the first was ever used */
function body(maxRules: number) {
  const spec = object({ parentRefs, rules: streamRules(maxRules), useDefaultGateways }, { required: ['rules'] });
  return object({ spec, status: routeStatus }, { required: ['spec'] });
}

const alpha2Body = body(16);
const shared = {
  namespaced: true,
  versions: [
    since('1.6', stored('v1')),
    versions(
      between({ experimental: '1.0' }, '1.6', stored('v1alpha2', alpha2Body)),
      since({ experimental: '1.6' }, deprecated('v1alpha2', alpha2Body)),
      since({ standard: '1.6' }, unserved('v1alpha2', alpha2Body)),
    ),
  ],
  body: body(1),
} as const satisfies Partial<KindTable>;

export const tcpRoute = gatewayTable({ kind: 'TCPRoute', plural: 'tcproutes', ...shared });
export const udpRoute = gatewayTable({ kind: 'UDPRoute', plural: 'udproutes', ...shared });
