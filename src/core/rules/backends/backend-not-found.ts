import type { BackendNode } from '../../graph/backends.ts';
import { backendRule, serviceName } from './backend-references.ts';

export const backendNotFound = backendRule({
  id: 'backend-not-found',
  outcomes: ['absent', 'portAbsent'],
  summary: 'A backendRef names a Service or ServiceImport, or a port of one, that does not exist.',
  reason: 'BackendNotFound',
  source: 'Gateway API v1.7.0, BackendObjectReference; RouteReasonBackendNotFound',
  describe(node, outcome, loss) {
    if (outcome.type === 'absent') {
      return {
        value: `${node.target.namespace}/${node.target.name}`,
        message: `${serviceName(node)} not found. Check its name and namespace, ${sourceOf(node)}. Until then, ${loss}.`,
      };
    }
    const cure =
      outcome.ports.length === 0
        ? `The ${node.target.kind} has no ports: use another ${node.target.kind}`
        : `Use a port of the ${node.target.kind} (not a targetPort): ${outcome.ports.join(', ')}`;
    if (node.target.port === undefined)
      return { message: `Port is required in a reference to ${serviceName(node)}. ${cure}. Until then, ${loss}.` };
    return {
      value: String(node.target.port),
      message: `Port ${node.target.port} not found in ${serviceName(node)}. ${cure}. Until then, ${loss}.`,
    };
  },
});

/** The controller of the Multi-Cluster Services API creates ServiceImports, not the user. */
function sourceOf({ target }: BackendNode): string {
  return target.kind === 'ServiceImport'
    ? 'or export the Service from another cluster by a ServiceExport'
    : 'or create it';
}
