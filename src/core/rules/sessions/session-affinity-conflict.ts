import { isService } from '../../graph/backends/backend-object.ts';
import { targetedBackend } from '../../graph/backends/backend-policies.ts';
import { backends } from '../../graph/backends/backends.ts';
import { failureOf, requestRouteKinds, type RequestRouteKind } from '../../graph/protocols.ts';
import { hasSessionAffinity } from '../../graph/backends/session-affinity.ts';
import type { Reader } from '../../incremental/reader.ts';
import { quoteRef } from '../../resources/reference.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { invalidObject, routeRules, unsupportedValueAt } from '../engine/parts.ts';
import { rule, type ReportFinding } from '../engine/rule.ts';

export const sessionAffinityConflict = rule({
  id: 'session-affinity-conflict',
  // The sessionAffinity of the Service that finds the pods of an XBackend is ignored (EndpointSelectorBackend).
  kinds: [...requestRouteKinds, 'XBackendTrafficPolicy'],
  summary: 'A rule or policy has sessionPersistence, and a Service that it applies to has sessionAffinity.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['reason', 'scope'],
  source: 'GEP-1619, Session Affinity in K8S Services ("the route MUST be rejected")',
  check(subject, read, report) {
    if (subject.kind === 'XBackendTrafficPolicy') checkPolicy(subject, read, report);
    else checkRoute(subject, read, report);
  },
});

function checkRoute(route: Resource<RequestRouteKind>, read: Reader, report: ReportFinding): void {
  const { namespace, name } = route.ref;
  for (const [index, { rule: routeRule, path }] of routeRules(route).entries()) {
    if (routeRule.sessionPersistence === undefined) continue;
    const nodes = read.query(backends, route.kind, namespace, name)[index]?.backends ?? [];
    const conflicting = nodes.find(
      ({ outcome }) =>
        outcome.type === 'service' &&
        isService(outcome) &&
        read.query(hasSessionAffinity, outcome.kind, outcome.namespace, outcome.name),
    );
    if (conflicting === undefined) continue;
    const { traffic, fate } = failureOf[route.kind];
    report({
      path: [...path, 'sessionPersistence'],
      consequence: unsupportedValueAt(path),
      message: `sessionPersistence conflicts with sessionAffinity: ClientIP of ${quoteRef(conflicting.target)}, so all ${traffic} that match this rule are ${fate}. Set sessionAffinity: None, or remove sessionPersistence.`,
    });
  }
}

function checkPolicy(
  { spec, ref: { namespace } }: Resource<'XBackendTrafficPolicy'>,
  read: Reader,
  report: ReportFinding,
): void {
  if (spec?.sessionPersistence === undefined) return;
  for (const [index, target] of (spec.targetRefs ?? []).entries()) {
    const backend = targetedBackend(target, namespace);
    if (backend === undefined || !read.query(hasSessionAffinity, backend.kind, namespace, backend.name)) continue;
    report({
      path: ['spec', 'targetRefs', index],
      consequence: { ...invalidObject, scope: 'target' },
      message: `sessionPersistence conflicts with sessionAffinity: ClientIP of ${quoteRef(backend)}, so the policy does not apply to this target. Set sessionAffinity: None, or remove sessionPersistence.`,
    });
  }
}
