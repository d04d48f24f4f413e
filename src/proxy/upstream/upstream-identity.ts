import type { ListenerConfig } from '../../core/routing/config.ts';
import type { CertificatePair, CertificateSource } from '../listen/identities.ts';

/**
 * Reads the current client certificate for a backend: that in a Secret (`namespace/name`), or without one that of the Gateway
 * (Gateway.spec.tls.backend).
 */
export type ClientIdentity = (secret?: string) => CertificatePair | undefined;

/** Returns a function that reads client certificates for the backends of a listener. */
export function identityOf(
  { certificates }: { readonly certificates: CertificateSource },
  { backendCertificate }: ListenerConfig,
): ClientIdentity {
  return (secret = backendCertificate) => (secret === undefined ? undefined : certificates(secret));
}
