import { attachments } from '../graph/attachment.ts';
import { backends, endpoints, type BackendNode } from '../graph/backends.ts';
import { isOurGateway, listenersOf } from '../graph/gateway.ts';
import { objectsOf, readObject } from '../graph/inputs.ts';
import { terminatesTls, type ServedRouteKind } from '../graph/protocols.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission } from '../incremental/index.ts';
import type { Emitted, Reader } from '../incremental/reader.ts';
import { backendProblem, listenerKey, listenerValidity, partProblems, portsInUse, routeValidity, type PartProblem } from '../rules/validity.ts';
import { compileFilters, compileHeaderFilters } from './compile-filters.ts';
import { compileMatches } from './compile-matches.ts';
import { parseDuration } from '../text/duration.ts';
import type { ConfigKey, ConfigResource, EndpointsConfig, ListenerConfig, RouteAttachment, RouteBackend, RouteConfig, RouteRule } from './config.ts';
import { isLost, type Resource } from '../resources/resource.ts';

/**
 * The configuration of all data planes as keyed resources: listeners by Gateway, routes, endpoints by Service port.
 * One changed object changes its own resources only.
 */
export const configuration = defineEmission<ConfigResource>({
  name: 'configuration',
  stratum: strata.emissions,
  over: objectsOf('Gateway', 'HTTPRoute', 'Service'),
  emit(read, kind = '', namespace = '', name = '') {
    switch (kind) {
      case 'Gateway':
        return keyed(gatewayListeners(read, namespace, name));
      case 'Service':
        return keyed(serviceEndpoints(read, namespace, name));
      default:
        return keyed(routes(read, kind, namespace, name));
    }
  },
});

function* keyed(resources: Iterable<ConfigResource>): Iterable<Emitted<ConfigResource>> {
  for (const resource of resources) yield { key: resource.key, value: resource };
}

function* gatewayListeners(read: Reader, namespace: string, name: string): Iterable<ListenerConfig> {
  if (!read.query(isOurGateway, namespace, name)) return;
  const gateway = readObject(read, 'Gateway', namespace, name);
  const problems = read.query(partProblems, 'Gateway', namespace, name);
  if (gateway === undefined || problems.some((problem) => problem.scope === 'object' && problem.condition === 'Accepted')) return;
  for (const listener of listenersOf(read, namespace, name)) {
    const validity = listenerValidity(problems, listener.index);
    if (validity.accepted !== undefined || validity.conflicted !== undefined) continue;
    const tls = terminatesTls(listener.protocol);
    const certificates = listener.certificates.flatMap((certificate) => (certificate.type === 'usable' ? [certificate.secret] : []));
    // Without a certificate no handshake could succeed; the listener says so in ResolvedRefs.
    if (tls && certificates.length === 0) continue;
    yield {
      kind: 'listener',
      key: listenerKey(namespace, name, listener.name),
      gateway: `${namespace}/${name}`,
      owner: `Gateway/${namespace}/${name}`,
      name: listener.name,
      port: listener.port,
      protocol: tls ? 'HTTPS' : 'HTTP',
      ...(listener.hostname === undefined ? {} : { hostname: listener.hostname }),
      certificates: tls ? certificates : [],
      generation: gateway.meta.generation,
    };
  }
}

/** The configuration key of a Service port's endpoints. */
export function endpointsKey(namespace: string, service: string, port: number | string): ConfigKey {
  return `endpoints/${namespace}/${service}/${port}`;
}

function* serviceEndpoints(read: Reader, namespace: string, name: string): Iterable<EndpointsConfig> {
  for (const port of read.list(portsInUse, `${namespace}/${name}`)) {
    yield { kind: 'endpoints', key: endpointsKey(namespace, name, port), addresses: read.query(endpoints, namespace, name, port) };
  }
}

