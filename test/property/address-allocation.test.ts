import { expect, test } from '@jest/globals';
import { array, assert, constantFrom, integer, oneof, property, record, subarray, type Arbitrary } from 'fast-check';
import { allocate, byAge, AddressLedger, type Claim } from '../../src/controller/address-allocation.ts';
import { familyOf, parseAddressRange, type AddressRange } from '../../src/core/text/ip-address.ts';

const ranges = ['10.0.0.0/30', 'fd00::/126'].map((text): AddressRange => {
  const parsed = parseAddressRange(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.range;
});
const starts = ranges.map(({ first }) => first);
/** Addresses of the pool, and some behind its ends. */
const address: Arbitrary<bigint> = record({ start: constantFrom(...starts), offset: integer({ min: 0, max: 5 }) }).map(
  ({ start, offset }) => start + BigInt(offset),
);

/** Things that happen: a Service comes or changes, with whatever its status says, goes, or is settled. */
const event = oneof(
  record({
    type: constantFrom('put' as const),
    gateway: integer({ min: 0, max: 7 }),
    families: subarray(['IPv4', 'IPv6'] as const, { minLength: 1 }),
    held: array(address, { maxLength: 2 }),
    requested: array(address, { maxLength: 2 }),
    content: constantFrom('any' as const, 'requested' as const),
  }),
  record({ type: constantFrom('drop' as const, 'settle' as const), gateway: integer({ min: 0, max: 7 }) }),
);

const everyAddress = starts.flatMap((start) => [0n, 1n, 2n, 3n].map((offset) => start + offset));

/** Gives every claim what it is due, the oldest first, until nothing changes. */
function settleAll(ledger: AddressLedger, gateways: ReadonlySet<string>): void {
  const claims = () => [...gateways].flatMap((gateway) => ledger.get(gateway) ?? []).sort(byAge);
  for (let round = 1; round < 50; round += 1) {
    const before = JSON.stringify(claims().map(({ held }) => held.map(String)));
    for (const { gateway } of claims()) settle(ledger, gateway);
    if (JSON.stringify(claims().map(({ held }) => held.map(String))) === before) return;
  }
  throw new Error('it never ends');
}

function settle(ledger: AddressLedger, gateway: string): void {
  const claim = ledger.get(gateway);
  if (claim !== undefined) ledger.set({ ...claim, held: allocate(claim, ranges, ledger).addresses });
}

test('whatever happens: no address twice, none from elsewhere, none without need, none taken away, and what asks for the free gets it', () => {
  assert(
    property(array(event, { maxLength: 40 }), (events) => {
      const ledger = new AddressLedger();
      const gateways = new Set<string>();
      for (const happening of events) {
        const gateway = `shop/${happening.gateway}`;
        if (happening.type === 'put') {
          const { families, held, requested, content } = happening;
          const given = ledger.get(gateway)?.held;
          ledger.set({
            gateway,
            since: `${happening.gateway % 3}`,
            families,
            held: given ?? held,
            requested: [...new Set(requested)],
            content: requested.length === 0 ? 'any' : content,
          });
          gateways.add(gateway);
        } else if (happening.type === 'drop') {
          ledger.delete(gateway);
          gateways.delete(gateway);
        } else settle(ledger, gateway);
      }
      settleAll(ledger, gateways);

      const claims = [...gateways].flatMap((gateway): Claim | readonly Claim[] => ledger.get(gateway) ?? []);
      const held = claims.flatMap((claim) => claim.held);
      expect(new Set(held).size).toBe(held.length);
      for (const claim of claims) {
        const { addresses, problem } = allocate(claim, ranges, ledger);
        expect(addresses).toEqual(claim.held);
        expect(addresses.filter((one) => !everyAddress.includes(one))).toEqual([]);
        const missing =
          claim.content === 'requested'
            ? []
            : claim.families.filter((family) => !addresses.some((one) => familyOf(one) === family));
        expect(
          everyAddress.filter((one) => missing.includes(familyOf(one)) && ledger.ownerOf(one) === undefined),
        ).toEqual([]);
        expect(problem === undefined).toBe(
          claim.requested.every((one) => addresses.includes(one)) && addresses.length > 0,
        );
      }
      // Sticky: one more comes, and all others keep what they have.
      ledger.set({
        gateway: 'shop/new',
        since: '',
        families: ['IPv4', 'IPv6'],
        held: [],
        requested: [],
        content: 'any',
      });
      settleAll(ledger, new Set([...gateways, 'shop/new']));
      for (const { gateway, held: before } of claims) expect(ledger.get(gateway)?.held).toEqual(before);
    }),
    { numRuns: 500 },
  );
});
