import { hkdfSync } from 'node:crypto';
import { sessionKeysKey, type SessionKeysResource } from '../channel/messages.ts';
import type { ConfigKey } from '../core/routing/config.ts';

/** The change of configuration that follows from new keys for session persistence. */
export function sessionKeysChange(keys: SessionKeysResource['keys']): {
  readonly upserted: ReadonlyMap<ConfigKey, SessionKeysResource>;
  readonly removed: ReadonlySet<ConfigKey>;
} {
  const resource: SessionKeysResource = { kind: 'sessionKeys', key: sessionKeysKey, keys };
  return { upserted: new Map([[sessionKeysKey, resource]]), removed: new Set() };
}

const bytes = 32;

/**
 * The keys for the data planes of one Gateway (`namespace/name`), derived by HKDF (RFC 5869): the keys of one data plane tell nothing
 * about those of others.
 */
export function sessionKeysFor(gateway: string, { keys, ...resource }: SessionKeysResource): SessionKeysResource {
  return {
    ...resource,
    keys: keys.map(({ id, secret, from }) => {
      const derived = hkdfSync('sha256', Buffer.from(secret, 'base64url'), '', `sallyport sessions ${gateway}`, bytes);
      return { id, from, secret: Buffer.from(derived).toString('base64url') };
    }),
  };
}
