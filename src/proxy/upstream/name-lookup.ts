import { Resolver } from 'node:dns/promises';

/** The addresses of a name, and the time in milliseconds for which the answer is valid. */
export interface NameAnswer {
  readonly addresses: readonly string[];
  readonly validFor: number;
}

/** Resolves names. */
export interface NameLookup {
  /** Returns the addresses of both families; empty if the name does not exist or has none. Rejects if no server answers. */
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
  let resolver: Resolver | undefined;
  const create = (): Resolver => {
    const created = new Resolver({ timeout, tries: 2 });
    if (servers !== undefined) created.setServers(servers);
    return created;
  };
  return {
    async lookup(hostname): Promise<NameAnswer> {
      // Most data planes have no external backends.
      resolver ??= create();
      const settled = await Promise.allSettled([
        resolver.resolve4(hostname, { ttl: true }),
        resolver.resolve6(hostname, { ttl: true }),
      ]);
      const records = settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
      if (records.length > 0)
        return {
          addresses: records.map(({ address }) => address),
          validFor: Math.min(...records.map(({ ttl }) => ttl)) * 1_000,
        };
      for (const outcome of settled) {
        if (outcome.status === 'rejected' && !negative.has(codeOf(outcome.reason)))
          throw new Error(`the lookup failed: ${codeOf(outcome.reason)}`);
      }
      return { addresses: [], validFor: negativeValidity };
    },
    close: () => resolver?.cancel(),
  };
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
