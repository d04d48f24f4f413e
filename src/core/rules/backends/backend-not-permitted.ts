import { backendRule, serviceName } from './backend-references.ts';
import { qualifiedName } from '../../resources/reference.ts';

export const backendNotPermitted = backendRule({
  id: 'backend-not-permitted',
  outcomes: ['notPermitted'],
  summary: 'A backendRef crosses namespaces without a ReferenceGrant.',
  reason: 'RefNotPermitted',
  source: 'Gateway API v1.7.0, ReferenceGrant; RouteReasonRefNotPermitted',
  describe: (node, _outcome, loss, { owner }) => ({
    value: qualifiedName(node.target),
    message:
      node.target.kind === 'XBackend'
        ? `${serviceName(node)} is in another namespace, which is not allowed: create an XBackend in the namespace of ${owner}. Until then, ${loss}.`
        : `${serviceName(node)} is in another namespace, and no ReferenceGrant there permits this reference. Until then, ${loss}.`,
  }),
});
