import type { AddressProblem } from '../core/graph/inputs.ts';
import { deepEqual } from '../core/incremental/index.ts';
import {
  contains,
  familyOf,
  formatAddressRange,
  formatIpAddress,
  type AddressRange,
  type IpFamily,
} from '../core/text/ip-address.ts';

/** The pool addresses that the Service of a Gateway's data planes has, and those that it needs. */
export interface Claim {
  /** `namespace/name`. */
  readonly gateway: string;
  /** creationTimestamp of the Gateway. Ties are resolved in favor of the older one. */
  readonly since: string;
  /** IP families of the Service. An address of another family would not reach it. */
  readonly families: readonly IpFamily[];
  readonly held: readonly bigint[];
  /** Addresses that the Gateway requests. */
  readonly requested: readonly bigint[];
  /** Addresses that satisfy the claim: any, only requested ones, or only those that it holds. */
  readonly content: 'any' | 'requested' | 'held';
}

export interface Allocation {
  readonly addresses: readonly bigint[];
  readonly problem: AddressProblem | undefined;
  /** True if the claim might get more once other claims release addresses. */
  readonly waits: boolean;
}

/** Sorts claims by the conflict rules of the API design guide: the oldest first, then by `namespace/name`. */
export function byAge(one: Claim, other: Claim): number {
  return compare(one.since, other.since) || compare(one.gateway, other.gateway);
}

/** Tracks which Gateways hold or request each address. Thousands of Gateways may request the same addresses. */
export class AddressLedger {
  private readonly claims = new Map<string, Claim>();
  /** Address → Gateways that hold or request it. */
  private readonly interested = new Map<bigint, Set<string>>();
  /** Address → its owner, until that one changes. */
  private readonly owners = new Map<bigint, Claim>();
  /** Range → an address before which none is free. */
  private readonly searched = new Map<AddressRange, bigint>();

  get(gateway: string): Claim | undefined {
    return this.claims.get(gateway);
  }

  set(claim: Claim): void {
    if (deepEqual(this.claims.get(claim.gateway), claim)) return;
    this.delete(claim.gateway);
    this.claims.set(claim.gateway, claim);
    for (const address of interestsOf(claim)) {
      const gateways = this.interested.get(address) ?? new Set();
      this.interested.set(address, gateways.add(claim.gateway));
      const owner = this.owners.get(address);
      if (owner !== undefined && precedes(claim, owner, address)) this.owners.set(address, claim);
    }
  }

  delete(gateway: string): void {
    const claim = this.claims.get(gateway);
    this.claims.delete(gateway);
    for (const address of claim === undefined ? [] : interestsOf(claim)) {
      const gateways = this.interested.get(address);
      gateways?.delete(gateway);
      if (this.owners.get(address)?.gateway === gateway) this.owners.delete(address);
      if (gateways?.size === 0) this.release(address);
    }
  }

  /** The owner of an address: the oldest Gateway that holds it, otherwise the oldest that requests it. */
  ownerOf(address: bigint): Claim | undefined {
    let owner = this.owners.get(address);
    if (owner !== undefined) return owner;
    for (const gateway of this.interested.get(address) ?? []) {
      const claim = this.claims.get(gateway);
      if (claim !== undefined && (owner === undefined || precedes(claim, owner, address))) owner = claim;
    }
    if (owner !== undefined) this.owners.set(address, owner);
    return owner;
  }

  /** The lowest address of a range that nobody holds or requests. */
  lowestFree(range: AddressRange): bigint | undefined {
    let address = this.searched.get(range) ?? range.first;
    while (address <= range.last && this.interested.has(address)) address += 1n;
    this.searched.set(range, address);
    return address <= range.last ? address : undefined;
  }

  private release(address: bigint): void {
    this.interested.delete(address);
    for (const [range, searched] of this.searched)
      if (address < searched && contains(range, address)) this.searched.set(range, address);
  }
}

