import { describe, expect, test } from '@jest/globals';
import { allocate, AddressLedger, type Allocation, type Claim } from '../../../src/controller/address-allocation.ts';
import { formatIpAddress, parseAddressRange, parseIpAddress } from '../../../src/core/text/ip-address.ts';

const ip = (text: string): bigint => parseIpAddress(text) ?? -1n;
const pool = (...texts: readonly string[]) =>
  texts.map((text) => {
    const parsed = parseAddressRange(text);
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.range;
  });

interface Wish {
  readonly held?: readonly string[];
  readonly requested?: readonly string[];
  readonly content?: Claim['content'];
  readonly families?: Claim['families'];
}

/** Claims of the Gateways `shop/a`, `shop/b` …, the oldest first. */
function ledgerOf(...wishes: readonly Wish[]) {
  const ledger = new AddressLedger();
  const claims = wishes.map(
    (
      { held = [], requested = [], content = requested.length > 0 ? 'requested' : 'any', families = ['IPv4'] },
      age,
    ): Claim => ({
      gateway: `shop/${'abcdef'[age]}`,
      since: `2026-01-0${age + 1}T00:00:00Z`,
      families,
      held: held.map(ip),
      requested: requested.map(ip),
      content,
    }),
  );
  for (const claim of claims) ledger.set(claim);
  const given = (age: number, ...ranges: readonly string[]): Allocation =>
    allocate(claims[age] ?? neverMade(), pool(...ranges), ledger);
  const addresses = (age: number, ...ranges: readonly string[]) => given(age, ...ranges).addresses.map(formatIpAddress);
  return { ledger, claims, given, addresses };
}

function neverMade(): never {
  throw new Error('there is no such claim');
}

describe('an address of the pool', () => {
  test('is the lowest one that is free, in the order of the ranges', () => {
    const { addresses } = ledgerOf({}, { held: ['10.0.0.9'] }, { held: ['10.0.0.1'] });
    expect(addresses(0, '10.0.0.9', '10.0.0.0/30')).toEqual(['10.0.0.0']);
    expect(addresses(0, '10.0.0.9-10.0.0.10', '10.0.0.0/30')).toEqual(['10.0.0.10']);
  });

  test('stays with whom it was given to', () => {
    const { addresses } = ledgerOf({ held: ['10.0.0.3'] });
    expect(addresses(0, '10.0.0.0/30')).toEqual(['10.0.0.3']);
  });

  test('stays where the Gateway must be left as it is, wherever it comes from', () => {
    const { given } = ledgerOf({ held: ['192.0.2.1'], content: 'held' });
    expect(given(0, '10.0.0.0/30')).toEqual({ addresses: [ip('192.0.2.1')], problem: undefined, waits: false });
  });

  test.each(['192.0.2.1', 'fd00::1'])(
    'is another one where what there is, %s, is of another pool or family',
    (address) => {
      const { addresses } = ledgerOf({ held: [address] });
      expect(addresses(0, '10.0.0.0/30', 'fd00::/126')).toEqual(['10.0.0.0']);
    },
  );

  test('is given for each family of the Service', () => {
    const { given, addresses } = ledgerOf({ families: ['IPv6', 'IPv4'] }, { families: ['IPv6'] });
    expect(addresses(0, '10.0.0.0/30', 'fd00::/126')).toEqual(['fd00::', '10.0.0.0']);
    expect(addresses(0, '10.0.0.0/30')).toEqual(['10.0.0.0']);
    expect(given(0, '10.0.0.0/30').waits).toBe(true);
    expect(given(1, '10.0.0.0/30').problem).toEqual({
      reason: 'AddressNotAssigned',
      message: expect.stringContaining('The address pool (10.0.0.0/30) has no free IPv6 address.'),
    });
  });

  test('is with the oldest where several have it', () => {
    const { addresses } = ledgerOf({ held: ['10.0.0.1'] }, { held: ['10.0.0.1'] });
    expect([addresses(0, '10.0.0.0/30'), addresses(1, '10.0.0.0/30')]).toEqual([['10.0.0.1'], ['10.0.0.0']]);
  });

  test('is there for others once it was given up', () => {
    const { ledger, claims, given } = ledgerOf({ held: ['10.0.0.1'] }, {});
    expect(given(1, '10.0.0.1')).toEqual({
      addresses: [],
      waits: true,
      problem: {
        reason: 'AddressNotAssigned',
        message:
          'The address pool (10.0.0.1) has no free IPv4 address. Enlarge the pool (--address-pool), or delete a Gateway that uses an address.',
      },
    });
    ledger.delete(claims[0]?.gateway ?? '');
    expect(given(1, '10.0.0.1')).toEqual({ addresses: [ip('10.0.0.1')], problem: undefined, waits: false });
  });
});

