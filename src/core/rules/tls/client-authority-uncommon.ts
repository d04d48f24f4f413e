import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from '../gateways/gateway-details.ts';

export const clientAuthorityUncommon = unenforcedRule(
  {
    id: 'client-authority-uncommon',
    summary: 'Client certificates are verified with something other than one ConfigMap.',
    effect: warned,
    source:
      'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs (one ConfigMap is core; more, and other kinds, are not); GEP-91',
  },
  function judge(refs: readonly Reference[], report) {
    if (refs.length > 1)
      report({
        below: [],
        value: String(refs.length),
        message: `There are ${refs.length} CA certificate references, but implementations are required to support only one. Put all certificates in one ConfigMap.`,
      });
    for (const [index, { group = '', kind = '' }] of refs.entries()) {
      if ((group === '' && kind === 'ConfigMap') || (group === 'certificates.k8s.io' && kind === 'ClusterTrustBundle'))
        continue;
      report({
        below: [index, 'kind'],
        value: display(group === '' ? kind : `${group}/${kind}`),
        message: `Kind ${quote(kind)} of group ${quote(group)} is not portable: implementations are required to support only ConfigMap. Use kind: ConfigMap and group: "".`,
      });
    }
  },
);
