import { isReadable } from '../../resources/resource.ts';
import { display, quote } from '../../text/display.ts';
import { preciseHostnameProblems } from '../../text/hostname.ts';
import { selectorProblems } from '../../text/selector.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import { violationsAt } from '../engine/demand.ts';
import { invalidObject } from '../engine/parts.ts';
import { rule, type Finding, type ReportFinding } from '../engine/rule.ts';
import { judgeProtocol } from './backend-protocol-tls.ts';
import type { XBackendSpec } from './x-backend-spec.ts';

/** CRDs reject most of these objects. The rule matters for objects from files, and for those that an older CRD admitted. */
export const xBackendInvalid = rule({
  id: 'x-backend-invalid',
  kinds: ['XBackend'],
  summary: 'The port, hostname, selector, protocol, TLS or session settings of an XBackend are missing or invalid.',
  effect: deniedWhenStrict,
  consequence: invalidObject,
  source:
    'Gateway API v1.7.0, BackendSpec.port, .externalHostname, .endpointSelector and .sessionPersistence; GEP-4894',
  check(backend, _read, report) {
    const readable: ReportFinding = (found) => !isReadable(backend, found.path) || report(found);
    for (const found of problems(backend.spec ?? {})) readable(found);
    judgeProtocol(backend.spec ?? {}, violationsAt(['spec'], readable));
  },
});

const unserved = 'Until then, requests to the XBackend get 500.';

function* problems({
  type,
  port,
  externalHostname,
  endpointSelector,
  sessionPersistence,
}: XBackendSpec): Iterable<Omit<Finding, 'rule'>> {
  if (port?.number === undefined) {
    yield {
      path: ['spec', 'port'],
      message: `spec.port.number is required since Gateway API v1.7. Set it to the port of the backend. ${unserved}`,
    };
  }
  if (type === 'EndpointSelector') yield* selectorFindings(endpointSelector);
  if (type !== 'ExternalHostname') return;
  if (sessionPersistence !== undefined) {
    yield {
      path: ['spec', 'sessionPersistence'],
      message: `sessionPersistence conflicts with type: ExternalHostname. Remove it, or use type: EndpointSelector. ${unserved}`,
    };
  }
  const { hostname = '' } = externalHostname ?? {};
  const problem = hostnameProblem(hostname);
  if (problem !== undefined) {
    yield {
      path: ['spec', 'externalHostname', 'hostname'],
      value: display(hostname),
      message: `Invalid hostname ${quote(hostname)}: ${problem}. ${unserved}`,
    };
  }
}

function* selectorFindings({ matchLabels = {} }: XBackendSpec['endpointSelector'] = {}): Iterable<
  Omit<Finding, 'rule'>
> {
  const path = ['spec', 'endpointSelector'];
  if (Object.keys(matchLabels).length === 0)
    yield {
      path: [...path, 'matchLabels'],
      message: `endpointSelector.matchLabels is required with type: EndpointSelector. Set at least one label of the pods. ${unserved}`,
    };
  for (const { path: below, message } of selectorProblems({ matchLabels }))
    yield { path: [...path, ...below], message: `Invalid selector: ${message}. ${unserved}` };
}

function hostnameProblem(hostname: string): string | undefined {
  // "MUST also enforce that hostnames ending with those trust domains are not allowed" (ExternalHostnameBackend.hostname).
  if (hostname === 'cluster.local' || hostname.endsWith('.cluster.local'))
    return 'it is a name inside the cluster. Use a name outside the cluster, or refer to the Service';
  return preciseHostnameProblems(hostname)[0]?.message;
}
