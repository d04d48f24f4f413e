import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Backend } from './backend-tls-details.ts';
import { backendTlsMode } from '../../semantics/intended.ts';

/** Bundles reject this since v1.7. */
export const backendValidationMissing = unenforcedRule(
  {
    id: 'backend-validation-missing',
    summary: 'An XBackend has TLS, but no validation.',
    effect: warned,
    source: 'Gateway API v1.7.0, BackendTLS.validation (required unless mode is None)',
  },
  function judge(tls: NonNullable<Backend['tls']>, report) {
    const mode = backendTlsMode(tls);
    if (mode === 'None' || tls.validation !== undefined) return;
    report({
      below: ['validation'],
      message: `validation is required with mode: ${mode}; v1.7 rejects the object without it. Set validation with hostname and wellKnownCACertificates: System or caCertificateRefs.`,
    });
  },
);
