import type { Path } from '../resources/path.ts';
import type { Resource } from '../resources/resource.ts';
import { routeRules } from './parts.ts';
import { rule } from './rule.ts';

/** Leaving these out lets no request go astray, so everything else works without them, and the owner is told. */
export const featureWithoutEffect = rule({
  id: 'feature-without-effect',
  kinds: ['HTTPRoute', 'Gateway'],
  about: 'dialect',
  summary: 'The object asks for a feature that is not served yet; everything else works.',
  effect: { audit: 'record', standard: 'warn', strict: 'warn' },
  source: 'Gateway API v1.7.0, HTTPRouteRule.sessionPersistence, GatewaySpec.allowedListeners and .defaultScope (extended support)',
  check(subject, _read, report) {
    const places = subject.kind === 'HTTPRoute' ? inRoute(subject as Resource<'HTTPRoute'>) : inGateway(subject as Resource<'Gateway'>);
    for (const path of places) {
      report({ path, message: `${String(path.at(-1))} is not served yet and has no effect; everything else works without it. Remove it unless another controller serves this object.` });
    }
  },
});

function* inRoute(route: Resource<'HTTPRoute'>): Iterable<Path> {
  if (route.spec?.useDefaultGateways === 'All') yield ['spec', 'useDefaultGateways'];
  for (const { rule: routeRule, path } of routeRules(route)) {
    if (routeRule.sessionPersistence !== undefined) yield [...path, 'sessionPersistence'];
  }
}

function* inGateway({ spec = {} }: Resource<'Gateway'>): Iterable<Path> {
  if (spec.defaultScope === 'All') yield ['spec', 'defaultScope'];
  if ((spec.allowedListeners?.namespaces?.from ?? 'None') !== 'None') yield ['spec', 'allowedListeners'];
  if (spec.tls?.backend !== undefined) yield ['spec', 'tls', 'backend'];
  for (const [index, listener] of (spec.listeners ?? []).entries()) {
    if (Object.keys(listener.tls?.options ?? {}).length > 0) yield ['spec', 'listeners', index, 'tls', 'options'];
  }
}
