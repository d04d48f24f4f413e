import { backends } from '../graph/backends/backends.ts';
import { readObject } from '../graph/inputs.ts';
import { routeIdentity } from '../graph/matches/precedence.ts';
import type { Layer4RouteKind } from '../graph/protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import { isUnservable } from '../rules/matches/match-places.ts';
import { backendProblem, partProblems, routeValidity } from '../rules/engine/validity.ts';
import { compileAttachments } from './compile-attachments.ts';
import { compileBackendTarget } from './backend-target.ts';
import type { Layer4RouteConfig } from './config.ts';
import { servedWeight } from '../semantics/intended.ts';

/**
 * Compiles a TLSRoute, TCPRoute or UDPRoute for data planes. Yields nothing if it is not attached or not accepted as a
 * whole. Only its first rule is served (TCPRouteSpec.rules, "exactly one").
 */
export function* compileLayer4Route(
  read: Reader,
  kind: Layer4RouteKind,
  namespace: string,
  name: string,
): Iterable<Layer4RouteConfig> {
  const attachments = compileAttachments(read, kind, namespace, name);
  const route = readObject(read, kind, namespace, name);
  if (attachments.length === 0 || route === undefined) return;
  const problems = read.query(partProblems, kind, namespace, name);
  if (isUnservable(problems)) return;

  const failure = read.query(routeValidity, kind, namespace, name).failedRules[0]?.message;
  const nodes = failure === undefined ? (read.query(backends, kind, namespace, name)[0]?.backends ?? []) : [];
  const views = route.spec?.rules?.[0]?.backendRefs ?? [];
  const ofRule = problems.filter(({ part }) => part === 0);
  const { key, route: qualified, created } = routeIdentity(route);
  yield {
    kind: 'layer4Route',
    key,
    route: qualified,
    routeKind: kind,
    created,
    attachments,
    ...(failure === undefined ? {} : { failure }),
    backends: nodes.map(({ outcome }, index) => ({
      weight: servedWeight(views[index]),
      target: compileBackendTarget(outcome, backendProblem(ofRule, index)),
    })),
    generation: route.meta.generation,
  };
}
