import { networkInterfaces } from 'node:os';
import { isExternalAddress } from '../../core/text/external-address.ts';
import { parseIpAddress, type AddressRange } from '../../core/text/ip-address.ts';
import { LookupTurns } from './lookup-turns.ts';
import type { NameAnswer, NameLookup } from './name-lookup.ts';

/** The current addresses of a name. */
export interface NameState {
  /** External addresses only. Some may be those of an earlier answer, if the servers no longer answer. */
  readonly addresses: readonly string[];
  /** Why there are no addresses. */
  readonly problem?: 'name-unresolved' | 'internal-address';
}

/** A change in what a name resolves to, for logs. */
export interface NameReport {
  readonly hostname: string;
  /** Refused addresses, or the error of the lookup. Empty if a former problem is over. */
  readonly problem: string;
}

export interface ExternalNamesOptions {
  readonly lookup: NameLookup;
  /** Networks in which names may be although they are internal. */
  readonly allowed: readonly AddressRange[];
  readonly limits: NameLimits;
  readonly counters: NameCounters;
  /** Called when the problem of a name changes. Must not throw. */
  readonly report: (report: NameReport) => void;
}

/** Limits in milliseconds, and counts. */
export interface NameLimits {
  /** Time between two lookups of a name, whatever its TTL. */
  readonly nameRefreshMin: number;
  readonly nameRefreshMax: number;
  /** Concurrent lookups of names. */
  readonly nameLookups: number;
  /** Addresses of a name that are used. */
  readonly nameAddresses: number;
}

export interface NameCounters {
  nameLookups: number;
  nameFailures: number;
  /** Addresses refused because they are internal, counted for each answer. */
  internalAddresses: number;
}

type Follower = (state: NameState) => void;

interface Name {
  readonly hostname: string;
  readonly followers: Set<Follower>;
  /** `undefined` before the first answer. */
  state: NameState | undefined;
  failures: number;
  isLarge: boolean;
  problem: string;
  timer: NodeJS.Timeout | undefined;
  readonly settled: PromiseWithResolvers<void>;
}

/**
 * Addresses of an answer that are checked. An answer can have thousands of them, and each takes microseconds to read and to check. Answers with more
 * are large: they are rare, and few are requested at a time.
 */
const maxChecked = 64;

const unresolved: NameState = { addresses: [], problem: 'name-unresolved' };

/**
 * The names of external backends, resolved as long as somebody follows them. Each answer is checked: an address inside the cluster
 * or its networks is never passed on (confused deputy, DNS rebinding; GEP-4894). Connections go to the checked addresses, so no second
 * lookup can return others.
 */
export class ExternalNames {
  private readonly options: ExternalNamesOptions;
  private readonly names = new Map<string, Name>();
  private readonly turns: LookupTurns<Name>;

  constructor(options: ExternalNamesOptions) {
    this.options = options;
    this.turns = new LookupTurns(options.limits.nameLookups, (name) => this.resolve(name));
  }

  /** Calls `follower` with the state of a name, now and after each change. Returns a function that ends this. */
  follow(hostname: string, follower: Follower): () => void {
    const name = this.names.get(hostname) ?? this.begin(hostname);
    name.followers.add(follower);
    follower(name.state ?? unresolved);
    return () => {
      name.followers.delete(follower);
      if (name.followers.size === 0) this.forget(name);
    };
  }

