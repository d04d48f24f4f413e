import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Listener } from './listener-details.ts';

export const certificatesWithoutUse = unenforcedRule(
  {
    id: 'certificates-without-use',
    summary: 'A listener with TLS passthrough has certificates.',
    effect: warned,
    source: 'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs (ignored with mode Passthrough)',
  },
  function judge({ tls: { mode, certificateRefs = [] } = {} }: Listener, report) {
    if (mode !== 'Passthrough' || certificateRefs.length === 0) return;
    report({
      below: ['tls', 'certificateRefs'],
      message:
        'certificateRefs is ignored with mode: Passthrough, because the backends terminate TLS. Remove certificateRefs, or use mode: Terminate.',
    });
  },
);
