import type { ListenerFilterView } from '../../graph/listeners/listener-filters.ts';
import { failureOf, type RequestRouteKind } from '../../graph/protocols.ts';
import type { FilterView } from '../../graph/route-views.ts';
import type { Path } from '../../resources/path.ts';
import { shareOf } from '../../semantics/fraction.ts';
import { display, quote } from '../../text/display.ts';
import { headerKey, isToken } from '../../text/header.ts';
import { preciseHostnameProblems, type HostnameProblemKind } from '../../text/hostname.ts';
import { canonicalOrigin } from '../../text/origin.ts';
import { pathProblems } from '../../text/path.ts';
import { advice, expectOneOf, expectWithin } from './known-values.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import type { ReportFinding } from '../engine/rule.ts';

const everywhere = ['RequestHeaderModifier', 'ResponseHeaderModifier', 'RequestMirror'];

/** The supported filters of listeners. */
const servedByListeners = ['ExternalAuth'];

/** The supported filters on rules and backendRefs of each kind. */
const served: Readonly<
  Record<RequestRouteKind, { readonly onRule: readonly string[]; readonly onBackend: readonly string[] }>
> = {
  HTTPRoute: {
    onRule: [...everywhere, 'RequestRedirect', 'URLRewrite', 'CORS', 'ExternalAuth'],
    onBackend: [...everywhere, 'URLRewrite'],
  },
  GRPCRoute: { onRule: everywhere, onBackend: everywhere },
};
const pathModifierTypes = ['ReplaceFullPath', 'ReplacePrefixMatch'];
const redirectSchemes = ['http', 'https'];
const redirectCodes = [301, 302, 303, 307, 308];
const authorizationProtocols = ['HTTP', 'GRPC'];
/** The maximum number of bytes of a request body that is buffered for authorization. */
const longestForwardedBody = 1024 * 1024;

export interface FilterPlace {
  /** The kind of the route. */
  readonly kind: RequestRouteKind;
  readonly path: Path;
}

/** Reports unsupported settings of a filter of a rule or backendRef. */
export function checkFilter(filter: FilterView, place: FilterPlace, report: ReportFinding): void {
  checkFilterType(filter.type ?? '', place, report);
  const at = place.path;
  for (const member of ['requestRedirect', 'urlRewrite'] as const) {
    const modifier = filter[member]?.path;
    if (modifier !== undefined)
      expectOneOf(
        pathModifierTypes,
        { what: 'path modifier', value: modifier.type ?? '', path: () => [...at, member, 'path', 'type'] },
        report,
      );
    checkHostname(filter[member]?.hostname, () => [...at, member, 'hostname'], report);
  }
  if (filter.requestRedirect !== undefined) checkRedirect(filter.requestRedirect, [...at, 'requestRedirect'], report);
  if (filter.requestMirror !== undefined) checkMirror(filter.requestMirror, [...at, 'requestMirror'], report);
  if (filter.cors !== undefined) checkCors(filter.cors, [...at, 'cors'], report);
  if (filter.externalAuth !== undefined) checkExternalAuth(filter.externalAuth, [...at, 'externalAuth'], report);
}

/** Reports unsupported settings of a filter of a listener. `path` is the location of the filter. */
export function checkListenerFilter(
  { type = '', externalAuth }: ListenerFilterView,
  path: Path,
  report: ReportFinding,
): void {
  expectOneOf(servedByListeners, { what: 'filter type', value: type, path: () => [...path, 'type'] }, report);
  if (externalAuth === undefined) return;
  const at = [...path, 'externalAuth'];
  checkExternalAuth(externalAuth, at, report);
  for (const [index, name] of (externalAuth.http?.allowedResponseHeaders ?? []).entries()) {
    if (headerKey(name) !== 'host') continue;
    const place = [...at, 'http', 'allowedResponseHeaders', index];
    report({
      path: place,
      value: display(name),
      consequence: unsupportedValueAt(place),
      message: `Invalid header ${quote(name)}: a filter of a listener must not change Host, so requests of the listener get an error. Remove the entry.`,
    });
  }
}

function checkFilterType(type: string, { kind, path: at }: FilterPlace, report: ReportFinding): void {
  const onBackend = at.includes('backendRefs');
  const known = served[kind][onBackend ? 'onBackend' : 'onRule'];
  if (known.includes(type)) return;
  const path = [...at, 'type'];
  const unsupported = unsupportedValueAt(path);
  report({
    path,
    value: display(type),
    // An ExtensionRef is a reference. A reference to an unknown kind does not resolve (GEP-1364).
    consequence:
      type === 'ExtensionRef' ? { ...unsupported, condition: 'ResolvedRefs', reason: 'InvalidKind' } : unsupported,
    message: `Unsupported filter type ${quote(type)}${onBackend ? ' on a backendRef' : ''}: its requests are ${failureOf[kind].fate}. ${advice(type, known)}`,
  });
}

