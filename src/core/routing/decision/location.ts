import { replacePathPrefix } from '../../text/path.ts';
import type { ListenerConfig, PathModifier, RedirectFilter, RouteMatch } from '../config.ts';

/** What of a request a redirect goes by. */
export interface RequestedUrl {
  /** In lower case, without port. */
  readonly host: string;
  /** Normalised, without query. */
  readonly path: string;
  /** The query with its question mark, or `''`. */
  readonly search: string;
}

const wellKnownPorts: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * The Location of a redirected request (Gateway API HTTPRequestRedirectFilter). Without a port of its own the
 * redirect leads to the well-known port of its scheme, or, where the scheme stays, to the port of the listener; a
 * port that the scheme implies is not written. The query stays.
 */
export function redirectLocation(redirect: RedirectFilter, listener: ListenerConfig, head: RequestedUrl, match: RouteMatch): string {
  const path = `${modifiedPath(head.path, redirect.path, match)}${head.search}`;
  const hostname = redirect.hostname ?? head.host;
  // An HTTP/1.0 client may have named no host. All that is left is a reference that is relative to its own request.
  if (hostname === '') return hostlessReference(path);
  const scheme = redirect.scheme ?? (listener.protocol === 'HTTPS' ? 'https' : 'http');
  const wellKnown = wellKnownPorts[scheme];
  const port = redirect.port ?? (redirect.scheme === undefined ? listener.port : (wellKnown ?? listener.port));
  const authority = hostname.includes(':') ? `[${hostname}]` : hostname;
  return `${scheme}://${authority}${port === wellKnown ? '' : `:${port}`}${path}`;
}

/**
 * A relative reference that stays on the host of the request (RFC 3986 section 4.2). Clients read `//evil.example` as another
 * host, and browsers read `/\evil.example` in the same way. The segment `.` in front leads to the same path and names no host.
 */
function hostlessReference(path: string): string {
  return /^\/[/\\]/.test(path) ? `/.${path}` : path;
}

/** A path after a path modifier; a prefix is replaced as far as the match's PathPrefix goes. */
export function modifiedPath(path: string, modifier: PathModifier | undefined, match: RouteMatch): string {
  if (modifier === undefined) return path;
  if (modifier.type === 'full') return modifier.value;
  return match.path.type === 'PathPrefix' ? replacePathPrefix(path, match.path.value, modifier.value) : path;
}

/** A modifier whose value can stand in a request line and in Location, whatever was written in it. */
export function sendableModifier(modifier: PathModifier | undefined): PathModifier | undefined {
  if (modifier === undefined) return undefined;
  const value = modifier.value.toWellFormed().replace(/[^\x21-\x7e]|[?#]/gu, encodeURIComponent);
  if (modifier.type === 'prefix') return { type: 'prefix', value };
  return { type: 'full', value: value.startsWith('/') ? value : `/${value}` };
}
