import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from '../gateways/gateway-details.ts';

/** The experimental channel rejects it since v1.7. */
export const trustBundleNamespaceIgnored = unenforcedRule(
  {
    id: 'trust-bundle-namespace-ignored',
    summary: 'A reference to a ClusterTrustBundle has a namespace, but the kind is cluster-scoped.',
    effect: warned,
    source: 'GEP-5075, ClusterTrustBundle references; Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs',
  },
  function judge({ kind, namespace }: Reference, report) {
    if (kind !== 'ClusterTrustBundle' || namespace === undefined) return;
    report({
      below: ['namespace'],
      value: display(namespace),
      message: `Namespace ${quote(namespace)} is ignored: ClusterTrustBundle is cluster-scoped. The experimental channel rejects it. Remove namespace.`,
    });
  },
);
