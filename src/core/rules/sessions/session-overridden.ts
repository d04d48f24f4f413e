import { isService } from '../../graph/backend-object.ts';
import { trafficPolicyOf } from '../../graph/backend-policies.ts';
import { backends } from '../../graph/backends.ts';
import { readObject } from '../../graph/inputs.ts';
import { requestRouteKinds } from '../../graph/protocols.ts';
import { quoteRef } from '../../resources/reference.ts';
import { warned } from '../engine/effects.ts';
import { routeRules } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

export const sessionOverridden = rule({
  id: 'session-overridden',
  kinds: requestRouteKinds,
  summary: 'A rule and the policy of its backend both have sessionPersistence, so that of the policy is ignored.',
  effect: warned,
  source: 'GEP-1619, Attaching Session Persistence to both Service and a Route Rule',
  check(route, read, report) {
    const { namespace, name } = route.ref;
    for (const [index, { rule: routeRule, path }] of routeRules(route).entries()) {
      if (routeRule.sessionPersistence === undefined) continue;
      for (const { outcome, target } of read.query(backends, route.kind, namespace, name)[index]?.backends ?? []) {
        if (outcome.type !== 'service' || !isService(outcome)) continue;
        const policy = read.query(trafficPolicyOf, outcome.kind, outcome.namespace, outcome.name);
        if (policy === undefined) continue;
        const kind = 'XBackendTrafficPolicy';
        if (readObject(read, kind, outcome.namespace, policy)?.spec?.sessionPersistence === undefined) continue;
        report({
          path: [...path, 'sessionPersistence'],
          message: `sessionPersistence of the rule takes precedence over that of ${quoteRef({ kind, namespace: outcome.namespace, name: policy })} for ${quoteRef(target)}. Remove one of them.`,
        });
      }
    }
  },
});
