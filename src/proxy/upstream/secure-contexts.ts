import { hash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { UpstreamTls } from '../messages/forwarder.ts';
import { weigh } from '../limits/context-memory.ts';
import { tlsPolicy } from '../sockets/tls-policy.ts';

const digests = new WeakMap<readonly string[], string>();

/**
 * Returns a short text that is equal for equal CA certificates. Each list is read once: all endpoints of a backend have the same one, and
 * one of 512 KiB takes milliseconds.
 */
export function digestOfAuthorities(authorities: UpstreamTls['authorities']): string {
  if (authorities === 'system') return authorities;
  const digest = digests.get(authorities) ?? hash('sha256', JSON.stringify(authorities));
  digests.set(authorities, digest);
  return digest;
}

const contexts = new Map<string, WeakRef<SecureContext>>();
const unused = new FinalizationRegistry<string>((key) => {
  if (contexts.get(key)?.deref() === undefined) contexts.delete(key);
});

type Settings = Pick<UpstreamTls, 'authorities' | 'client'>;

/** Returns the context of these settings if a connection or a connector uses it, and if that is known without reading the CA certificates. */
export function loadedContextOf(settings: Settings): SecureContext | undefined {
  const { authorities } = settings;
  if (authorities !== 'system' && !digests.has(authorities)) return undefined;
  return contexts.get(keyOf(settings))?.deref();
}

/**
 * Returns the context for connections to a backend. Equal settings share it as long as a connection or a connector uses it: reading a
 * bundle of CA certificates takes tens of milliseconds, too much for every connection or endpoint.
 */
export function secureContextOf(settings: Settings): SecureContext {
  const { authorities, client } = settings;
  const key = keyOf(settings);
  const known = contexts.get(key)?.deref();
  if (known !== undefined) return known;
  const context = createSecureContext({
    ...tlsPolicy,
    ...(authorities === 'system' ? {} : { ca: [...authorities] }),
    ...(client === undefined ? {} : { cert: client.cert, key: client.key }),
  });
  // The system's certificates are loaded once for all contexts.
  weigh(context, authorities === 'system' ? 0 : authorities.length);
  contexts.set(key, new WeakRef(context));
  unused.register(context, key);
  return context;
}

function keyOf({ authorities, client }: Settings): string {
  return hash(
    'sha256',
    JSON.stringify([digestOfAuthorities(authorities), client?.cert.toString(), client?.key.toString()]),
  );
}
