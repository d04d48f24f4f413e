import { bundleOf, readAuthorities, renewalTime } from '../../certificates/index.ts';
import { readSecret } from '../../cluster/secret-store.ts';
import type { ApiClient } from '../../kubernetes/index.ts';
import type { AuthorityFacts, Gathered } from './facts.ts';

/** Waits for a value. A failure becomes the reason why the value is unknown. */
export async function gather<T>(reading: Promise<T>): Promise<Gathered<T>> {
  try {
    return { type: 'known', value: await reading };
  } catch (error) {
    return { type: 'unknown', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Reads a Secret with authorities, without keeping its keys. `undefined` if it does not exist. @throws errors of the client */
export async function readAuthorityFacts(
  client: ApiClient,
  { namespace, secret }: { readonly namespace: string; readonly secret: string },
): Promise<AuthorityFacts | undefined> {
  const stored = await readSecret(client, { namespace, name: secret });
  if (stored === undefined) return undefined;
  const read = readAuthorities(stored.data);
  if (read.type === 'unreadable') return read;
  const { current } = read.state;
  const facts = current && {
    certificate: current.certificate,
    notAfter: current.notAfter,
    renewalTime: renewalTime(current),
  };
  return { type: 'authorities', current: facts, bundle: bundleOf(read.state) };
}
