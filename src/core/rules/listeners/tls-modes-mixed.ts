import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Listener } from './listener-details.ts';
import { listenerTlsMode } from '../../semantics/intended.ts';

export const tlsModesMixed = unenforcedRule(
  {
    id: 'tls-modes-mixed',
    summary: 'Listeners with protocol TLS on one port mix the modes Terminate and Passthrough.',
    effect: recorded,
    source: 'Gateway API v1.7.0, ListenerTLSConfig.mode; GEP-2643 (TLSRouteModeMixed is extended)',
  },
  function judge(listeners: readonly Listener[], report) {
    for (const [index, { port, protocol, tls }] of listeners.entries()) {
      const mode = listenerTlsMode(tls);
      const other = listeners
        .slice(0, index)
        .findIndex((one) => one.protocol === 'TLS' && one.port === port && listenerTlsMode(one.tls) !== mode);
      if (protocol !== 'TLS' || port === undefined || other === -1) continue;
      report({
        below: [index, 'tls', 'mode'],
        value: mode,
        message: `TLS mode conflicts with listeners[${other}], which has another mode on port ${port}. Not every implementation supports this. Use another port, or the same mode for both.`,
      });
    }
  },
);
