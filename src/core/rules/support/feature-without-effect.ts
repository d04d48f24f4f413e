import type { OwnerKind } from '../../graph/listeners/listener-sets.ts';
import { servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import type { Path } from '../../resources/path.ts';
import type { Resource } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { rule, type Consequence } from '../engine/rule.ts';

/** The rest of the object works. */
export const fieldIgnored = {
  condition: 'sallyport.dev/FieldIgnored',
  reason: 'UnsupportedField',
  scope: 'object',
} as const satisfies Consequence;

/** Ignoring these features does not misdirect any requests, so the rest of the object works, and a finding informs the owner. */
export const featureWithoutEffect = rule({
  id: 'feature-without-effect',
  kinds: [...servedRouteKinds, 'Gateway', 'ListenerSet'],
  about: 'dialect',
  summary: 'The object uses an unsupported feature, which is ignored.',
  effect: warned,
  consequence: fieldIgnored,
  varies: ['scope'],
  source:
    'Gateway API v1.7.0, CommonRouteSpec.useDefaultGateways, GatewaySpec.defaultScope (extended support), ListenerTLSConfig.options',
  check(subject, _read, report) {
    for (const path of placesIn(subject)) {
      report({
        path,
        ...(path[1] === 'listeners' && { consequence: { ...fieldIgnored, scope: 'listener' } }),
        message: `Unsupported field ${String(path.at(-1))}: it is ignored. Remove it, unless another controller also serves this object.`,
      });
    }
  },
});

function placesIn(subject: Resource<ServedRouteKind | OwnerKind>): Iterable<Path> {
  if (subject.kind === 'Gateway') return inGateway(subject);
  return subject.kind === 'ListenerSet' ? inListeners(subject) : inRoute(subject);
}

function* inRoute(route: Resource<ServedRouteKind>): Iterable<Path> {
  if (route.spec?.useDefaultGateways === 'All') yield ['spec', 'useDefaultGateways'];
}

function* inGateway(gateway: Resource<'Gateway'>): Iterable<Path> {
  const { spec = {} } = gateway;
  if (spec.defaultScope === 'All') yield ['spec', 'defaultScope'];
  yield* inListeners(gateway);
}

function* inListeners({ spec = {} }: Resource<'Gateway' | 'ListenerSet'>): Iterable<Path> {
  for (const [index, listener] of (spec.listeners ?? []).entries()) {
    if (Object.keys(listener.tls?.options ?? {}).length > 0) yield ['spec', 'listeners', index, 'tls', 'options'];
  }
}
