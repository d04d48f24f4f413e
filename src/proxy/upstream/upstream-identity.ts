import type { ListenerConfig } from '../../core/routing/config.ts';
import type { DataPlane } from '../data-plane.ts';
import type { CertificatePair } from '../listen/tls-termination.ts';

/** Returns a function that reads the current client certificate for backends of a listener (Gateway.spec.tls.backend). */
export function identityOf(
  { certificates }: Pick<DataPlane, 'certificates'>,
  { backendCertificate }: ListenerConfig,
): () => CertificatePair | undefined {
  return () => (backendCertificate === undefined ? undefined : certificates(backendCertificate));
}
