import { routeKindsOf, servedProtocols } from '../../graph/protocols.ts';
import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { listenerRule } from './listener-rule.ts';

export const listenerProtocolUnsupported = listenerRule({
  id: 'listener-protocol-unsupported',
  about: 'dialect',
  summary: 'A listener has an unsupported protocol.',
  consequence: { condition: 'Accepted', reason: 'UnsupportedProtocol', scope: 'listener' },
  source: 'Gateway API v1.7.0, Listener.protocol; ListenerReasonUnsupportedProtocol',
  *judge(listener) {
    if (routeKindsOf(listener.protocol) !== undefined) return;
    const near = nearest(listener.protocol, servedProtocols());
    const cure = near === undefined ? `Supported protocols: ${servedProtocols().join(', ')}.` : `Did you mean ${near}?`;
    yield {
      below: ['protocol'],
      value: display(listener.protocol),
      message: `Unsupported protocol ${quote(listener.protocol)}: the listener is not served. ${cure}`,
    };
  },
});
