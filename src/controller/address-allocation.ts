import type { AddressProblem } from '../core/graph/inputs.ts';
import { contains, familyOf, formatAddressRange, formatIpAddress, type AddressRange, type IpFamily } from '../core/text/ip-address.ts';

/** What the Service of a Gateway's data planes has of the pool, and what it is to have. */
export interface Claim {
  /** `namespace/name`. */
  readonly gateway: string;
  /** creationTimestamp of the Gateway. */
  readonly since: string;
  /** Of the Service; an address of another family would not lead there. */
  readonly families: readonly IpFamily[];
  readonly held: readonly bigint[];
  /** Addresses that the Gateway asks for. */
  readonly asked: readonly bigint[];
  /** Which addresses will do: any, none but those that are asked for, or those that it has, whatever they are. */
  readonly content: 'any' | 'asked' | 'held';
}

export interface Allocation {
  readonly addresses: readonly bigint[];
  readonly problem: AddressProblem | undefined;
  /** Whether there might be more as soon as others have less. */
  readonly waits: boolean;
}

/** Sorts claims by the conflict ladder of the API design guide: the oldest first, then by `namespace/name`. */
export function byAge(one: Claim, other: Claim): number {
  return compare(one.since, other.since) || compare(one.gateway, other.gateway);
}

/** Who holds which address, and who asks for it. */
export class AddressLedger {
  readonly #claims = new Map<string, Claim>();
  /** Address → Gateways that hold it or ask for it. */
  readonly #interested = new Map<bigint, Set<string>>();

  get(gateway: string): Claim | undefined {
    return this.#claims.get(gateway);
  }

  set(claim: Claim): void {
    this.delete(claim.gateway);
    this.#claims.set(claim.gateway, claim);
    for (const address of interestsOf(claim)) {
      const gateways = this.#interested.get(address) ?? new Set();
      this.#interested.set(address, gateways.add(claim.gateway));
    }
  }

  delete(gateway: string): void {
    const claim = this.#claims.get(gateway);
    this.#claims.delete(gateway);
    for (const address of claim === undefined ? [] : interestsOf(claim)) {
      const gateways = this.#interested.get(address);
      gateways?.delete(gateway);
      if (gateways?.size === 0) this.#interested.delete(address);
    }
  }

  /** Whose an address is: the oldest of those who hold it, or where nobody does, of those who ask for it. */
  ownerOf(address: bigint): Claim | undefined {
    const claims = [...(this.#interested.get(address) ?? [])].flatMap((gateway) => this.#claims.get(gateway) ?? []).sort(byAge);
    return claims.find(({ held }) => held.includes(address)) ?? claims[0];
  }
}

/**
 * What a claim in the ledger is given of a pool. What it asks for and can have comes first; unless it is content with
 * that alone, one address follows for each of its families: the one that it holds, or else the lowest that is free.
 * What it holds it keeps while it can have nothing of what it asks for.
 */
export function allocate(claim: Claim, pool: readonly AddressRange[], ledger: AddressLedger): Allocation {
  if (claim.content === 'held') return { addresses: claim.held, problem: undefined, waits: false };
  const kept = [...new Set(claim.held)].filter((address) => refusalOf(address, { claim, pool, ledger }) === undefined);
  const answers = claim.asked.map((address) => ({ address, refusal: refusalOf(address, { claim, pool, ledger }) }));
  const granted = answers.flatMap(({ address, refusal }) => (refusal === undefined ? [address] : []));
  const refusals = answers.flatMap(({ refusal }) => refusal ?? []);
  const refused = refusals.length === 0 ? undefined : notUsable(refusals);
  if (claim.content === 'asked') return { addresses: granted.length > 0 ? granted : kept, problem: refused, waits: refused !== undefined };
  const open = claim.families.filter((family) => !granted.some((address) => familyOf(address) === family));
  const chosen = open.flatMap((family) => kept.find((address) => familyOf(address) === family) ?? lowestFree(family, pool, ledger) ?? []);
  const addresses = [...granted, ...chosen];
  const problem = refused ?? (addresses.length === 0 ? exhausted(claim, pool) : undefined);
  return { addresses, problem, waits: problem !== undefined || chosen.length < open.length };
}

function isInPool(address: bigint, pool: readonly AddressRange[]): boolean {
  return pool.some((range) => contains(range, address));
}

/** The pool as messages name it. */
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

/** Why a claim cannot have an address, or keep it. */
function refusalOf(address: bigint, { claim, pool, ledger }: Circumstances): string | undefined {
  const text = formatIpAddress(address);
  if (!isInPool(address, pool)) return `${text} is not in the address pool (${described(pool)}).`;
  const family = familyOf(address);
  if (!claim.families.includes(family)) return `${text} is unusable: the Service of this Gateway has no ${family}.`;
  const owner = ledger.ownerOf(address)?.gateway;
  return owner === claim.gateway ? undefined : `${text} is already assigned to Gateway "${owner}".`;
}

function notUsable(refusals: readonly string[]): AddressProblem {
  return { reason: 'AddressNotUsable', message: `${refusals.join(' ')} Request a free address of the pool, or omit value to get any address.` };
}

function exhausted({ families }: Claim, pool: readonly AddressRange[]): AddressProblem {
  return { reason: 'AddressNotAssigned', message: `The address pool (${described(pool)}) has no free ${families.join(' or ')} address. Enlarge the pool (--address-pool), or delete a Gateway that uses an address.` };
}

function lowestFree(family: IpFamily, pool: readonly AddressRange[], ledger: AddressLedger): bigint | undefined {
  for (const { first, last } of pool) {
    if (familyOf(first) !== family) continue;
    for (let address = first; address <= last; address += 1n) if (ledger.ownerOf(address) === undefined) return address;
  }
  return undefined;
}

/** An address of a family that leads nowhere is in nobody's way. */
function interestsOf({ held, asked, families }: Claim): ReadonlySet<bigint> {
  return new Set([...held, ...asked.filter((address) => families.includes(familyOf(address)))]);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
