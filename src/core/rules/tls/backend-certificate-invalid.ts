import { backendCertificate } from '../../graph/gateway-tls.ts';
import { isOurGateway } from '../../graph/gateway.ts';
import type { ReferenceOutcome } from '../../graph/references.ts';
import { display } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { type Consequence, type Finding, rule } from '../engine/rule.ts';

export const backendCertificateInvalid = rule({
  id: 'backend-certificate-invalid',
  kinds: ['Gateway'],
  summary: 'The client certificate of a Gateway for its backends is invalid.',
  effect: warned,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidClientCertificateRef', scope: 'object' },
  varies: ['reason'],
  source: 'Gateway API v1.7.0, GatewayBackendTLS.clientCertificateRef; GatewayReasonInvalidClientCertificateRef',
  check({ ref: { namespace, name } }, read, report) {
    if (!read.query(isOurGateway, namespace, name)) return;
    const reference = read.query(backendCertificate, namespace, name);
    const problem = reference && describeProof(reference);
    if (reference !== undefined && problem !== undefined) report({ path: reference.path, ...problem });
  },
});

function describeProof(reference: ReferenceOutcome): Omit<Finding, 'rule' | 'path'> | undefined {
  const effect = 'Until then, the Gateway sends no client certificate to backends.';
  switch (reference.type) {
    case 'unsupportedKind':
      return {
        value: display(reference.kind),
        about: 'dialect',
        message: `Unsupported certificate kind ${display(reference.kind)}. Use kind: Secret and an empty group. ${effect}`,
      };
    case 'notPermitted':
      return {
        value: reference.target,
        consequence: notPermitted,
        message: `Reference to Secret "${reference.target}" is not permitted: it is in another namespace. Create a ReferenceGrant there, from kind Gateway to kind Secret. ${effect}`,
      };
    case 'absent':
      return {
        value: reference.target,
        message: `Secret "${reference.target}" not found. Check its name and namespace, or create it with type kubernetes.io/tls. ${effect}`,
      };
    case 'unusable':
      return {
        value: reference.target,
        message: `Invalid certificate in Secret "${reference.target}": ${reference.problem}. ${effect}`,
      };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}

const notPermitted: Consequence = { condition: 'ResolvedRefs', reason: 'RefNotPermitted', scope: 'object' };
