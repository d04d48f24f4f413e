import { backends, servicePort } from '../../graph/backends/backends.ts';
import type { ServedRouteKind } from '../../graph/protocols.ts';
import type { FilterView, RouteRuleView } from '../../graph/route-views.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { routeRules } from '../engine/parts.ts';

// The features that fields of a route use (Gateway API v1.7.0, pkg/features). Core filters and matches belong to the kind.

/** A feature that a route uses. */
export interface FeatureUse {
  /** The current name, then other names by which a class may list it: former names, and features that include it. */
  readonly names: readonly string[];
  /** The first location that uses it. */
  readonly path: Path;
}

/** Returns the features that a route uses, each once, with the first location in the object. */
export function featureUses(route: Resource<ServedRouteKind>, read: Reader): readonly FeatureUse[] {
  const first = new Map<string, FeatureUse>();
  for (const use of usesIn(route, read)) {
    const [name = ''] = use.names;
    if (!first.has(name)) first.set(name, use);
  }
  return [...first.values()];
}

function* usesIn(route: Resource<ServedRouteKind>, read: Reader): Iterable<FeatureUse> {
  yield { names: [route.kind], path: ['kind'] };
  if (route.kind === 'GRPCRoute') {
    for (const { rule, path } of routeRules(route))
      if (rule.name !== undefined) yield { names: ['GRPCRouteNamedRouteRule'], path: [...path, 'name'] };
    return;
  }
  if (route.kind !== 'HTTPRoute') return;
  for (const [index, { port }] of (route.spec?.parentRefs ?? []).entries()) {
    if (port !== undefined)
      yield {
        names: ['HTTPRouteParentRefPort', 'HTTPRouteDestinationPortMatching'],
        path: ['spec', 'parentRefs', index, 'port'],
      };
  }
  for (const { rule, path } of routeRules(route)) yield* usesInRule(rule, path);
  yield* protocolUses(route, read);
}

function* usesInRule(rule: RouteRuleView<'HTTPRoute'>, path: Path): Iterable<FeatureUse> {
  if (rule.name !== undefined) yield { names: ['HTTPRouteNamedRouteRule'], path: [...path, 'name'] };
  for (const [position, { method, queryParams = [] }] of (rule.matches ?? []).entries()) {
    const at = [...path, 'matches', position];
    if (method !== undefined) yield { names: ['HTTPRouteMethodMatching'], path: [...at, 'method'] };
    if (queryParams.length > 0) yield { names: ['HTTPRouteQueryParamMatching'], path: [...at, 'queryParams'] };
  }
  yield* filterUses(rule.filters ?? [], [...path, 'filters'], filterFeatures);
  yield* timeUses(rule, path);
  for (const [index, { filters }] of (rule.backendRefs ?? []).entries()) {
    if (filters !== undefined)
      yield* filterUses(filters, [...path, 'backendRefs', index, 'filters'], backendFilterFeatures);
  }
}

function* timeUses({ timeouts, retry }: RouteRuleView<'HTTPRoute'>, path: Path): Iterable<FeatureUse> {
  if (timeouts?.request !== undefined)
    yield { names: ['HTTPRouteRequestTimeout'], path: [...path, 'timeouts', 'request'] };
  if (timeouts?.backendRequest !== undefined)
    yield { names: ['HTTPRouteBackendTimeout'], path: [...path, 'timeouts', 'backendRequest'] };
  if (retry === undefined) return;
  // Before v1.7, HTTPRouteRetry was the name for retries by status code.
  if ((retry.codes ?? []).length > 0)
    yield { names: ['HTTPRouteRetryCodes', 'HTTPRouteRetry'], path: [...path, 'retry', 'codes'] };
  else
    yield {
      names: ['HTTPRouteRetryConnectionError', 'HTTPRouteRetryCodes', 'HTTPRouteRetry'],
      path: [...path, 'retry'],
    };
}

