import { isService } from '../../graph/backend-object.ts';
import { backends } from '../../graph/backends.ts';
import { failureOf } from '../../graph/protocols.ts';
import { hasSessionAffinity } from '../../graph/session-affinity.ts';
import { quoteRef } from '../../resources/reference.ts';
import { warned } from '../engine/effects.ts';
import { routeRules, unsupportedValueAt } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

export const sessionAffinityConflict = rule({
  id: 'session-affinity-conflict',
  kinds: ['HTTPRoute', 'GRPCRoute'],
  summary: 'A rule has sessionPersistence, and a Service that it forwards to has sessionAffinity.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  source: 'GEP-1619, Session Affinity in K8S Services ("the route MUST be rejected")',
  check(route, read, report) {
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
  },
});
