import { quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Validation } from './backend-tls-details.ts';

export const altNameWithoutHostname = unenforcedRule(
  {
    id: 'alt-name-without-hostname',
    summary: 'The hostname of a backend is used for SNI, but not verified in its certificate.',
    effect: warned,
    source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.hostname (with subjectAltNames, used for SNI only)',
  },
  function judge({ hostname = '', subjectAltNames = [] }: Validation, report) {
    if (subjectAltNames.length === 0 || subjectAltNames.some((name) => name.hostname === hostname)) return;
    report({
      below: ['subjectAltNames'],
      message: `Hostname ${quote(hostname)} is used for SNI only: with subjectAltNames, the certificate is verified against those names alone, and the hostname is not among them. Add it with type: Hostname, unless this is intended.`,
    });
  },
);
