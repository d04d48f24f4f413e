import { backendRule, serviceName } from './backend-references.ts';

export const backendNotFound = backendRule({
  id: 'backend-not-found',
  outcomes: ['absent', 'portAbsent'],
  summary: 'A backendRef names a Service, or a port of a Service, that does not exist.',
  reason: 'BackendNotFound',
  source: 'Gateway API v1.7.0, BackendObjectReference; RouteReasonBackendNotFound',
  describe(node, outcome, loss) {
    if (outcome.type === 'absent') {
      return { value: `${node.target.namespace}/${node.target.name}`, message: `${serviceName(node)} has not been seen. Check name and namespace, or apply it; until then ${loss}.` };
    }
    const cure = outcome.ports.length === 0 ? 'It has none: name another Service' : `Its ports are ${outcome.ports.join(', ')}: write one of them (no targetPort)`;
    return { value: String(node.target.port), message: `${serviceName(node)} has no port ${node.target.port}. ${cure}; until then ${loss}.` };
  },
});
