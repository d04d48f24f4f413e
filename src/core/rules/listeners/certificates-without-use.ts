import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Listener } from './listener-details.ts';

export const certificatesWithoutUse = unenforcedRule({
  id: 'certificates-without-use',
  summary: 'A listener that passes TLS through has certificates.',
  effect: warned,
  source: 'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs (ignored with mode Passthrough)',
}, function judge({ tls: { mode, certificateRefs = [] } = {} }: Listener, report) {
  if (mode !== 'Passthrough' || certificateRefs.length === 0) return;
  report({ below: ['tls', 'certificateRefs'], message: 'With mode: Passthrough backends terminate TLS, so these certificates are never shown. Remove certificateRefs, or write mode: Terminate.' });
});
