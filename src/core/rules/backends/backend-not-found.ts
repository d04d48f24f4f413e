import { backendRule, serviceName } from './backend-references.ts';

export const backendNotFound = backendRule({
  id: 'backend-not-found',
  outcomes: ['absent', 'portAbsent'],
  summary: 'A backendRef names a Service, or a port of a Service, that does not exist.',
  reason: 'BackendNotFound',
  source: 'Gateway API v1.7.0, BackendObjectReference; RouteReasonBackendNotFound',
  describe(node, outcome, loss) {
    if (outcome.type === 'absent') {
      return {
        value: `${node.target.namespace}/${node.target.name}`,
        message: `${serviceName(node)} not found. Check its name and namespace, or create it. Until then, ${loss}.`,
      };
    }
    const cure =
      outcome.ports.length === 0
        ? 'The Service has no ports: use another Service'
        : `Use a port of the Service (not a targetPort): ${outcome.ports.join(', ')}`;
    return {
      value: String(node.target.port),
      message: `Port ${node.target.port} not found in ${serviceName(node)}. ${cure}. Until then, ${loss}.`,
    };
  },
});
