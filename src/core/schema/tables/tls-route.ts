import { between, since, versions } from '../availability.ts';
import { list, object, type ListOptions } from '../node.ts';
import { atomic, hostname, parentRefs, routeStatus, useDefaultGateways } from './common.ts';
import { streamRules } from './stream-rules.ts';
import { deprecated, gatewayTable, served, stored, unserved } from './table.ts';

const hostnameBounds: ListOptions = { maxItems: versions(16, since('1.6', 1024)), listType: atomic };

const spec = object(
  {
    hostnames: list(hostname, { ...hostnameBounds, minItems: 1 }),
    parentRefs,
    rules: streamRules(1),
    useDefaultGateways,
  },
  { required: ['hostnames', 'rules'] },
);
const body = object({ spec, status: routeStatus }, { required: ['spec'] });

/** Before v1alpha3, hostnames were optional and a route could have several rules. */
const alpha2Spec = object(
  {
    hostnames: list(hostname, hostnameBounds),
    parentRefs,
    rules: streamRules(16),
    useDefaultGateways,
  },
  { required: ['rules'] },
);
const alpha2Body = object({ spec: alpha2Spec, status: routeStatus }, { required: ['spec'] });

export const tlsRoute = gatewayTable({
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  namespaced: true,
  versions: [
    since('1.5', stored('v1')),
    versions(
      between({ experimental: '1.0' }, '1.4', stored('v1alpha2', alpha2Body)),
      between({ experimental: '1.4' }, '1.5', served('v1alpha2', alpha2Body)),
      since({ experimental: '1.5' }, deprecated('v1alpha2', alpha2Body)),
      since({ standard: '1.5' }, unserved('v1alpha2', alpha2Body)),
    ),
    versions(
      between({ experimental: '1.4' }, '1.5', stored('v1alpha3')),
      since({ experimental: '1.5' }, deprecated('v1alpha3')),
      since({ standard: '1.5' }, unserved('v1alpha3')),
    ),
  ],
  body,
});
