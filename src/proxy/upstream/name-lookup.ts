import type { RecordWithTtl } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** The addresses of a name, and the time in milliseconds for which the answer is valid. */
export interface NameAnswer {
  readonly addresses: readonly string[];
  readonly validFor: number;
  /** Set if no server answered for one family. Addresses of that family are unknown. */
  readonly failure?: FamilyFailure;
}

/** A failed lookup of the addresses of one family. */
export interface FamilyFailure {
  readonly family: 'IPv4' | 'IPv6';
  /** The code of the error. */
  readonly code: string;
}

/** Resolves names. */
export interface NameLookup {
  /**
   * Returns the addresses of both families; empty if the name does not exist or has none. Rejects if no server answers, or if one
   * family has no addresses and no server answers for the other.
   */
  lookup(hostname: string): Promise<NameAnswer>;
  /** Ends all lookups. */
  close(): void;
}

/** Codes of answers that the name has no address. Other codes mean that there is no answer. */
const negative: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);
/** Milliseconds until a name without addresses is looked up again. */
const negativeValidity = 5_000;

/**
 * Resolves names by DNS. It uses neither search domains nor the hosts file, so that a name always means the same as outside the cluster,
 * and no thread pool, so that slow servers do not delay other work.
 *
 * @param timeout milliseconds that a server may take; a lookup has two tries
 * @param servers `address` or `address:port`; default: those of the system
 */
export function dnsLookup(timeout: number, servers?: readonly string[]): NameLookup {
  const active = new Set<Resolver>();
  // Queries of one resolver share their sockets. A malformed answer to one of them makes the others fail, and many datagrams or a slow
  // TCP connection delay them. So each lookup has its own.
  const resolve = async (hostname: string): Promise<readonly PromiseSettledResult<RecordWithTtl[]>[]> => {
    const resolver = new Resolver({ timeout, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    active.add(resolver);
    try {
      return await Promise.allSettled([
        resolver.resolve4(hostname, { ttl: true }),
        resolver.resolve6(hostname, { ttl: true }),
      ]);
    } finally {
      active.delete(resolver);
    }
  };
  return {
    async lookup(hostname): Promise<NameAnswer> {
      const settled = await resolve(hostname);
      const records = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
      const [failure] = settled.flatMap((outcome, index): readonly FamilyFailure[] => {
        if (outcome.status === 'fulfilled' || negative.has(codeOf(outcome.reason))) return [];
        return [{ family: index === 0 ? 'IPv4' : 'IPv6', code: codeOf(outcome.reason) }];
      });
      if (records.length > 0)
        return {
          addresses: records.map(({ address }) => address),
          validFor: Math.min(...records.map(({ ttl }) => ttl)) * 1_000,
          ...(failure && { failure }),
        };
      if (failure !== undefined) throw new Error(`the lookup failed: ${failure.code}`);
      return { addresses: [], validFor: negativeValidity };
    },
    close: () => {
      for (const resolver of active) resolver.cancel();
    },
  };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
