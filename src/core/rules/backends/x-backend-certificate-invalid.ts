import { xBackendCertificate, type ClientCertificate } from '../../graph/backend-certificates.ts';
import { isReadable } from '../../resources/resource.ts';
import { warned } from '../engine/effects.ts';
import { rule, type Consequence, type Finding } from '../engine/rule.ts';
import { describeClientCertificate } from '../tls/client-certificate.ts';

export const xBackendCertificateInvalid = rule({
  id: 'x-backend-certificate-invalid',
  kinds: ['XBackend'],
  summary: 'The client certificate of an XBackend with TLS mode ClientAndServer is missing or invalid.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'InvalidClientCertificateRef', scope: 'object' },
  varies: ['reason'],
  source: 'Gateway API v1.7.0, BackendTLS.clientCertificateRef; GEP-4894, "Security Boundaries and Personas"',
  check(backend, read, report) {
    const reference = read.query(xBackendCertificate, backend.ref.namespace, backend.ref.name);
    const problem = reference && describe(reference);
    if (reference === undefined || problem === undefined || !isReadable(backend, reference.path)) return;
    report({
      path: reference.path,
      ...problem,
      ...(reference.type === 'notPermitted' && { consequence: notPermitted }),
    });
  },
});

function describe(reference: ClientCertificate): Omit<Finding, 'rule' | 'path'> | undefined {
  if (reference.type !== 'unset') return describeClientCertificate(reference, { kind: 'XBackend', effect });
  return {
    message: `clientCertificateRef is required with mode: ClientAndServer. Set it to a Secret of type kubernetes.io/tls. ${effect}`,
  };
}

const effect = 'Until then, requests to the XBackend get 500.';
const notPermitted: Consequence = { condition: 'Accepted', reason: 'RefNotPermitted', scope: 'object' };
