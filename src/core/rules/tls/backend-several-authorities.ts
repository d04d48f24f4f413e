import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from './backend-tls-details.ts';

export const backendSeveralAuthorities = unenforcedRule({
  id: 'backend-several-authorities',
  summary: 'A backend may have its certificate from more than one reference.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs (more than one is implementation-specific)',
}, function judge(refs: readonly Reference[], report) {
  if (refs.length < 2) return;
  const kinds = new Set(refs.map(({ kind = '' }) => kind));
  const cure = kinds.size > 1 ? `Keep one of ${[...kinds].map((kind) => display(kind)).join(' and ')}` : 'Put all certificates into one ConfigMap';
  report({ below: [], value: String(refs.length), message: `There are ${refs.length} references to authorities, but implementations need to support only one. ${cure}.` });
});