/** Other problems of a hostname are harmless, but these would become part of a header or URL. */
const unusable: ReadonlySet<string> = new Set<HostnameProblemKind>(['character', 'empty', 'wildcard']);

function checkHostname(hostname: string | undefined, pathOf: () => Path, report: ReportFinding): void {
  if (hostname === undefined) return;
  const problem = preciseHostnameProblems(hostname).find(({ kind }) => unusable.has(kind));
  if (problem === undefined) return;
  const path = pathOf();
  report({
    path,
    value: display(hostname),
    consequence: unsupportedValueAt(path),
    message: `Invalid hostname ${quote(hostname)}: ${problem.message}.`,
  });
}

type Member<K extends keyof FilterView> = NonNullable<FilterView[K]>;

function checkRedirect({ scheme, statusCode, port }: Member<'requestRedirect'>, at: Path, report: ReportFinding): void {
  expectOneOf(redirectSchemes, { what: 'scheme', value: scheme, path: () => [...at, 'scheme'] }, report);
  expectOneOf(
    redirectCodes.map(String),
    { what: 'status code of a redirect', value: statusCode?.toString(), path: () => [...at, 'statusCode'] },
    report,
  );
  expectWithin([1, 65_535], { what: 'port', value: port, path: () => [...at, 'port'] }, report);
}

function checkMirror({ percent, fraction }: Member<'requestMirror'>, at: Path, report: ReportFinding): void {
  expectWithin([0, 100], { what: 'percentage', value: percent, path: () => [...at, 'percent'] }, report);
  if (fraction === undefined) return;
  if (percent !== undefined) {
    const path = [...at, 'percent'];
    report({
      path,
      value: String(percent),
      consequence: unsupportedValueAt(path),
      message:
        'percent conflicts with fraction: both set the share of requests to mirror, so requests that match this rule get an error. Remove one of them.',
    });
  }
  const { numerator, denominator } = shareOf(fraction);
  expectWithin(
    [1, Infinity],
    { what: 'denominator', value: denominator, path: () => [...at, 'fraction', 'denominator'] },
    report,
  );
  expectWithin(
    [0, Math.max(0, denominator)],
    { what: 'numerator', value: numerator, path: () => [...at, 'fraction', 'numerator'] },
    report,
  );
}

function checkCors(
  { allowOrigins, allowMethods, allowHeaders, exposeHeaders, maxAge }: Member<'cors'>,
  at: Path,
  report: ReportFinding,
): void {
  for (const [index, origin] of (allowOrigins ?? []).entries()) {
    if (canonicalOrigin(origin) !== undefined) continue;
    const path = [...at, 'allowOrigins', index];
    report({
      path,
      value: display(origin),
      consequence: unsupportedValueAt(path),
      message: `Invalid origin ${quote(origin)}: requests that match this rule get an error. Use scheme and host, for example https://shop.example.com or https://*.example.com, or use "*".`,
    });
  }
  // All three become headers. "*" is also a token.
  for (const [field, names] of Object.entries({ allowMethods, allowHeaders, exposeHeaders })) {
    for (const [index, name] of (names ?? []).entries()) {
      if (isToken(name)) continue;
      const path = [...at, field, index];
      report({
        path,
        value: display(name),
        consequence: unsupportedValueAt(path),
        message: `Invalid method or header name ${quote(name)}: requests that match this rule get an error. Use a name such as PATCH or x-request-id, or use "*".`,
      });
    }
  }
  expectWithin([1, Infinity], { what: 'age', value: maxAge, path: () => [...at, 'maxAge'] }, report);
}

function checkExternalAuth(
  { protocol, http, forwardBody }: Member<'externalAuth'>,
  at: Path,
  report: ReportFinding,
): void {
  expectOneOf(
    authorizationProtocols,
    { what: 'protocol of an authorization server', value: protocol ?? '', path: () => [...at, 'protocol'] },
    report,
  );
  expectWithin(
    [0, longestForwardedBody],
    { what: 'maxSize', value: forwardBody?.maxSize, path: () => [...at, 'forwardBody', 'maxSize'] },
    report,
  );
  const prefix = http?.path;
  if (prefix === undefined || pathProblems(prefix.startsWith('/') ? prefix : `/${prefix}`).length === 0) return;
  const path = [...at, 'http', 'path'];
  report({
    path,
    value: display(prefix),
    consequence: unsupportedValueAt(path),
    message: `Invalid path ${quote(prefix)}: its requests get an error. Use a prefix such as /authorize.`,
  });
}
