import { quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Backend } from './backend-tls-details.ts';
import { backendTlsMode } from '../../semantics/intended.ts';

export const externalBackendWithoutTls = unenforcedRule(
  {
    id: 'external-backend-without-tls',
    summary: 'Requests leave the cluster without TLS.',
    effect: warned,
    source: 'Gateway API v1.7.0, BackendSpec.tls (SHOULD be set for external backends); GEP-4894',
  },
  function judge({ type, externalHostname, tls }: Backend, report) {
    if (type !== 'ExternalHostname' || backendTlsMode(tls) !== 'None') return;
    report({
      below: ['tls'],
      message: `Requests to ${quote(externalHostname?.hostname)} leave the cluster unencrypted. Set tls with mode: ServerOnly and validation.`,
    });
  },
);
