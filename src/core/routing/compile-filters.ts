import type { FilterBackends } from '../graph/backends/backends.ts';
import type { ListenerFilterView } from '../graph/listeners/listener-filters.ts';
import type { FilterView } from '../graph/route-views.ts';
import { type ViewAt } from '../schema/index.ts';
import { mirrorShare } from '../semantics/fraction.ts';
import { fitted } from '../text/fitted.ts';
import { headerKey } from '../text/header.ts';
import { canonicalOrigin } from '../text/origin.ts';
import { backendTarget } from './backend-target.ts';
import type {
  AuthorizationFilter,
  BackendFilter,
  CorsFilter,
  HeaderFilter,
  MirrorFilter,
  NamedValue,
  PathModifier,
  RedirectFilter,
  RewriteFilter,
  RouteFilter,
} from './config.ts';
import { corsMaxAge, redirectStatus } from '../semantics/intended.ts';

/**
 * Compiles the filters of a rule in order. `targets` are the backends that they refer to. Filters of unsupported types are
 * left out: they have already made the rule fail.
 */
export function compileFilters(
  filters: readonly FilterView[] | undefined,
  targets: FilterBackends,
): readonly RouteFilter[] {
  return fitted((filters ?? []).flatMap((filter, index) => compileFilter(filter, targets[index])));
}

/** Compiles the filters of a listener in order. Filters of unsupported types are left out: the listener already fails. */
export function compileListenerFilters(
  filters: readonly ListenerFilterView[],
  authorizers: FilterBackends,
): readonly AuthorizationFilter[] {
  return compileFilters(filters, authorizers).filter((filter) => filter.type === 'authorization');
}

/** Compiles the filters of a backendRef in order. */
export function compileBackendFilters(
  filters: readonly FilterView[] | undefined,
  mirrors: FilterBackends,
): readonly BackendFilter[] {
  return compileFilters(filters, mirrors).filter(
    (filter) => filter.type !== 'redirect' && filter.type !== 'cors' && filter.type !== 'authorization',
  );
}

function compileFilter(filter: FilterView, target: FilterBackends[number] | undefined): readonly RouteFilter[] {
  switch (filter.type) {
    case 'RequestHeaderModifier':
      return [headerFilter('requestHeaders', filter.requestHeaderModifier)];
    case 'ResponseHeaderModifier':
      return [headerFilter('responseHeaders', filter.responseHeaderModifier)];
    case 'RequestRedirect':
      return [redirectFilter(filter.requestRedirect)];
    case 'URLRewrite':
      return [rewriteFilter(filter.urlRewrite)];
    case 'RequestMirror':
      return target === undefined ? [] : [mirrorFilter(filter.requestMirror, target)];
    case 'CORS':
      return [corsFilter(filter.cors)];
    case 'ExternalAuth':
      return [authorizationFilter(filter.externalAuth, target)];
    case undefined:
    default:
      return [];
  }
}

function redirectFilter({
  scheme,
  hostname,
  path,
  port,
  statusCode,
}: NonNullable<FilterView['requestRedirect']> = {}): RedirectFilter {
  const modifier = pathModifier(path);
  return {
    type: 'redirect',
    ...(scheme === undefined ? {} : { scheme }),
    ...(hostname === undefined ? {} : { hostname }),
    ...(modifier === undefined ? {} : { path: modifier }),
    ...(port === undefined ? {} : { port }),
    statusCode: redirectStatus({ statusCode }),
  };
}

function rewriteFilter({ hostname, path }: NonNullable<FilterView['urlRewrite']> = {}): RewriteFilter {
  const modifier = pathModifier(path);
  return {
    type: 'rewrite',
    ...(hostname === undefined ? {} : { hostname }),
    ...(modifier === undefined ? {} : { path: modifier }),
  };
}

function mirrorFilter(
  view: NonNullable<FilterView['requestMirror']> = {},
  mirrored: FilterBackends[number],
): MirrorFilter {
  return { type: 'mirror', target: backendTarget(mirrored.outcome), ...mirrorShare(view) };
}

function corsFilter({
  allowOrigins,
  allowCredentials,
  allowMethods,
  allowHeaders,
  exposeHeaders,
  maxAge,
}: NonNullable<FilterView['cors']> = {}): CorsFilter {
  return {
    type: 'cors',
    allowOrigins: [...new Set((allowOrigins ?? []).flatMap((origin) => canonicalOrigin(origin) ?? []))],
    allowCredentials: allowCredentials ?? false,
    allowMethods: allowMethods ?? [],
    allowHeaders: allowHeaders ?? [],
    exposeHeaders: exposeHeaders ?? [],
    maxAge: corsMaxAge({ maxAge }),
  };
}

/** A filter without a target permits no request. */
function authorizationFilter(
  { protocol, http, grpc, forwardBody }: NonNullable<FilterView['externalAuth']> = {},
  target: FilterBackends[number] | undefined,
): AuthorizationFilter {
  return {
    type: 'authorization',
    target: target === undefined ? { type: 'invalid', reason: 'absent' } : backendTarget(target.outcome),
    protocol: protocol === 'GRPC' ? 'grpc' : 'http',
    requestHeaders: (protocol === 'GRPC' ? grpc : http)?.allowedHeaders ?? [],
    responseHeaders: http?.allowedResponseHeaders ?? [],
    path: http?.path ?? '',
    maxBody: forwardBody?.maxSize ?? 0,
  };
}

type HeaderModifierView = FilterView['requestHeaderModifier'];

function headerFilter(type: HeaderFilter['type'], view: HeaderModifierView): HeaderFilter {
  return { type, set: namedValues(view?.set), add: namedValues(view?.add), remove: view?.remove ?? [] };
}

/** Only the first of several entries with equivalent names is used (HTTPHeader.name). */
function namedValues(views: NonNullable<HeaderModifierView>['set']): readonly NamedValue[] {
  const first = new Map<string, NamedValue>();
  for (const { name = '', value = '' } of views ?? []) {
    const key = headerKey(name);
    if (!first.has(key)) first.set(key, { name, value });
  }
  return [...first.values()];
}

type PathModifierView = ViewAt<'HTTPRoute', 'spec.rules[].filters[].urlRewrite.path'>;

function pathModifier(view: PathModifierView | undefined): PathModifier | undefined {
  if (view?.type === 'ReplaceFullPath') return { type: 'full', value: view.replaceFullPath ?? '' };
  if (view?.type === 'ReplacePrefixMatch') return { type: 'prefix', value: view.replacePrefixMatch ?? '' };
  return undefined;
}