describe('an address that a Gateway asks for', () => {
  test('is given where it is free, instead of what there was', () => {
    const { given } = ledgerOf({ requested: ['10.0.0.2'], held: ['10.0.0.0'] });
    expect(given(0, '10.0.0.0/30')).toEqual({ addresses: [ip('10.0.0.2')], problem: undefined, waits: false });
  });

  test('is the only one, unless others will do: then there is one for each family', () => {
    const { addresses } = ledgerOf(
      { requested: ['10.0.0.2'], families: ['IPv4', 'IPv6'] },
      { requested: ['10.0.0.1'], content: 'any', families: ['IPv4', 'IPv6'] },
    );
    expect(addresses(0, '10.0.0.0/30', 'fd00::/126')).toEqual(['10.0.0.2']);
    expect(addresses(1, '10.0.0.0/30', 'fd00::/126')).toEqual(['10.0.0.1', 'fd00::']);
  });

  test('may be several', () => {
    const { addresses } = ledgerOf({ requested: ['fd00::2', '10.0.0.2', '10.0.0.1'], families: ['IPv4', 'IPv6'] });
    expect(addresses(0, '10.0.0.0/30', 'fd00::/126')).toEqual(['fd00::2', '10.0.0.2', '10.0.0.1']);
  });

  test('is not given to somebody who asks for none', () => {
    const { addresses } = ledgerOf({}, { requested: ['10.0.0.0'] });
    expect([addresses(0, '10.0.0.0/30'), addresses(1, '10.0.0.0/30')]).toEqual([['10.0.0.1'], ['10.0.0.0']]);
  });

  test.each([
    [{ requested: ['192.0.2.1'] }, '192.0.2.1 is not in the address pool (10.0.0.0/30).'],
    [{ requested: ['fd00::1'] }, 'fd00::1 is unusable: the Service of this Gateway has no IPv6.'],
    [{ requested: ['10.0.0.1'] }, '10.0.0.1 is already assigned to Gateway "shop/a".'],
  ] as const)('cannot be had by %j: %s', (wish, message) => {
    const { given } = ledgerOf({ held: ['10.0.0.1'] }, wish);
    const ranges = message.includes('fd00') ? ['10.0.0.0/30', 'fd00::/126'] : ['10.0.0.0/30'];
    expect(given(1, ...ranges)).toEqual({
      addresses: [],
      waits: true,
      problem: {
        reason: 'AddressNotUsable',
        message: `${message} Request a free address of the pool, or omit value to get any address.`,
      },
    });
  });

  test('leaves a Gateway what it has, while it cannot be had', () => {
    const { given } = ledgerOf({ requested: ['192.0.2.1'], held: ['10.0.0.2'] });
    expect(given(0, '10.0.0.0/30')).toMatchObject({
      addresses: [ip('10.0.0.2')],
      problem: { reason: 'AddressNotUsable' },
    });
  });

  test('is that of the oldest who asks, whose name the others are told; and of who has it, however young', () => {
    const both = ledgerOf({ requested: ['10.0.0.1'] }, { requested: ['10.0.0.1'] });
    expect(both.addresses(0, '10.0.0.0/30')).toEqual(['10.0.0.1']);
    expect(both.given(1, '10.0.0.0/30').problem?.message).toContain(
      '10.0.0.1 is already assigned to Gateway "shop/a".',
    );
    const held = ledgerOf({ requested: ['10.0.0.1'] }, { requested: ['10.0.0.1'], held: ['10.0.0.1'] });
    expect(held.addresses(1, '10.0.0.0/30')).toEqual(['10.0.0.1']);
    expect(held.given(0, '10.0.0.0/30').problem?.message).toContain(
      '10.0.0.1 is already assigned to Gateway "shop/b".',
    );
  });

  test("by somebody whom it cannot lead to is in nobody's way", () => {
    const { addresses } = ledgerOf({ requested: ['10.0.0.1'], families: ['IPv6'] }, { requested: ['10.0.0.1'] });
    expect(addresses(1, '10.0.0.0/30')).toEqual(['10.0.0.1']);
  });

  test('is answered for a long pool, too', () => {
    const { given } = ledgerOf({ requested: ['192.0.2.1'] });
    expect(given(0, '10.0.0.1', '10.0.0.3', '10.0.0.5', '10.0.0.7', 'fd00::/64').problem?.message).toContain(
      '(10.0.0.1, 10.0.0.3, 10.0.0.5 and 2 more).',
    );
  });
});

test('looks for the owner of an address that many request only when it may have changed', () => {
  const ledger = new AddressLedger();
  const count = 500;
  let comparisons = 0;
  for (let number = 0; number < count; number++)
    ledger.set({
      gateway: `shop/g${number}`,
      get since() {
        comparisons += 1;
        return '2026-01-01T00:00:00Z';
      },
      families: ['IPv4'],
      held: [],
      requested: [ip('10.0.0.1')],
      content: 'requested',
    });
  const owners = Array.from({ length: count }, () => ledger.ownerOf(ip('10.0.0.1'))?.gateway);
  expect(new Set(owners)).toEqual(new Set(['shop/g0']));
  expect(comparisons).toBeLessThan(10 * count);
});
