import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Backend } from './backend-tls-details.ts';

/** Since v1.7 bundles refuse it. */
export const backendValidationMissing = unenforcedRule({
  id: 'backend-validation-missing',
  summary: 'An XBackend has TLS, but says not how to check the certificate of the backend.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLS.validation (required unless mode is None)',
}, function judge({ mode = 'None', validation }: NonNullable<Backend['tls']>, report) {
  if (mode === 'None' || validation !== undefined) return;
  report({ below: ['validation'], message: `mode is ${mode}, but nothing says how to check the certificate of the backend; v1.7 refuses that. Write validation with hostname and wellKnownCACertificates: System or caCertificateRefs.` });
});
