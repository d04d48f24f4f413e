import { policyAuthorities } from '../graph/backend-policies.ts';
import { authoritiesIn } from '../graph/gateway-tls.ts';
import { readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { ownerRefusal, partProblems } from '../rules/validity.ts';
import type { BackendTls, EndpointsConfig } from './config.ts';

/** What a BackendTLSPolicy makes of connections: TLS, or where it cannot be used, none at all (BackendTLSPolicyValidation). */
export function backendTls(read: Reader, namespace: string, policy: string): Pick<EndpointsConfig, 'tls' | 'failure'> {
  const refusal = ownerRefusal(read.query(partProblems, 'BackendTLSPolicy', namespace, policy));
  if (refusal !== undefined) return { failure: `BackendTLSPolicy ${namespace}/${policy}: ${refusal.message}` };
  const { hostname = '', subjectAltNames = [], wellKnownCACertificates = '' } = readObject(read, 'BackendTLSPolicy', namespace, policy)?.spec?.validation ?? {};
  return {
    tls: {
      serverName: hostname,
      subjectAltNames: subjectAltNames.map(subjectAltName),
      authorities: wellKnownCACertificates === '' ? authoritiesIn(read, read.query(policyAuthorities, namespace, policy)) : 'system',
    },
  };
}

/** Other types have made the policy invalid before. */
function subjectAltName({ type, hostname = '', uri = '' }: { readonly type?: string; readonly hostname?: string; readonly uri?: string }): BackendTls['subjectAltNames'][number] {
  return type === 'URI' ? { type, value: uri } : { type: 'Hostname', value: hostname };
}
