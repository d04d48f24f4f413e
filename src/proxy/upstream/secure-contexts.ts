import { hash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import type { UpstreamTls } from '../messages/forwarder.ts';
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

/**
 * Returns the context for connections to a backend. Equal settings share it as long as a connection or a connector uses it: reading a
 * bundle of CA certificates takes tens of milliseconds, too much for every connection or endpoint.
 */
export function secureContextOf({ authorities, client }: Pick<UpstreamTls, 'authorities' | 'client'>): SecureContext {
  const parts = [digestOfAuthorities(authorities), client?.cert.toString(), client?.key.toString()];
  const key = hash('sha256', JSON.stringify(parts));
  const known = contexts.get(key)?.deref();
  if (known !== undefined) return known;
  const context = createSecureContext({
    ...tlsPolicy,
    ...(authorities === 'system' ? {} : { ca: [...authorities] }),
    ...(client === undefined ? {} : { cert: client.cert, key: client.key }),
  });
  contexts.set(key, new WeakRef(context));
  unused.register(context, key);
  return context;
}
