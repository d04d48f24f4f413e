import { fieldsWhere } from '../../text/fields.ts';
import type { Fields } from '../../text/fields.ts';
import { headerKey } from '../../text/header.ts';
import type { CorsFilter } from '../config.ts';
import { defaultPortOf } from '../../text/origin.ts';

/** The parts of a request that determine cross-origin access. */
export interface CorsRequest {
  readonly method: string;
  header(lowerName: string): string | undefined;
}

/** A CORS filter prepared for use (HTTPCORSFilter; the CORS protocol of the Fetch standard). */
export interface Cors {
  /** The response fields for a preflight request; `undefined` for any other request. */
  preflight(request: CorsRequest): string[] | undefined;
  /** The fields of a backend's response, with those that tell the browser whether it may read the response. */
  respond(fields: Fields, request: CorsRequest): string[];
}

/** Fields that only the filter sets; those of a backend's response are dropped. */
const decided: ReadonlySet<string> = new Set([
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-expose-headers',
  'access-control-max-age',
]);

/** Prepares a CORS filter. */
export function compileCors(filter: CorsFilter): Cors {
  const origins = new AllowedOrigins(filter.allowOrigins);
  const isForAll = origins.any && !filter.allowCredentials;
  const shared: readonly string[] = [
    ...(filter.allowCredentials ? ['access-control-allow-credentials', 'true'] : []),
    ...list('access-control-expose-headers', exposable(filter)),
  ];
  const granted = (origin: string): string[] => ['access-control-allow-origin', isForAll ? '*' : origin, ...shared];
  const vary = isForAll ? [] : ['vary', 'Origin'];

  return {
    preflight(request) {
      const origin = request.header('origin');
      const method = request.header('access-control-request-method');
      if (request.method !== 'OPTIONS' || origin === undefined || method === undefined) return undefined;
      if (!origins.include(origin)) return [...vary];
      return [
        ...granted(origin),
        ...vary,
        ...list('access-control-allow-methods', named(filter, filter.allowMethods, method)),
        ...list(
          'access-control-allow-headers',
          named(filter, filter.allowHeaders, request.header('access-control-request-headers')),
        ),
        'access-control-max-age',
        String(filter.maxAge),
      ];
    },
    respond(fields, request) {
      const origin = request.header('origin');
      const kept = fieldsWhere(fields, (key) => !decided.has(key));
      if (origin !== undefined && origins.include(origin)) kept.push(...granted(origin));
      kept.push(...vary);
      return kept;
    },
  };
}

/** With credentials, `*` is an ordinary name, so the requested name is returned instead. */
function named(
  { allowCredentials }: CorsFilter,
  allowed: readonly string[],
  requested: string | undefined,
): readonly string[] {
  if (!allowed.includes('*') || !allowCredentials) return allowed;
  return requested === undefined ? [] : [requested];
}

/** A request does not name the fields to expose, so with credentials there is no replacement for `*`. */
function exposable({ allowCredentials, exposeHeaders }: CorsFilter): readonly string[] {
  return allowCredentials ? exposeHeaders.filter((name) => name !== '*') : exposeHeaders;
}

function list(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [name, values.join(', ')];
}

/** The origins of a filter: exact ones, and hosts with a wildcard for any number of labels on the left. */
class AllowedOrigins {
  /** Whether `*` allows every origin, including `null`. */
  readonly any: boolean;
  private readonly exact = new Set<string>();
  private readonly wildcards: readonly { readonly scheme: string; readonly suffix: string }[];

  constructor(allowed: readonly string[]) {
    this.any = allowed.includes('*');
    const wildcards: { scheme: string; suffix: string }[] = [];
    for (const origin of allowed.map(withPort)) {
      const [scheme = '', host = ''] = origin.split('://');
      if (host.startsWith('*')) wildcards.push({ scheme: `${scheme}://`, suffix: host.slice(1) });
      else this.exact.add(origin);
    }
    this.wildcards = wildcards;
  }

  include(origin: string): boolean {
    if (this.any) return true;
    const requested = withPort(headerKey(origin));
    // The wildcard stands for at least one character.
    return (
      this.exact.has(requested) ||
      this.wildcards.some(
        ({ scheme, suffix }) =>
          requested.startsWith(scheme) &&
          requested.endsWith(suffix) &&
          requested.length > scheme.length + suffix.length,
      )
    );
  }
}

/** An origin with the port that its scheme implies (HTTPCORSFilter.allowOrigins). */
function withPort(origin: string): string {
  if (/:\d+$/.test(origin)) return origin;
  const port = defaultPortOf(origin.slice(0, Math.max(0, origin.indexOf('://'))));
  return port === undefined ? origin : `${origin}:${port}`;
}
