import { backendAuthorities, validationOf, type ValidatingKind } from '../graph/backends/backend-validation.ts';
import { authoritiesIn } from '../graph/references.ts';
import { readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { quoteRef } from '../resources/reference.ts';
import { gatewaysOfPolicy, maxAncestors } from '../rules/engine/backend-users.ts';
import { ownerRefusal, partProblems } from '../rules/engine/validity.ts';
import type { BackendTls, EndpointsConfig } from './config.ts';

/**
 * The TLS settings of connections under a BackendTLSPolicy. If the policy cannot be used, no connection is made
 * (BackendTLSPolicyValidation).
 */
export function backendTls(
  read: Reader,
  namespace: string,
  policy: string,
): Pick<EndpointsConfig, 'tls' | 'failure' | 'withheld'> {
  const refusal = ownerRefusal(read.query(partProblems, 'BackendTLSPolicy', namespace, policy));
  if (refusal !== undefined) return { failure: `${nameOf(namespace, policy)}: ${refusal.message}` };
  return { tls: verification(read, 'BackendTLSPolicy', namespace, policy), ...withheld(read, namespace, policy) };
}

/** The TLS settings that the validation of an object requires. */
export function verification(read: Reader, kind: ValidatingKind, namespace: string, name: string): BackendTls {
  const {
    hostname = '',
    subjectAltNames = [],
    wellKnownCACertificates = '',
  } = validationOf(readObject(read, kind, namespace, name))?.validation ?? {};
  return {
    serverName: hostname,
    subjectAltNames: subjectAltNames.map(subjectAltName),
    authorities:
      wellKnownCACertificates === ''
        ? authoritiesIn(read, read.query(backendAuthorities, kind, namespace, name))
        : 'system',
  };
}

/** A policy without room in its status for a Gateway is not used by that Gateway (PolicyStatus.ancestors). */
function withheld(read: Reader, namespace: string, policy: string): Pick<EndpointsConfig, 'withheld'> {
  const from = read.query(gatewaysOfPolicy, 'BackendTLSPolicy', namespace, policy).slice(maxAncestors);
  return from.length === 0
    ? {}
    : { withheld: { from, failure: `${nameOf(namespace, policy)}: its status has no room for this Gateway` } };
}

function nameOf(namespace: string, name: string): string {
  return quoteRef({ kind: 'BackendTLSPolicy', namespace, name });
}

/** Other types have already made the policy invalid. */
function subjectAltName({
  type,
  hostname = '',
  uri = '',
}: {
  readonly type?: string;
  readonly hostname?: string;
  readonly uri?: string;
}): BackendTls['subjectAltNames'][number] {
  return type === 'URI' ? { type, value: uri } : { type: 'Hostname', value: hostname };
}
