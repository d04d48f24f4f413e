import type { ListenerConfig } from '../core/routing/config.ts';
import type { DataPlane } from './data-plane.ts';
import type { CertificatePair } from './tls-termination.ts';

/** What to prove oneself with over TLS to whoever serves requests of a listener (Gateway.spec.tls.backend), as it is when asked. */
export function identityOf({ certificates }: Pick<DataPlane, 'certificates'>, { backendCertificate }: ListenerConfig): () => CertificatePair | undefined {
  return () => (backendCertificate === undefined ? undefined : certificates(backendCertificate));
}
