import { experimental, since, versions } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { integer, list, object, string } from '../node.ts';
import {
  atomic,
  duration,
  headerName,
  headerValue,
  hostname,
  parentRefs,
  routeStatus,
  ruleName,
  token,
  useDefaultGateways,
  weightedBackendFields,
} from './common.ts';
import { httpFilters, methods } from './http-filters.ts';
import { sessionPersistence } from './session-persistence.ts';
import { gatewayTable, v1AndBeta } from './table.ts';

const backendRefs = list(object({ ...weightedBackendFields, filters: httpFilters }, { required: ['name'] }), {
  maxItems: 16,
  listType: atomic,
});

const stringMatchType = string({ default: fieldDefaults.matchType, enum: ['Exact', 'RegularExpression'] });
const namedMatch = { required: ['name', 'value'] } as const;
const namedMatches = { maxItems: 16, listType: 'map', keys: ['name'] } as const;

export const headerMatches = list(
  object({ name: headerName, type: stringMatchType, value: headerValue('regexOrValue') }, namedMatch),
  { ...namedMatches, semantics: ['headerMatches'] },
);
const queryMatches = list(
  object(
    {
      name: token('queryName'),
      type: stringMatchType,
      value: string({ maxLength: 1024, minLength: 1, semantics: ['queryValue', 'regexOrValue'] }),
    },
    namedMatch,
  ),
  namedMatches,
);

const pathMatch = object(
  {
    type: string({ default: fieldDefaults.path.type, enum: ['Exact', 'PathPrefix', 'RegularExpression'] }),
    value: string({ default: fieldDefaults.path.value, maxLength: 1024, semantics: ['pathValue', 'regexOrValue'] }),
  },
  { default: fieldDefaults.path },
);

const matches = list(
  object({
    headers: headerMatches,
    method: string({ enum: methods }),
    path: pathMatch,
    queryParams: queryMatches,
  }),
  { default: [{ path: fieldDefaults.path }], maxItems: versions(8, since('1.2', 64)), listType: atomic },
);

const retry = object({
  attempts: integer({
    default: since('1.7', fieldDefaults.retryAttempts),
    minimum: versions(since('1.6', 1), since('1.7', 0)),
  }),
  backoff: duration,
  codes: list(integer({ minimum: 400, maximum: 599 }), { listType: versions(atomic, since('1.6', 'set')) }),
});

const rule = object({
  backendRefs,
  filters: httpFilters,
  matches,
  name: ruleName,
  retry: since({ experimental: '1.2', standard: '1.7' }, retry),
  sessionPersistence: experimental('1.1', sessionPersistence),
  timeouts: since({ experimental: '1.0', standard: '1.2' }, object({ backendRequest: duration, request: duration })),
});

const spec = object({
  hostnames: list(hostname, { maxItems: 16, listType: atomic }),
  parentRefs,
  rules: list(rule, {
    default: [{ matches: [{ path: fieldDefaults.path }] }],
    minItems: since('1.5', 1),
    maxItems: 16,
    listType: atomic,
  }),
  useDefaultGateways,
});

export const httpRoute = gatewayTable({
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
  versions: v1AndBeta,
  body: object({ spec, status: routeStatus }, { required: ['spec'] }),
});
