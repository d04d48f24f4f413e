import { defaultPortOf } from '../../text/origin.ts';
import { replacePathPrefix } from '../../text/path.ts';
import type { ListenerConfig, PathModifier, RedirectFilter, RouteMatch } from '../config.ts';

/** The parts of a request URL that a redirect uses. */
export interface RequestedUrl {
  /** Lower case, without port. */
  readonly host: string;
  /** Normalized, without query. */
  readonly path: string;
  /** The query with its question mark, or `''`. */
  readonly search: string;
}

/**
 * The Location of a redirected request (Gateway API HTTPRequestRedirectFilter). If the filter has no port, the port is the
 * well-known port of its scheme, or the port of the listener if it has no scheme either. The default port of the scheme is
 * omitted. The query is kept.
 */
export function redirectLocation(
  redirect: RedirectFilter,
  listener: ListenerConfig,
  head: RequestedUrl,
  match: RouteMatch,
): string {
  const path = `${modifiedPath(head.path, redirect.path, match)}${head.search}`;
  const hostname = redirect.hostname ?? head.host;
  // An HTTP/1.0 request may have no host. Only a reference relative to the request is possible then.
  if (hostname === '') return hostlessReference(path);
  const scheme = redirect.scheme ?? (listener.protocol === 'HTTPS' ? 'https' : 'http');
  const wellKnown = defaultPortOf(scheme);
  const port = redirect.port ?? (redirect.scheme === undefined ? listener.port : (wellKnown ?? listener.port));
  const authority = hostname.includes(':') ? `[${hostname}]` : hostname;
  return `${scheme}://${authority}${port === wellKnown ? '' : `:${port}`}${path}`;
}

/**
 * A relative reference that stays on the host of the request (RFC 3986 section 4.2). Clients interpret `//evil.example` as
 * another host, and browsers interpret `/\evil.example` in the same way. A leading `.` segment gives the same path and no
 * host.
 */
function hostlessReference(path: string): string {
  return /^\/[/\\]/.test(path) ? `/.${path}` : path;
}

/** Applies a path modifier to a path. A prefix replacement replaces the PathPrefix of the match. */
export function modifiedPath(path: string, modifier: PathModifier | undefined, match: RouteMatch): string {
  if (modifier === undefined) return path;
  if (modifier.type === 'full') return modifier.value;
  return match.path.type === 'PathPrefix' ? replacePathPrefix(path, match.path.value, modifier.value) : path;
}

/** Encodes the value of a modifier so that it is valid in a request line and in Location, whatever it contained. */
export function sendableModifier(modifier: PathModifier | undefined): PathModifier | undefined {
  if (modifier === undefined) return undefined;
  const value = modifier.value.toWellFormed().replace(/[^\x21-\x7e]|[?#]/gu, encodeURIComponent);
  if (modifier.type === 'prefix') return { type: 'prefix', value };
  return { type: 'full', value: value.startsWith('/') ? value : `/${value}` };
}