/** A field of a filter and the feature that it uses. */
type FieldFeature = readonly [
  feature: string,
  member: keyof FilterView,
  uses: (filter: FilterView) => unknown,
  field?: string,
];

const filterFeatures: readonly FieldFeature[] = [
  [
    'HTTPRouteResponseHeaderModification',
    'responseHeaderModifier',
    ({ responseHeaderModifier }) => responseHeaderModifier,
  ],
  ['HTTPRouteRequestMirror', 'requestMirror', ({ requestMirror }) => requestMirror],
  ['HTTPRouteRequestPercentageMirror', 'requestMirror', ({ requestMirror }) => requestMirror?.percent, 'percent'],
  ['HTTPRouteRequestPercentageMirror', 'requestMirror', ({ requestMirror }) => requestMirror?.fraction, 'fraction'],
  ['HTTPRouteSchemeRedirect', 'requestRedirect', ({ requestRedirect }) => requestRedirect?.scheme, 'scheme'],
  ['HTTPRoutePortRedirect', 'requestRedirect', ({ requestRedirect }) => requestRedirect?.port, 'port'],
  ['HTTPRoutePathRedirect', 'requestRedirect', ({ requestRedirect }) => requestRedirect?.path, 'path'],
  ...[303, 307, 308].map((code): FieldFeature => [
    `HTTPRoute${code}RedirectStatusCode`,
    'requestRedirect',
    ({ requestRedirect }) => requestRedirect?.statusCode === code || undefined,
    'statusCode',
  ]),
  ['HTTPRouteHostRewrite', 'urlRewrite', ({ urlRewrite }) => urlRewrite?.hostname, 'hostname'],
  ['HTTPRoutePathRewrite', 'urlRewrite', ({ urlRewrite }) => urlRewrite?.path, 'path'],
  ['HTTPRouteCORS', 'cors', ({ cors }) => cors],
];

const backendFilterFeatures: readonly FieldFeature[] = [
  [
    'HTTPRouteBackendRequestHeaderModification',
    'requestHeaderModifier',
    ({ requestHeaderModifier }) => requestHeaderModifier,
  ],
  ['HTTPRouteBackendURLRewrite', 'urlRewrite', ({ urlRewrite }) => urlRewrite],
  ...filterFeatures,
];

function* filterUses(
  filters: readonly FilterView[],
  at: Path,
  features: readonly FieldFeature[],
): Iterable<FeatureUse> {
  for (const [index, filter] of filters.entries()) {
    for (const [feature, member, uses, field] of features) {
      if (uses(filter) !== undefined)
        yield { names: [feature], path: [...at, index, member, ...(field === undefined ? [] : [field])] };
    }
  }
  const second = filters.flatMap(({ requestMirror }, index) => (requestMirror === undefined ? [] : [index]))[1];
  if (second !== undefined)
    yield { names: ['HTTPRouteRequestMultipleMirrors'], path: [...at, second, 'requestMirror'] };
}

const protocolFeatures: Readonly<Partial<Record<string, string>>> = {
  'kubernetes.io/h2c': 'HTTPRouteBackendProtocolH2C',
  'kubernetes.io/ws': 'HTTPRouteBackendProtocolWebSocket',
};

function* protocolUses({ kind, ref }: Resource<'HTTPRoute'>, read: Reader): Iterable<FeatureUse> {
  for (const [position, { backends: nodes }] of read.query(backends, kind, ref.namespace, ref.name).entries()) {
    for (const [index, { outcome }] of nodes.entries()) {
      if (outcome.type !== 'service') continue;
      const port = read.query(servicePort, outcome.kind, outcome.namespace, outcome.name, outcome.port);
      const feature = port.type === 'port' ? protocolFeatures[port.appProtocol ?? ''] : undefined;
      if (feature !== undefined) yield { names: [feature], path: ['spec', 'rules', position, 'backendRefs', index] };
    }
  }
}
