import { routeKindsOf } from '../../graph/protocols.ts';
import { display } from '../../text/display.ts';
import { listenerRule } from './listener-rule.ts';

export const listenerRouteKindsInvalid = listenerRule({
  id: 'listener-route-kinds-invalid',
  about: 'dialect',
  summary: 'allowedRoutes.kinds names a kind that the protocol of the listener does not support.',
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidRouteKinds', scope: 'listener' },
  source: 'Gateway API v1.7.0, AllowedRoutes.kinds; ListenerReasonInvalidRouteKinds',
  *judge(listener) {
    const supported = routeKindsOf(listener.protocol);
    if (listener.invalidKinds.length === 0 || supported === undefined) return;
    const invalid = listener.invalidKinds.map((kind) => `${kind.group}/${kind.kind}`).join(', ');
    yield {
      below: ['allowedRoutes', 'kinds'],
      value: display(invalid),
      message: `Unsupported route kind ${display(invalid)} for protocol ${listener.protocol}. Use only ${supported.map((kind) => kind.kind).join(', ')}, or remove kinds.`,
    };
  },
});
