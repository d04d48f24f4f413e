import { display, quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const trustBundleNamespace = specificationRule({
  id: 'trust-bundle-namespace',
  summary: 'A reference to a ClusterTrustBundle has a namespace.',
  source: 'Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs; GEP-5075',
});

type AuthorityRef = ViewAt<'Gateway', 'spec.tls.frontend.default.validation.caCertificateRefs[]'>;

export const trustBundlesWithoutNamespace = demand(
  trustBundleNamespace,
  function judge(refs: readonly AuthorityRef[], report) {
    for (const [index, { group, kind, name, namespace }] of refs.entries()) {
      if (group !== 'certificates.k8s.io' || kind !== 'ClusterTrustBundle' || namespace === undefined) continue;
      report({
        below: [index, 'namespace'],
        value: display(namespace),
        message: `Namespace is not allowed in a reference to ClusterTrustBundle ${quote(name)}: the kind is cluster-scoped. Remove namespace.`,
      });
    }
  },
);
