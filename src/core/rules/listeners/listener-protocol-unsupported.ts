import { routeKindsOf, servedProtocols } from '../../graph/protocols.ts';
import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { listenerRule } from './listener-rule.ts';

export const listenerProtocolUnsupported = listenerRule({
  id: 'listener-protocol-unsupported',
  about: 'dialect',
  summary: 'The listener asks for a protocol that is not served.',
  consequence: { condition: 'Accepted', reason: 'UnsupportedProtocol', scope: 'listener' },
  source: 'Gateway API v1.7.0, Listener.protocol; ListenerReasonUnsupportedProtocol',
  *judge(listener) {
    if (routeKindsOf(listener.protocol) !== undefined) return;
    const near = nearest(listener.protocol, servedProtocols());
    const cure = near === undefined ? `Protocols served are ${servedProtocols().join(', ')}.` : `Did you mean ${near}?`;
    yield { below: ['protocol'], value: display(listener.protocol), message: `The protocol ${quote(listener.protocol)} is not served, so this listener gets no port. ${cure}` };
  },
});
