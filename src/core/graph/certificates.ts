import type { Reader } from '../incremental/reader.ts';
import { isObserved } from './gateway.ts';
import { granted } from './grants.ts';
import { certificateCell, gatewayGroup, type CertificateFacts } from './inputs.ts';

/** A reference to a certificate with its key, resolved. `secret` is `namespace/name`. */
export type CertificateOutcome =
  | { readonly type: 'usable'; readonly secret: string }
  | { readonly type: 'unsupportedKind'; readonly kind: string }
  | { readonly type: 'notPermitted'; readonly secret: string }
  | { readonly type: 'absent'; readonly secret: string }
  /** Whether the Secret exists is not known here. */
  | { readonly type: 'unobserved'; readonly secret: string }
  | { readonly type: 'unusable'; readonly secret: string; readonly problem: string };

/** `index` is the position in tls.certificateRefs. */
export type CertificateNode = { readonly index: number } & CertificateOutcome;

interface SecretRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Resolves a reference to a TLS Secret that stands in a Gateway API object. */
export function resolveCertificate(read: Reader, from: { readonly kind: string; readonly namespace: string }, ref: SecretRef): CertificateOutcome {
  const { group = '', kind = 'Secret', namespace = from.namespace, name = '' } = ref;
  if (group !== '' || kind !== 'Secret') return { type: 'unsupportedKind', kind: group === '' ? kind : `${group}/${kind}` };
  const secret = `${namespace}/${name}`;
  // The grant comes before existence, so that nobody can probe for Secrets of another namespace.
  if (!read.query(granted, gatewayGroup, from.kind, from.namespace, '', 'Secret', namespace, name)) return { type: 'notPermitted', secret };
  const facts: CertificateFacts | undefined = read.input(certificateCell, namespace, name);
  if (facts === undefined) return { type: read.query(isObserved, 'Secret') ? 'absent' : 'unobserved', secret };
  return facts.type === 'certificate' ? { type: 'usable', secret } : { type: 'unusable', secret, problem: facts.problem };
}
