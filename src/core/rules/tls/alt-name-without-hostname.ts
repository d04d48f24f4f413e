import { quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Validation } from './backend-tls-details.ts';

export const altNameWithoutHostname = unenforcedRule({
  id: 'alt-name-without-hostname',
  summary: 'The hostname of a backend is asked for in TLS, but its certificate need not have it.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendTLSPolicyValidation.hostname (with subjectAltNames, used for SNI only)',
}, function judge({ hostname = '', subjectAltNames = [] }: Validation, report) {
  if (subjectAltNames.length === 0 || subjectAltNames.some((name) => name.hostname === hostname)) return;
  report({ below: ['subjectAltNames'], message: `With subjectAltNames the certificate is held against them alone, and ${quote(hostname)} is not among them: it is asked for, but not checked. Add type: Hostname with it, unless that is meant.` });
});
