import { servedRouteKinds } from '../../graph/protocols.ts';
import { rule } from '../engine/rule.ts';
import { checkGatewayFeatures, checkListenerFeatures } from './unsupported-gateway-features.ts';
import { checkRouteFeatures } from './unsupported-route-features.ts';

/**
 * Enums are open: a newer bundle may store unknown values, and some known features are not supported yet. Unsupported values
 * are never ignored silently: a match matches nothing, a rule or backend responds with 500, and a listener or Gateway is not
 * served.
 */
export const unsupportedFeature = rule({
  id: 'unsupported-feature',
  kinds: [...servedRouteKinds, 'Gateway', 'ListenerSet'],
  about: 'dialect',
  summary: 'The object uses an unsupported value or feature that must not be ignored.',
  effect: { audit: 'record', standard: 'warn', strict: 'deny' },
  consequence: { condition: 'Accepted', reason: 'UnsupportedValue', scope: 'rule' },
  varies: ['condition', 'reason', 'scope'],
  source:
    'Gateway API v1.7.0, HTTPRouteFilter.type and HTTPPathMatch.type ("Unknown values here must result in ... UnsupportedValue"), GatewayReasonUnsupportedAddress',
  check(subject, read, report) {
    if (subject.kind === 'Gateway') checkGatewayFeatures(subject, read, report);
    if (subject.kind === 'Gateway' || subject.kind === 'ListenerSet') checkListenerFeatures(subject, report);
    else checkRouteFeatures(subject, report);
  },
});
