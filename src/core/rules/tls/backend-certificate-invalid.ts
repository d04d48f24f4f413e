import { backendCertificate } from '../../graph/gateway-tls.ts';
import { isOurGateway } from '../../graph/gateway.ts';
import type { ReferenceOutcome } from '../../graph/references.ts';
import { display } from '../../text/display.ts';
import { warned } from '../engine/effects.ts';
import { type Consequence, type Finding, rule } from '../engine/rule.ts';

export const backendCertificateInvalid = rule({
  id: 'backend-certificate-invalid',
  kinds: ['Gateway'],
  summary: 'The certificate that the Gateway shall show to backends cannot be used.',
  effect: warned,
  consequence: { condition: 'ResolvedRefs', reason: 'InvalidClientCertificateRef', scope: 'object' },
  source: 'Gateway API v1.7.0, GatewayBackendTLS.clientCertificateRef; GatewayReasonInvalidClientCertificateRef',
  check({ ref: { namespace, name } }, read, report) {
    if (!read.query(isOurGateway, namespace, name)) return;
    const reference = read.query(backendCertificate, namespace, name);
    const problem = reference && describeProof(reference);
    if (reference !== undefined && problem !== undefined) report({ path: reference.path, ...problem });
  },
});

function describeProof(reference: ReferenceOutcome): Omit<Finding, 'rule' | 'path'> | undefined {
  const effect = 'Until then backends see no certificate of this Gateway.';
  switch (reference.type) {
    case 'unsupportedKind':
      return { value: display(reference.kind), about: 'dialect', message: `Certificates are read from Secrets only, not from ${display(reference.kind)}. Write kind: Secret and leave group out. ${effect}` };
    case 'notPermitted':
      return { value: reference.target, consequence: notPermitted, message: `Secret ${reference.target} is in another namespace, where a ReferenceGrant must allow it, from kind Gateway to kind Secret. ${effect}` };
    case 'absent':
      return { value: reference.target, message: `Secret ${reference.target} has not been seen. Check name and namespace, or create it with type kubernetes.io/tls. ${effect}` };
    case 'unusable':
      return { value: reference.target, message: `Secret ${reference.target} holds no usable certificate: ${reference.problem}. ${effect}` };
    case 'usable':
    case 'unobserved':
      return undefined;
  }
}

const notPermitted: Consequence = { condition: 'ResolvedRefs', reason: 'RefNotPermitted', scope: 'object' };
