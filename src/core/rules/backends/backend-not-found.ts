import type { PortAbsent } from '../../graph/backends/backend-object.ts';
import type { BackendNode } from '../../graph/backends/backends.ts';
import { backendRule, serviceName } from './backend-references.ts';
import { qualifiedName } from '../../resources/reference.ts';
import { someOf } from '../../text/display.ts';

export const backendNotFound = backendRule({
  id: 'backend-not-found',
  outcomes: ['absent', 'portAbsent'],
  summary: 'A backendRef names a Service or ServiceImport, or a port of one, that does not exist.',
  reason: 'BackendNotFound',
  source: 'Gateway API v1.7.0, BackendObjectReference; RouteReasonBackendNotFound',
  describe(node, outcome, loss) {
    if (outcome.type === 'absent') {
      return {
        value: qualifiedName(node.target),
        message: `${serviceName(node)} not found. Check its name and namespace, ${sourceOf(node)}. Until then, ${loss}.`,
      };
    }
    const cure = portCure(node, outcome);
    if (node.target.port === undefined && node.target.kind === 'XBackend')
      return { message: `${serviceName(node)} has no port. ${cure}. Until then, ${loss}.` };
    if (node.target.port === undefined)
      return { message: `Port is required in a reference to ${serviceName(node)}. ${cure}. Until then, ${loss}.` };
    return {
      value: String(node.target.port),
      message: `Port ${node.target.port} not found in ${serviceName(node)}. ${cure}. Until then, ${loss}.`,
    };
  },
});

function portCure({ target: { kind } }: BackendNode, { ports, count }: PortAbsent): string {
  if (kind === 'XBackend')
    return ports.length === 0
      ? 'Set spec.port.number of the XBackend'
      : 'Remove port: the XBackend defines its port itself';
  return ports.length === 0
    ? `The ${kind} has no ports: use another ${kind}`
    : `Use a port of the ${kind} (not a targetPort): ${someOf(ports, String, count)}`;
}

/** The controller of the Multi-Cluster Services API creates ServiceImports, not the user. */
function sourceOf({ target }: BackendNode): string {
  return target.kind === 'ServiceImport'
    ? 'or export the Service from another cluster by a ServiceExport'
    : 'or create it';
}