function* routes(read: Reader, kind: string, namespace: string, name: string): Iterable<RouteConfig> {
  const attached = read.query(attachments, kind, namespace, name).flatMap(({ parent, outcome }): RouteAttachment[] =>
    outcome.type === 'attached'
      ? outcome.listeners.map((listener) => ({ listener: listenerKey(parent.namespace, parent.name, listener.name), hostnames: listener.hostnames }))
      : [],
  );
  const route = readObject(read, kind as ServedRouteKind, namespace, name);
  if (attached.length === 0 || route === undefined) return;
  const problems = read.query(partProblems, kind, namespace, name);
  if (problems.some((problem) => problem.scope === 'object' && problem.condition === 'Accepted')) return;

  const { failedRules } = read.query(routeValidity, kind, namespace, name);
  const nodes = read.query(backends, kind, namespace, name);
  const rules = (route.spec?.rules ?? []).map((rule, index) =>
    compileRule(rule, {
      index,
      // A rule whose matches cannot be read must not answer for requests that it may never have been meant for.
      matchesLost: isLost(route, ['spec', 'rules', index, 'matches']),
      failure: failedRules[index]?.message,
      problems: problems.filter((problem) => problem.part === index),
      backends: nodes[index] ?? [],
    }),
  );
  yield {
    kind: 'route',
    key: `route/${kind}/${namespace}/${name}`,
    route: `${namespace}/${name}`,
    created: route.meta.created,
    attachments: mergeAttachments(attached),
    rules,
    generation: route.meta.generation,
  };
}

/** Two parentRefs may lead to one listener; the data plane wants each listener once. */
function mergeAttachments(attached: readonly RouteAttachment[]): readonly RouteAttachment[] {
  const byListener = new Map(attached.map((attachment) => [attachment.listener, attachment]));
  return [...byListener.values()];
}

type RuleView = NonNullable<NonNullable<Resource<'HTTPRoute'>['spec']>['rules']>[number];

interface RuleContext {
  readonly index: number;
  readonly matchesLost: boolean;
  readonly failure: string | undefined;
  readonly problems: readonly PartProblem[];
  readonly backends: readonly BackendNode[];
}

function compileRule(rule: RuleView, context: RuleContext): RouteRule {
  const { index, failure, problems, matchesLost } = context;
  const isInvalid = (match: number): boolean => problems.some((problem) => problem.scope === 'match' && problem.member === match);
  const requestTimeout = milliseconds(rule.timeouts?.request);
  const backendRequestTimeout = milliseconds(rule.timeouts?.backendRequest);
  return {
    index,
    ...(rule.name === undefined ? {} : { name: rule.name }),
    matches: matchesLost ? [] : compileMatches(rule.matches, isInvalid),
    ...(failure === undefined ? {} : { failure }),
    filters: failure === undefined ? compileFilters(rule.filters) : [],
    backends: failure === undefined ? context.backends.map((node, backend) => compileBackend(rule, node, { ...context, backend })) : [],
    ...(requestTimeout === undefined ? {} : { requestTimeout }),
    ...(backendRequestTimeout === undefined ? {} : { backendRequestTimeout }),
  };
}

function milliseconds(duration: string | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const parsed = parseDuration(duration);
  return parsed.ok ? parsed.milliseconds : undefined;
}

function compileBackend(rule: RuleView, node: BackendNode, context: RuleContext & { readonly backend: number }): RouteBackend {
  const view = rule.backendRefs?.[context.backend];
  const weight = Math.max(0, view?.weight ?? 1);
  const problem = backendProblem(context.problems, context.backend);
  const { outcome } = node;
  if (problem !== undefined || outcome.type !== 'service') {
    return { weight, target: { type: 'invalid', reason: problem?.reason ?? outcome.type }, filters: [] };
  }
  return { weight, target: { type: 'endpoints', key: endpointsKey(outcome.namespace, outcome.name, outcome.port) }, filters: compileHeaderFilters(view?.filters) };
}
