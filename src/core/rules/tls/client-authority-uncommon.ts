import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from '../gateways/gateway-details.ts';

export const clientAuthorityUncommon = unenforcedRule({
  id: 'client-authority-uncommon',
  summary: 'Certificates of clients are checked by something other than one ConfigMap.',
  effect: warned,
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs (one ConfigMap is core; more, and other kinds, are not); GEP-91',
}, function judge(refs: readonly Reference[], report) {
  if (refs.length > 1) report({ below: [], value: String(refs.length), message: `There are ${refs.length} references to authorities, but implementations need to support only one. Put all certificates into one ConfigMap.` });
  for (const [index, { group = '', kind = '' }] of refs.entries()) {
    if ((group === '' && kind === 'ConfigMap') || (group === 'certificates.k8s.io' && kind === 'ClusterTrustBundle')) continue;
    report({ below: [index, 'kind'], value: display(group === '' ? kind : `${group}/${kind}`), message: `Implementations need to support a ConfigMap here, not the kind ${quote(kind)} of the group ${quote(group)}. Write kind: ConfigMap and group: "".` });
  }
});
