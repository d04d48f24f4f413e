import { tlsOverlaps } from '../../graph/listeners/gateway-listeners.ts';
import { display } from '../../text/display.ts';
import { recorded } from '../engine/effects.ts';
import { listenerRule } from './listener-rule.ts';
import { nameOthers } from './listener-validity.ts';

/** Valid and common, so there is no warning. But clients that share connections between such hosts are affected. */
export const listenerTlsOverlap = listenerRule({
  id: 'listener-tls-overlap',
  summary: 'Listeners that terminate TLS on one port have overlapping hostnames.',
  effect: recorded,
  consequence: { condition: 'OverlappingTLSConfig', reason: 'OverlappingHostnames', scope: 'listener' },
  source:
    'Gateway API v1.7.0, ListenerConditionOverlappingTLSConfig ("Controllers MUST detect the presence of overlapping hostnames")',
  *judge(listener, owner, read) {
    const overlaps = read.query(tlsOverlaps, owner.kind, owner.namespace, owner.name);
    const others = Object.hasOwn(overlaps, listener.name) ? overlaps[listener.name] : undefined;
    if (others === undefined) return;
    yield {
      below: ['hostname'],
      value: display(listener.hostname ?? ''),
      message: `Hostname overlaps with ${nameOthers(others, owner)} on port ${listener.port}: a client that reuses a connection may get the TLS settings of the other listener. Use hostnames that do not overlap, or use equal TLS settings.`,
    };
  },
});