/** Whether a claim to an address comes before another one. */
function precedes(one: Claim, other: Claim, address: bigint): boolean {
  const [holds, isHeld] = [one, other].map(({ held }) => held.includes(address));
  return holds === isHeld ? byAge(one, other) < 0 : holds === true;
}

/**
 * Allocates pool addresses to a claim in the ledger. Available requested addresses come first. Unless the claim accepts only those,
 * each of its families also gets one address: the one that it holds, otherwise the lowest free one. A claim keeps the addresses
 * that it holds as long as none of its requested addresses is available.
 */
export function allocate(claim: Claim, pool: readonly AddressRange[], ledger: AddressLedger): Allocation {
  if (claim.content === 'held') return { addresses: claim.held, problem: undefined, waits: false };
  const kept = [...new Set(claim.held)].filter((address) => refusalOf(address, { claim, pool, ledger }) === undefined);
  const answers = claim.requested.map((address) => ({ address, refusal: refusalOf(address, { claim, pool, ledger }) }));
  const granted = answers.flatMap(({ address, refusal }) => (refusal === undefined ? [address] : []));
  const refusals = answers.flatMap(({ refusal }) => refusal ?? []);
  const refused = refusals.length === 0 ? undefined : notUsable(refusals);
  if (claim.content === 'requested')
    return { addresses: granted.length > 0 ? granted : kept, problem: refused, waits: refused !== undefined };
  const open = claim.families.filter((family) => !granted.some((address) => familyOf(address) === family));
  const chosen = open.flatMap(
    (family) => kept.find((address) => familyOf(address) === family) ?? lowestFree(family, pool, ledger) ?? [],
  );
  const addresses = [...granted, ...chosen];
  const problem = refused ?? (addresses.length === 0 ? exhausted(claim, pool) : undefined);
  return { addresses, problem, waits: problem !== undefined || chosen.length < open.length };
}

function isInPool(address: bigint, pool: readonly AddressRange[]): boolean {
  return pool.some((range) => contains(range, address));
}

/** Formats the pool for messages. */
function described(pool: readonly AddressRange[]): string {
  const texts = pool.map(formatAddressRange);
  return `${texts.slice(0, shown).join(', ')}${texts.length > shown ? ` and ${texts.length - shown} more` : ''}`;
}

const shown = 3;

interface Circumstances {
  readonly claim: Claim;
  readonly pool: readonly AddressRange[];
  readonly ledger: AddressLedger;
}

/** Why a claim cannot get or keep an address. */
function refusalOf(address: bigint, { claim, pool, ledger }: Circumstances): string | undefined {
  const text = formatIpAddress(address);
  if (!isInPool(address, pool)) return `${text} is not in the address pool (${described(pool)}).`;
  const family = familyOf(address);
  if (!claim.families.includes(family)) return `${text} is unusable: the Service of this Gateway has no ${family}.`;
  const owner = ledger.ownerOf(address)?.gateway;
  return owner === claim.gateway ? undefined : `${text} is already assigned to Gateway "${owner}".`;
}

function notUsable(refusals: readonly string[]): AddressProblem {
  return {
    reason: 'AddressNotUsable',
    message: `${refusals.join(' ')} Request a free address of the pool, or omit value to get any address.`,
  };
}

function exhausted({ families }: Claim, pool: readonly AddressRange[]): AddressProblem {
  return {
    reason: 'AddressNotAssigned',
    message: `The address pool (${described(pool)}) has no free ${families.join(' or ')} address. Enlarge the pool (--address-pool), or delete a Gateway that uses an address.`,
  };
}

function lowestFree(family: IpFamily, pool: readonly AddressRange[], ledger: AddressLedger): bigint | undefined {
  for (const range of pool) {
    const address = familyOf(range.first) === family ? ledger.lowestFree(range) : undefined;
    if (address !== undefined) return address;
  }
  return undefined;
}

/** Ignores requested addresses of families that the Service does not have, since they block nobody. */
function interestsOf({ held, requested, families }: Claim): ReadonlySet<bigint> {
  return new Set([...held, ...requested.filter((address) => families.includes(familyOf(address)))]);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
