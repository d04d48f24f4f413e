import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Listener } from './listener-details.ts';
import { listenerTlsMode } from '../../semantics/intended.ts';

export const severalCertificates = unenforcedRule(
  {
    id: 'several-certificates',
    summary: 'A listener has more than one certificate.',
    effect: warned,
    source:
      'Gateway API v1.7.0, ListenerTLSConfig.certificateRefs (support for more than one is implementation-specific)',
  },
  function judge({ tls }: Listener, report) {
    const certificateRefs = tls?.certificateRefs ?? [];
    if (listenerTlsMode(tls) !== 'Terminate' || certificateRefs.length < 2) return;
    report({
      below: ['tls', 'certificateRefs'],
      value: String(certificateRefs.length),
      message: `The listener has ${certificateRefs.length} certificates. The implementation decides which one a client gets, and some use only the first. Use one listener with one certificate for each hostname.`,
    });
  },
);