  /** Resolves names ahead of their use, for at most `limit` milliseconds. The result ends that use. */
  async prepare(hostnames: readonly string[], limit: number): Promise<() => void> {
    if (hostnames.length === 0) return () => undefined;
    const stops = hostnames.map((hostname) => this.follow(hostname, () => undefined));
    const open = hostnames.flatMap((hostname) => this.names.get(hostname)?.settled.promise ?? []);
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, limit);
    await Promise.race([Promise.all(open), late]);
    clearTimeout(timer);
    return () => {
      for (const stop of stops) stop();
    };
  }

  close(): void {
    for (const name of this.names.values()) this.forget(name);
    this.options.lookup.close();
  }

  private begin(hostname: string): Name {
    const name: Name = {
      hostname,
      followers: new Set(),
      state: undefined,
      failures: 0,
      isLarge: false,
      problem: '',
      timer: undefined,
      settled: Promise.withResolvers(),
    };
    this.names.set(hostname, name);
    this.turns.add(name);
    return name;
  }

  private forget(name: Name): void {
    clearTimeout(name.timer);
    this.turns.remove(name);
    if (this.names.get(name.hostname) === name) this.names.delete(name.hostname);
  }

  private async resolve(name: Name): Promise<void> {
    const { lookup, counters, limits } = this.options;
    counters.nameLookups += 1;
    const answer = await lookup.lookup(name.hostname).catch((error: unknown) => error as Error);
    if (this.names.get(name.hostname) !== name) return;
    const hasFailed = answer instanceof Error || answer.failure !== undefined;
    name.failures = hasFailed ? name.failures + 1 : 0;
    if (hasFailed) counters.nameFailures += 1;
    // The last good answer stays in use: an outage of DNS must not become one of all backends.
    if (answer instanceof Error) this.change(name, name.state ?? unresolved, answer.message);
    else this.take(name, answer);
    if (!(answer instanceof Error)) name.isLarge = answer.addresses.length > maxChecked;
    const wait = Math.min(
      hasFailed ? limits.nameRefreshMin * 2 ** Math.min(name.failures - 1, 3) : Infinity,
      answer instanceof Error ? Infinity : validityOf(answer),
    );
    name.timer = setTimeout(
      () => this.turns.add(name),
      Math.min(Math.max(wait, limits.nameRefreshMin), limits.nameRefreshMax),
    );
  }

  private take(name: Name, { addresses: found, failure }: NameAnswer): void {
    const { allowed, limits, counters } = this.options;
    // Without an answer for a family, its last addresses stay in use: the machine may have no route to the other family.
    const kept = (name.state?.addresses ?? []).filter((address) => familyOf(address) === failure?.family);
    // Sorted, so that each answer with the same addresses selects the same ones.
    const answered = [...new Set([...found, ...kept])].sort().slice(0, maxChecked);
    const internal = ownNetworks();
    const isUsable = (address: string): boolean => isExternalAddress(address, { internal, allowed });
    const { true: external = [], false: refused = [] } = Object.groupBy(answered, (address) => `${isUsable(address)}`);
    counters.internalAddresses += refused.length;
    const addresses = ofUsableFamily(external).slice(0, limits.nameAddresses);
    const failed = failure === undefined ? '' : `the lookup of ${failure.family} addresses failed: ${failure.code}`;
    const report = refused.length === 0 ? failed : `internal addresses refused: ${refused.slice(0, shown).join(', ')}`;
    const empty = refused.length === 0 ? unresolved : ({ addresses: [], problem: 'internal-address' } as const);
    const missing = addresses.length === 0 ? 'the name does not exist or has no addresses' : '';
    this.change(name, addresses.length === 0 ? empty : { addresses }, report === '' ? missing : report);
  }

  private change(name: Name, state: NameState, problem: string): void {
    const before = name.state;
    name.state = state;
    name.settled.resolve();
    if (problem !== name.problem) {
      name.problem = problem;
      this.options.report({ hostname: name.hostname, problem });
    }
    if (before?.problem === state.problem && before?.addresses.join() === state.addresses.join()) return;
    for (const follower of name.followers) follower(state);
  }
}

/** Milliseconds for which each address of an answer makes it last: it takes up to 10 microseconds of the event loop. */
const perAddress = 100;

/** Milliseconds for which an answer is used. One with thousands of records takes 30 ms of the event loop, whatever the owner of the name says about its validity. */
function validityOf({ addresses, validFor }: NameAnswer): number {
  return Math.max(validFor, addresses.length * perAddress);
}

/** Maximum number of addresses in a report. */
const shown = 5;

/**
 * If a name has addresses of both families, and this machine has a route to the network for only one of them, returns only those:
 * the others would cost each connection a failed attempt.
 */
function ofUsableFamily(addresses: readonly string[]): readonly string[] {
  const usable = new Set(
    Object.values(networkInterfaces()).flatMap((entries) =>
      (entries ?? [])
        .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
        .map(({ family }) => family),
    ),
  );
  const kept = addresses.filter((address) => usable.has(familyOf(address)));
  return kept.length === 0 ? addresses : kept;
}

function familyOf(address: string): 'IPv4' | 'IPv6' {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

/** The networks of this machine, such as the network of its pods, whatever their addresses. */
function ownNetworks(): readonly AddressRange[] {
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .flatMap(({ address, cidr, family }) => {
      const inside = parseIpAddress(address);
      const length = Number(cidr?.split('/')[1] ?? Number.NaN);
      if (inside === undefined || Number.isNaN(length)) return [];
      const size = 1n << BigInt((family === 'IPv4' ? 32 : 128) - length);
      const first = inside - (inside % size);
      return [{ first, last: first + size - 1n }];
    });
}
