import type { BackendOutcomeOf } from '../../graph/backends.ts';
import { display } from '../../text/display.ts';
import { backendRule, serviceName } from './backend-references.ts';

export const backendProtocolUnsupported = backendRule({
  id: 'backend-protocol-unsupported',
  about: 'dialect',
  outcomes: ['unsupportedProtocol', 'policyMissing'],
  summary: 'The Service port speaks a protocol that this route cannot be forwarded with.',
  reason: 'UnsupportedProtocol',
  source: 'GEP-1911; RouteReasonUnsupportedProtocol',
  describe: (node, outcome, loss) => ({
    value: display(outcome.protocol),
    message: `Port ${node.target.port} of ${serviceName(node)} speaks ${display(outcome.protocol)}, ${cureOf(outcome, loss)}`,
  }),
});

function cureOf(outcome: BackendOutcomeOf<'unsupportedProtocol' | 'policyMissing'>, loss: string): string {
  if (outcome.type === 'unsupportedProtocol' && outcome.needed === 'UDP') return `which this route cannot be forwarded with; ${loss}. Use a port with protocol: UDP.`;
  if (outcome.type === 'unsupportedProtocol') return `which this route cannot be forwarded with; ${loss}. Use a TCP port whose appProtocol is unset, http or kubernetes.io/h2c.`;
  return `and nobody says how to check its certificate; ${loss}. Add a BackendTLSPolicy that targets the Service.`;
}
