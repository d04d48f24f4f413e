import { isService, type BackendObject } from '../../graph/backends/backend-object.ts';
import { trafficPolicyOf } from '../../graph/backends/backend-policies.ts';
import { backends } from '../../graph/backends/backends.ts';
import { readObject } from '../../graph/inputs.ts';
import { requestRouteKinds } from '../../graph/protocols.ts';
import type { Reader } from '../../incremental/reader.ts';
import { quoteRef, type ObjectRef } from '../../resources/reference.ts';
import { warned } from '../engine/effects.ts';
import { routeRules } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

export const sessionOverridden = rule({
  id: 'session-overridden',
  kinds: requestRouteKinds,
  summary:
    'A rule and its XBackend, or the policy of its backend, have sessionPersistence, so only that of the rule applies.',
  effect: warned,
  source:
    'GEP-1619, Attaching Session Persistence to both Service and a Route Rule; v1.7.0: "How these implementations handle the intersection is left to the implementation"',
  check(route, read, report) {
    const { namespace, name } = route.ref;
    for (const [index, { rule: routeRule, path }] of routeRules(route).entries()) {
      if (routeRule.sessionPersistence === undefined) continue;
      for (const { outcome, target } of read.query(backends, route.kind, namespace, name)[index]?.backends ?? []) {
        const other = outcome.type === 'service' ? sessionOwner(read, outcome) : undefined;
        if (other === undefined) continue;
        const forTarget = other.kind === target.kind ? '' : ` for ${quoteRef(target)}`;
        report({
          path: [...path, 'sessionPersistence'],
          message: `sessionPersistence of the rule takes precedence over that of ${quoteRef(other)}${forTarget}. Remove one of them.`,
        });
      }
    }
  },
});

/** Returns the object with the session persistence of a backend: its policy, or the XBackend itself; `undefined` without one. */
function sessionOwner(
  read: Reader,
  backend: BackendObject,
): Pick<ObjectRef, 'kind' | 'namespace' | 'name'> | undefined {
  const { namespace } = backend;
  const { kind, name } = isService(backend)
    ? {
        kind: 'XBackendTrafficPolicy' as const,
        name: read.query(trafficPolicyOf, backend.kind, namespace, backend.name),
      }
    : { kind: 'XBackend' as const, name: backend.name };
  if (name === undefined || readObject(read, kind, namespace, name)?.spec?.sessionPersistence === undefined)
    return undefined;
  return { kind, namespace, name };
}
