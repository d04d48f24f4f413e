import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from '../gateways/gateway-details.ts';

/** The experimental channel refuses it since v1.7. */
export const trustBundleNamespaceIgnored = unenforcedRule({
  id: 'trust-bundle-namespace-ignored',
  summary: 'A reference to a ClusterTrustBundle has a namespace, which such an object does not have.',
  effect: warned,
  source: 'GEP-5075, ClusterTrustBundle references; Gateway API v1.7.0, FrontendTLSValidation.caCertificateRefs',
}, function judge({ kind, namespace }: Reference, report) {
  if (kind !== 'ClusterTrustBundle' || namespace === undefined) return;
  report({ below: ['namespace'], value: display(namespace), message: `A ClusterTrustBundle is in no namespace, so ${quote(namespace)} is ignored at best; the experimental channel refuses it. Remove namespace.` });
});
