import { between, experimental, since, versions } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { list, object, string } from '../node.ts';
import {
  atomic,
  headerName,
  hostname,
  localObjectReference,
  parentRefs,
  routeStatus,
  ruleName,
  useDefaultGateways,
  weightedBackendFields,
} from './common.ts';
import { headerModifier, requestMirror } from './http-filters.ts';
import { sessionPersistence } from './session-persistence.ts';
import { deprecated, gatewayTable, stored, unserved } from './table.ts';

const filter = object(
  {
    extensionRef: localObjectReference,
    requestHeaderModifier: headerModifier,
    requestMirror,
    responseHeaderModifier: headerModifier,
    type: string({ enum: ['ResponseHeaderModifier', 'RequestHeaderModifier', 'RequestMirror', 'ExtensionRef'] }),
  },
  { required: ['type'] },
);
const filters = list(filter, { maxItems: 16, listType: atomic, semantics: ['filters'] });

const backendRefs = list(object({ ...weightedBackendFields, filters }, { required: ['name'] }), {
  maxItems: 16,
  listType: atomic,
});

const matchType = string({ default: fieldDefaults.matchType, enum: ['Exact', 'RegularExpression'] });
const headerMatch = object(
  {
    name: headerName,
    type: matchType,
    value: string({ maxLength: 4096, minLength: 1, semantics: ['headerValue', 'regexOrValue'] }),
  },
  { required: ['name', 'value'] },
);
const methodPart = string({ maxLength: 1024, semantics: ['regexOrValue'] });

const matches = list(
  object({
    headers: list(headerMatch, { maxItems: 16, listType: 'map', keys: ['name'], semantics: ['headerMatches'] }),
    method: object({ method: methodPart, service: methodPart, type: matchType }),
  }),
  { maxItems: versions(8, since('1.3', 64)), listType: atomic },
);

const rule = object({
  backendRefs,
  filters,
  matches,
  name: ruleName,
  sessionPersistence: experimental('1.1', sessionPersistence),
});

const spec = object({
  hostnames: list(hostname, { maxItems: 16, listType: atomic }),
  parentRefs,
  rules: list(rule, { maxItems: 16, listType: atomic }),
  useDefaultGateways,
});

export const grpcRoute = gatewayTable({
  kind: 'GRPCRoute',
  plural: 'grpcroutes',
  namespaced: true,
  versions: [
    since('1.1', stored('v1')),
    versions(
      between({ experimental: '1.0' }, '1.1', stored('v1alpha2')),
      between({ experimental: '1.1' }, '1.2', deprecated('v1alpha2')),
      between({ standard: '1.1' }, '1.2', unserved('v1alpha2')),
    ),
  ],
  body: object({ spec, status: routeStatus }, { required: [since('1.4', 'spec')] }),
});
