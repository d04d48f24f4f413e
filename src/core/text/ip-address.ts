import { quote } from './display.ts';

/** IPv4 addresses are mapped into IPv6 (RFC 4291 section 2.5.5.2), so that one number identifies any address. */
const mapped = 0xffffn << 32n;
const groupBits = 16n;
const hexadecimalGroup = /^[0-9A-Fa-f]{1,4}$/;
const decimalOctet = /^[0-9]{1,3}$/;

export type IpFamily = 'IPv4' | 'IPv6';

/** A range of consecutive addresses, inclusive; both are of one family. */
export interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** A range, or the problem with the text and the fix. */
export type ParsedAddressRange =
  | { readonly ok: true; readonly range: AddressRange }
  | { readonly ok: false; readonly problem: string };

/** Parses an IPv4 or IPv6 address (RFC 4291 section 2.2) without brackets and zone; `undefined` for anything else. */
export function parseIpAddress(text: string): bigint | undefined {
  const v4 = parseIpv4(text);
  return v4 === undefined ? parseIpv6(text) : mapped | v4;
}

/** Unspecified, loopback, link-local and multicast addresses. They mean the machine itself, its network, or a group of machines. */
const localRanges = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '::/127',
  'fe80::/10',
  'ff00::/8',
].map(parseAddressRange);

/**
 * Whether a text is the address of another machine, as the API server requires of EndpointSlices. Otherwise the owner of the
 * object could reach the data plane itself or a cloud metadata service.
 */
export function isRemoteAddress(text: string): boolean {
  const address = parseIpAddress(text);
  return address !== undefined && !localRanges.some((parsed) => parsed.ok && contains(parsed.range, address));
}

/** Formats an address in its canonical form (RFC 5952). */
export function formatIpAddress(address: bigint): string {
  if (familyOf(address) === 'IPv4') return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    ((address >> (groupBits * BigInt(7 - index))) & 0xffffn).toString(16),
  );
  const text = groups.join(':');
  // Two colons replace the first of the longest runs of zeros, if it has more than one group.
  const runs = [...text.matchAll(/\b0(?::0)+\b/g)].map(({ index, 0: run }) => ({
    start: index,
    end: index + run.length,
  }));
  const [longest] = runs.toSorted((one, other) => other.end - other.start - (one.end - one.start));
  return longest === undefined
    ? text
    : `${text.slice(0, Math.max(0, longest.start - 1))}::${text.slice(longest.end + 1)}`;
}

export function familyOf(address: bigint): IpFamily {
  return address >> 32n === 0xffffn ? 'IPv4' : 'IPv6';
}

/** Parses a network such as `192.0.2.0/28`, a range such as `192.0.2.10-192.0.2.20`, or a single address. */
export function parseAddressRange(text: string): ParsedAddressRange {
  const [, start = '', separator = '', end = ''] = /^([^-/]*)(?:([-/])(.*))?$/s.exec(text) ?? [];
  const first = parseIpAddress(start);
  if (first === undefined) return failure(`${quote(start)} is not an IP address`);
  if (separator === '/') return parseNetwork(first, start, end);
  const last = separator === '' ? first : parseIpAddress(end);
  if (last === undefined) return failure(`${quote(end)} is not an IP address`);
  if (familyOf(first) !== familyOf(last)) return failure('its first and last addresses are of different families');
  return first <= last
    ? { ok: true, range: { first, last } }
    : failure('its last address is before its first', `${end}-${start}`);
}

/** Formats a range in its shortest notation. */
export function formatAddressRange({ first, last }: AddressRange): string {
  if (first === last) return formatIpAddress(first);
  const size = last - first + 1n;
  const bits = size.toString(2).length - 1;
  const isNetwork = 1n << BigInt(bits) === size && first % size === 0n;
  return isNetwork
    ? `${formatIpAddress(first)}/${width(first) - bits}`
    : `${formatIpAddress(first)}-${formatIpAddress(last)}`;
}

export function contains({ first, last }: AddressRange, address: bigint): boolean {
  return first <= address && address <= last && familyOf(address) === familyOf(first);
}

function parseNetwork(first: bigint, start: string, length: string): ParsedAddressRange {
  const free = width(first) - Number(length);
  if (!decimalOctet.test(length) || free < 0)
    return failure(`prefix length ${quote(length)} is not between 0 and ${width(first)}`);
  const size = 1n << BigInt(free);
  const begin = first - (first % size);
  // The user may mean the network, or the addresses starting there.
  if (begin !== first)
    return failure(
      `${start} is not the first address of the network`,
      `${formatIpAddress(begin)}/${length}, or ${start}-${formatIpAddress(begin + size - 1n)}`,
    );
  return { ok: true, range: { first, last: first + size - 1n } };
}

function width(address: bigint): number {
  return familyOf(address) === 'IPv4' ? 32 : 128;
}

function failure(
  problem: string,
  instead = 'a network or a range, for example 192.0.2.0/28 or 2001:db8::10-2001:db8::1f',
): ParsedAddressRange {
  return { ok: false, problem: `${problem}. Use ${instead}` };
}

function parseIpv4(text: string): bigint | undefined {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((octet) => decimalOctet.test(octet) && Number(octet) < 256))
    return undefined;
  return octets.reduce((sum, octet) => (sum << 8n) | BigInt(Number(octet)), 0n);
}

function parseIpv6(text: string): bigint | undefined {
  // A trailing IPv4 address replaces two groups.
  const tail = text.slice(text.lastIndexOf(':') + 1);
  const v4 = parseIpv4(tail);
  const plain =
    v4 === undefined
      ? text
      : `${text.slice(0, text.length - tail.length)}${(v4 >> groupBits).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
  const [before = [], after, ...more] = plain.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - before.length - (after?.length ?? 0);
  if (more.length > 0 || (after === undefined ? missing !== 0 : missing < 1)) return undefined;
  const groups = [...before, ...Array.from({ length: missing }, () => '0'), ...(after ?? [])];
  return groups.every((group) => hexadecimalGroup.test(group))
    ? groups.reduce((sum, group) => (sum << groupBits) | BigInt(`0x${group}`), 0n)
    : undefined;
}
