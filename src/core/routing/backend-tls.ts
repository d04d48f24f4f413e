import { policyAuthorities } from '../graph/backend-policies.ts';
import { authoritiesIn } from '../graph/gateway-tls.ts';
import { readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { quoteRef } from '../resources/reference.ts';
import { gatewaysOfPolicy, maxAncestors, ownerRefusal, partProblems } from '../rules/engine/validity.ts';
import type { BackendTls, EndpointsConfig } from './config.ts';

/** What a BackendTLSPolicy makes of connections: TLS, or where it cannot be used, none at all (BackendTLSPolicyValidation). */
export function backendTls(read: Reader, namespace: string, policy: string): Pick<EndpointsConfig, 'tls' | 'failure' | 'withheld'> {
  const refusal = ownerRefusal(read.query(partProblems, 'BackendTLSPolicy', namespace, policy));
  if (refusal !== undefined) return { failure: `${nameOf(namespace, policy)}: ${refusal.message}` };
  const { hostname = '', subjectAltNames = [], wellKnownCACertificates = '' } = readObject(read, 'BackendTLSPolicy', namespace, policy)?.spec?.validation ?? {};
  return {
    tls: {
      serverName: hostname,
      subjectAltNames: subjectAltNames.map(subjectAltName),
      authorities: wellKnownCACertificates === '' ? authoritiesIn(read, read.query(policyAuthorities, namespace, policy)) : 'system',
    },
    ...withheld(read, namespace, policy),
  };
}

/** No Gateway uses a policy that cannot tell it how it fares (PolicyStatus.ancestors). */
function withheld(read: Reader, namespace: string, policy: string): Pick<EndpointsConfig, 'withheld'> {
  const from = read.query(gatewaysOfPolicy, namespace, policy).slice(maxAncestors);
  return from.length === 0 ? {} : { withheld: { from, failure: `${nameOf(namespace, policy)}: its status has no room for this Gateway` } };
}

function nameOf(namespace: string, name: string): string {
  return quoteRef({ kind: 'BackendTLSPolicy', namespace, name });
}

/** Other types have made the policy invalid before. */
function subjectAltName({ type, hostname = '', uri = '' }: { readonly type?: string; readonly hostname?: string; readonly uri?: string }): BackendTls['subjectAltNames'][number] {
  return type === 'URI' ? { type, value: uri } : { type: 'Hostname', value: hostname };
}
