import { between, since, until, versions } from '../availability.ts';
import { list, object, string } from '../node.ts';
import { conditionsDefaulting, controllerName, group, kind, name, namespace, waitingStatus } from './common.ts';
import { gatewayTable, v1AndBeta } from './table.ts';

/** The controller of a class or mesh. */
export const controllerSpec = object(
  {
    controllerName,
    description: string({ maxLength: 64 }),
    parametersRef: object({ group, kind, name, namespace }, { required: ['group', 'kind', 'name'] }),
  },
  { required: ['controllerName'] },
);

/** The feature names that v1.0 allowed. Later releases allow any name. */
const firstFeatures = [
  'Gateway',
  'GatewayPort8080',
  'GatewayStaticAddresses',
  'HTTPRoute',
  'HTTPRouteDestinationPortMatching',
  'HTTPRouteHostRewrite',
  'HTTPRouteMethodMatching',
  'HTTPRoutePathRedirect',
  'HTTPRoutePathRewrite',
  'HTTPRoutePortRedirect',
  'HTTPRouteQueryParamMatching',
  'HTTPRouteRequestMirror',
  'HTTPRouteRequestMultipleMirrors',
  'HTTPRouteResponseHeaderModification',
  'HTTPRouteSchemeRedirect',
  'Mesh',
  'ReferenceGrant',
  'TLSRoute',
].map((feature) => until('1.1', feature));

/** The features of a controller, named as in the conformance profiles (GEP-2162). */
export const featureList = list(object({ name: string() }, { required: ['name'] }), {
  maxItems: 64,
  listType: 'map',
  keys: ['name'],
});

const supportedFeatures = versions(
  between({ experimental: '1.0' }, '1.2', list(string({ enum: firstFeatures }), { maxItems: 64, listType: 'set' })),
  since({ experimental: '1.2', standard: '1.4' }, featureList),
);

const status = object(
  { conditions: conditionsDefaulting('Accepted'), supportedFeatures },
  { default: versions(waitingStatus(['Accepted'], 'Waiting'), since('1.2', waitingStatus(['Accepted'], 'Pending'))) },
);

export const gatewayClass = gatewayTable({
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  namespaced: false,
  versions: v1AndBeta,
  body: object({ spec: controllerSpec, status }, { required: ['spec'] }),
});
