import { endpointsLabel } from '../../graph/backends/endpoints-key.ts';
import type { Fields } from '../../text/fields.ts';
import { fieldsWhere, nameKey } from '../../text/fields.ts';
import { headerKey } from '../../text/header.ts';
import { normalizePath } from '../../text/path.ts';
import type {
  AuthorizationFilter,
  AuthorizationProtocol,
  BackendTarget,
  ConfigKey,
  InvalidTarget,
  ListenerConfig,
  RouteFilter,
} from '../config.ts';
import { compileHeaderEdits, isEditable } from './header-edits.ts';
import type { HeaderEdits } from './header-edits.ts';
import { withoutTrailing } from '../../text/trim.ts';

/** An ExternalAuth filter prepared for use. */
export interface Authorization {
  readonly protocol: AuthorizationProtocol;
  /** `namespace/service/port` of the server; `invalid` for one that cannot be used. */
  readonly label: string;
  /** `undefined`: every request gets an error response. */
  readonly endpoints: ConfigKey | undefined;
  /** Why `endpoints` is undefined. */
  readonly problem: InvalidTarget | undefined;
  /** The number of the rule's request header edits that precede the filter. */
  readonly editsBefore: number;
  /** Prefix for the path of requests; `''` or an absolute path without a trailing slash. */
  readonly prefix: string;
  /** Maximum size in bytes of a body that is sent; 0: no body is sent. */
  readonly maxBody: number;
  /** Lower-case names of the request fields sent to the server; `undefined`: all. */
  readonly sent: ReadonlySet<string> | undefined;
  /** Lower-case names of the response fields sent to the backend; `undefined`: all except those that describe the response. */
  readonly returned: ReadonlySet<string> | undefined;
}

/**
 * Always sent to the server, whatever the filter allows. Host is sent as the host of the request
 * (HTTPAuthConfig.allowedHeaders).
 */
const alwaysSent: readonly string[] = ['authorization', 'content-length', 'host'];

/** Fields that describe the response and not the request. */
const aboutResponse: ReadonlySet<string> = new Set([
  'authority',
  'content-encoding',
  'content-language',
  'content-location',
  'content-range',
  'content-type',
  'via',
]);

/** Prepares the ExternalAuth filter of a rule; `undefined` if it has none. */
export function prepareAuthorization(filters: readonly RouteFilter[]): Authorization | undefined {
  const position = filters.findIndex(({ type }) => type === 'authorization');
  const filter = filters[position];
  if (filter?.type !== 'authorization') return undefined;
  return authorizationOf(filter, compileHeaderEdits(filters.slice(0, position), 'requestHeaders').length);
}

/** Prepares the filters of a listener, in order. */
export function prepareListenerFilters({ filters = [] }: Pick<ListenerConfig, 'filters'>): readonly Authorization[] {
  return filters.map((filter) => authorizationOf(filter, 0));
}

function authorizationOf(filter: AuthorizationFilter, editsBefore: number): Authorization {
  const { target, protocol, requestHeaders, responseHeaders, maxBody } = filter;
  const prefix = authorizationPrefix(filter);
  const usable = target.type === 'endpoints' && prefix !== undefined;
  return {
    protocol,
    label: usable ? endpointsLabel(target.key) : 'invalid',
    endpoints: usable ? target.key : undefined,
    problem: problemOf(target, prefix),
    editsBefore,
    prefix: prefix ?? '',
    maxBody,
    sent:
      protocol === 'grpc' && requestHeaders.length === 0
        ? undefined
        : new Set([...requestHeaders.map(headerKey).filter(isEditable), ...alwaysSent]),
    returned: responseHeaders.length === 0 ? undefined : new Set(responseHeaders.map(headerKey)),
  };
}

function problemOf(target: BackendTarget, prefix: string | undefined): InvalidTarget | undefined {
  if (target.type === 'invalid') return target;
  return prefix === undefined ? { type: 'invalid', reason: 'invalid path' } : undefined;
}

/** The path prefix of a filter, normalized like request paths; `undefined` if it is invalid (HTTPAuthConfig.path). */
export function authorizationPrefix({ path }: Pick<AuthorizationFilter, 'path'>): string | undefined {
  const normalized = normalizePath(path.startsWith('/') ? path : `/${path}`);
  return normalized.ok ? withoutTrailing(normalized.path, '/') : undefined;
}

/** The request target for the server: the prefix, the path and the query of the client's request. */
export function authorizationTarget(
  { prefix }: Pick<Authorization, 'prefix'>,
  { path, search }: { readonly path: string; readonly search: string },
): string {
  return `${prefix}${path}${search}`;
}

/** The fields of a request that are sent to the server. */
export function fieldsForServer({ sent }: Pick<Authorization, 'sent'>, fields: Fields): string[] {
  return fieldsWhere(fields, (key) => sent === undefined || sent.has(key));
}

/**
 * The edits of a permitted request: fields of the server's response replace request fields with the same name. Fields named
 * in `allowedResponseHeaders` can only come from the server, so that a client cannot forge them.
 */
export function editsAfterPermission({ returned }: Pick<Authorization, 'returned'>, fields: Fields): HeaderEdits {
  const added = fieldsWhere(
    fields,
    (key) => isEditable(key) && (returned === undefined ? !aboutResponse.has(key) : returned.has(key)),
  );
  const names = added.filter((_, position) => position % 2 === 0).map(nameKey);
  return { dropped: new Set([...names, ...[...(returned ?? [])].filter(isEditable)]), added };
}
