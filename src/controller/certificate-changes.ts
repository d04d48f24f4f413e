import { readTlsSecret } from '../certificates/index.ts';
import type { CertificateResource } from '../channel/messages.ts';
import type { ConfigKey } from '../core/routing/config.ts';
import { certificateKey, type ConfigurationChange } from './configuration-by-gateway.ts';
import type { ObjectChange } from './ports.ts';
import { qualifiedName } from '../core/resources/reference.ts';

/** Changes of the configuration that follow from events about Secrets, for data planes that terminate TLS with them. */
export function certificateChanges(events: readonly ObjectChange[]): ConfigurationChange {
  const upserted = new Map<ConfigKey, CertificateResource>();
  const removed = new Set<ConfigKey>();
  for (const event of events) {
    const { kind, namespace, name } = event.ref;
    if (kind !== 'Secret') continue;
    const secret = qualifiedName({ namespace, name });
    const key = certificateKey(secret);
    const read = event.type === 'upsert' ? readTlsSecret(event.object) : undefined;
    upserted.delete(key);
    removed.delete(key);
    if (read?.type === 'material')
      upserted.set(key, {
        kind: 'certificate',
        key,
        secret,
        certificate: read.material.certificate,
        privateKey: read.material.privateKey,
      });
    else removed.add(key);
  }
  return { upserted, removed };
}
