import { experimental } from '../availability.ts';
import { integer, list, object, string } from '../node.ts';
import {
  duration, headerName, headerValue, hostname, parentRefs, routeStatus, sectionName, token,
  useDefaultGateways, weightedBackendFields,
} from './common.ts';
import { httpFilters, methods } from './http-filters.ts';
import { gatewayTable } from './table.ts';

const backendRefs = list(
  object({ ...weightedBackendFields, filters: httpFilters }, { required: ['name'] }),
  { maxItems: 16, listType: 'atomic' },
);

const stringMatchType = string({ default: 'Exact', enum: ['Exact', 'RegularExpression'] });
const namedMatch = { required: ['name', 'value'] } as const;
const namedMatches = { maxItems: 16, listType: 'map', keys: ['name'] } as const;

export const headerMatches = list(
  object({ name: headerName, type: stringMatchType, value: headerValue('regexOrValue') }, namedMatch),
  { ...namedMatches, semantics: ['headerMatches'] },
);
const queryMatches = list(object({
  name: token('queryName'),
  type: stringMatchType,
  value: string({ maxLength: 1024, minLength: 1, semantics: ['queryValue', 'regexOrValue'] }),
}, namedMatch), namedMatches);

const everyPath = { type: 'PathPrefix', value: '/' } as const;
const pathMatch = object({
  type: string({ default: 'PathPrefix', enum: ['Exact', 'PathPrefix', 'RegularExpression'] }),
  value: string({ default: '/', maxLength: 1024, semantics: ['pathValue', 'regexOrValue'] }),
}, { default: everyPath });

const matches = list(object({
  headers: headerMatches,
  method: string({ enum: methods }),
  path: pathMatch,
  queryParams: queryMatches,
}), { default: [{ path: everyPath }], maxItems: 64, listType: 'atomic' });

const retry = object({
  attempts: integer({ default: 1, minimum: 0 }),
  backoff: duration,
  codes: list(integer({ minimum: 400, maximum: 599 }), { listType: 'set' }),
});

const persistenceName = token();
/** Requests of one client go to one backend (GEP-1619). */
const sessionPersistence = object({
  absoluteTimeout: duration,
  cookie: object({
    lifetimeType: string({ default: 'Session', enum: ['Permanent', 'Session'] }),
    name: persistenceName,
    path: string({ default: '/', maxLength: 1024 }),
  }),
  header: object({ name: persistenceName }, { required: ['name'] }),
  type: string({ default: 'Cookie', enum: ['Cookie', 'Header'] }),
});

const rule = object({
  backendRefs,
  filters: httpFilters,
  matches,
  name: sectionName,
  retry,
  sessionPersistence: experimental('1.7', sessionPersistence),
  timeouts: object({ backendRequest: duration, request: duration }),
});

const spec = object({
  hostnames: list(hostname, { maxItems: 16, listType: 'atomic' }),
  parentRefs,
  rules: list(rule, { default: [{ matches: [{ path: everyPath }] }], minItems: 1, maxItems: 16, listType: 'atomic' }),
  useDefaultGateways,
});

export const httpRoute = gatewayTable({
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
  versions: [{ name: 'v1', served: true, storage: true }, { name: 'v1beta1', served: true, storage: false }],
  body: object({ spec, status: routeStatus }, { required: ['spec'] }),
});
