import type { Fields } from '../../text/fields.ts';
import { fieldsWhere, nameKey } from '../../text/fields.ts';
import { headerKey } from '../../text/header.ts';
import { normalizePath } from '../../text/path.ts';
import type { AuthorizationFilter, AuthorizationProtocol, ConfigKey, RouteFilter } from '../config.ts';
import { compileHeaderEdits, isEditable } from './header-edits.ts';
import type { HeaderEdits } from './header-edits.ts';

/** An ExternalAuth filter prepared for use. */
export interface Authorization {
  readonly protocol: AuthorizationProtocol;
  /** `namespace/service/port` of the server; `invalid` for one that cannot be used. */
  readonly label: string;
  /** `undefined`: every request gets an error. */
  readonly endpoints: ConfigKey | undefined;
  /** Why `endpoints` is undefined. */
  readonly problem: string | undefined;
  /** So many of the rule's edits of request headers come before the filter. */
  readonly editsBefore: number;
  /** Comes before the path of requests; `''` or an absolute path without a slash at its end. */
  readonly prefix: string;
  /** Bytes of the longest body that is sent; 0: none is sent. */
  readonly maxBody: number;
  /** Names in lower case of the request fields that the server gets; `undefined`: all. */
  readonly sent: ReadonlySet<string> | undefined;
  /** Names in lower case of the response fields that the backend gets; `undefined`: all but those that describe the response. */
  readonly returned: ReadonlySet<string> | undefined;
}

/** The server gets these whatever the filter allows; Host goes as the host of the request (HTTPAuthConfig.allowedHeaders). */
const alwaysSent: readonly string[] = ['authorization', 'content-length', 'host'];

/** Fields of a response that say something about itself and nothing about the request. */
const aboutResponse: ReadonlySet<string> = new Set(['authority', 'content-encoding', 'content-language', 'content-location', 'content-range', 'content-type', 'via']);

/** Prepares the ExternalAuth filter of a rule; `undefined` where it has none. */
export function prepareAuthorization(filters: readonly RouteFilter[]): Authorization | undefined {
  const position = filters.findIndex(({ type }) => type === 'authorization');
  const filter = filters[position];
  if (filter?.type !== 'authorization') return undefined;
  const { target, protocol, requestHeaders, responseHeaders, maxBody } = filter;
  const prefix = authorizationPrefix(filter);
  const usable = target.type === 'endpoints' && prefix !== undefined;
  return {
    protocol,
    label: usable ? target.key.replace(/^endpoints\//, '') : 'invalid',
    endpoints: usable ? target.key : undefined,
    problem: target.type === 'invalid' ? target.reason : prefix === undefined ? 'invalid path' : undefined,
    editsBefore: compileHeaderEdits(filters.slice(0, position), 'requestHeaders').length,
    prefix: prefix ?? '',
    maxBody,
    sent: protocol === 'grpc' && requestHeaders.length === 0 ? undefined : new Set([...requestHeaders.map(headerKey).filter(isEditable), ...alwaysSent]),
    returned: responseHeaders.length === 0 ? undefined : new Set(responseHeaders.map(headerKey)),
  };
}

/** The path prefix of a filter in the spelling of request paths; `undefined` where no path can begin with it (HTTPAuthConfig.path). */
export function authorizationPrefix({ path }: Pick<AuthorizationFilter, 'path'>): string | undefined {
  const normalized = normalizePath(path.startsWith('/') ? path : `/${path}`);
  return normalized.ok ? normalized.path.replace(/\/+$/, '') : undefined;
}

/** The request target that the server gets: the prefix, the path and the query of the client's request. */
export function authorizationTarget({ prefix }: Pick<Authorization, 'prefix'>, { path, search }: { readonly path: string; readonly search: string }): string {
  return `${prefix}${path}${search}`;
}

/** Those of the fields of a request that the server gets. */
export function fieldsForServer({ sent }: Pick<Authorization, 'sent'>, fields: Fields): string[] {
  return fieldsWhere(fields, (key) => sent === undefined || sent.has(key));
}

/**
 * What the fields of a response that permits a request change in the request: they replace those of the same name. A field that is
 * named in `allowedResponseHeaders` is the server's alone, so that one of the client never passes for it.
 */
export function editsAfterPermission({ returned }: Pick<Authorization, 'returned'>, fields: Fields): HeaderEdits {
  const added = fieldsWhere(fields, (key) => isEditable(key) && (returned === undefined ? !aboutResponse.has(key) : returned.has(key)));
  const names = added.filter((_, position) => position % 2 === 0).map(nameKey);
  return { dropped: new Set([...names, ...[...(returned ?? [])].filter(isEditable)]), added };
}
