import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from './backend-tls-details.ts';

export const backendSeveralAuthorities = unenforcedRule(
  {
    id: 'backend-several-authorities',
    summary: 'A backend has more than one CA certificate reference.',
    effect: warned,
    source:
      'Gateway API v1.7.0, BackendTLSPolicyValidation.caCertificateRefs (more than one is implementation-specific)',
  },
  function judge(refs: readonly Reference[], report) {
    if (refs.length < 2) return;
    const kinds = new Set(refs.map(({ kind = '' }) => kind));
    const cure =
      kinds.size > 1
        ? `Use only one of ${[...kinds].map((kind) => display(kind)).join(' and ')}`
        : 'Put all certificates in one ConfigMap';
    report({
      below: [],
      value: String(refs.length),
      message: `There are ${refs.length} CA certificate references, but implementations are required to support only one. ${cure}.`,
    });
  },
);
