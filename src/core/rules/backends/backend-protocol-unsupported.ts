import type { BackendOutcomeOf } from '../../graph/backends/backends.ts';
import { display } from '../../text/display.ts';
import { backendRule, serviceName } from './backend-references.ts';

export const backendProtocolUnsupported = backendRule({
  id: 'backend-protocol-unsupported',
  about: 'dialect',
  outcomes: ['unsupportedProtocol', 'policyMissing'],
  summary: 'The Service port uses a protocol that is unsupported for this kind of route.',
  reason: 'UnsupportedProtocol',
  source: 'GEP-1911; RouteReasonUnsupportedProtocol',
  describe: (node, outcome, loss, { use }) => ({
    value: display(outcome.protocol),
    message:
      node.target.kind === 'XBackend'
        ? `${serviceName(node)} uses protocol ${display(outcome.protocol)}, ${cureOfXBackend(outcome, `which is unsupported for ${use}, so ${loss}`)}`
        : `Port ${node.target.port} of ${serviceName(node)} uses protocol ${display(outcome.protocol)}, ${cureOf(outcome, { use, loss })}`,
  }),
});

function cureOf(
  outcome: BackendOutcomeOf<'unsupportedProtocol' | 'policyMissing'>,
  { use, loss }: { readonly use: string; readonly loss: string },
): string {
  if (outcome.type === 'unsupportedProtocol' && outcome.needed === 'UDP')
    return `which is unsupported for ${use}, so ${loss}. Use a port with protocol: UDP.`;
  if (outcome.type === 'unsupportedProtocol')
    return `which is unsupported for ${use}, so ${loss}. Use a TCP port with no appProtocol, http or kubernetes.io/h2c.`;
  return `but no BackendTLSPolicy targets it, so ${loss}. Create a BackendTLSPolicy that targets the Service.`;
}

function cureOfXBackend(outcome: BackendOutcomeOf<'unsupportedProtocol' | 'policyMissing'>, problem: string): string {
  const cure =
    outcome.type === 'unsupportedProtocol' && outcome.needed === 'UDP'
      ? 'Remove protocol and tls: the route determines the protocol'
      : 'Use protocol: HTTP, or remove protocol';
  return `${problem}. ${cure}.`;
}
