import { backendCertificate } from '../../graph/backend-certificates.ts';
import { isOurGateway } from '../../graph/listeners/gateway.ts';
import { warned } from '../engine/effects.ts';
import { type Consequence, rule } from '../engine/rule.ts';
import { describeClientCertificate } from './client-certificate.ts';

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
    const problem = reference && describeClientCertificate(reference, { kind: 'Gateway', effect });
    if (reference === undefined || problem === undefined) return;
    report({
      path: reference.path,
      ...problem,
      ...(reference.type === 'notPermitted' && { consequence: notPermitted }),
    });
  },
});

const effect = 'Until then, the Gateway sends no client certificate to backends.';
const notPermitted: Consequence = { condition: 'ResolvedRefs', reason: 'RefNotPermitted', scope: 'object' };
