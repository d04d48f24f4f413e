import { contains, familyOf, parseAddressRange, parseIpAddress, type AddressRange } from './ip-address.ts';

// Addresses outside the cluster and its networks. The ranges are those that IANA's registries of special-purpose addresses do not
// list as globally reachable (RFC 6890), and addresses of cloud metadata services.

const refusedV4 = rangesOf(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Azure's WireServer, which gives out credentials.
  '168.63.129.16',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
);

/** Global unicast addresses (RFC 4291 section 2.4). All other IPv6 addresses are refused, except for NAT64. */
const globalV6 = rangesOf('2000::/3');
/** Protocol assignments with Teredo, documentation, and 6to4, which contain IPv4 addresses or nothing. */
const refusedV6 = rangesOf('2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20');
/** The last 32 bits are an IPv4 address (RFC 6052). */
const nat64 = rangesOf('64:ff9b::/96');

function rangesOf(...texts: readonly string[]): readonly AddressRange[] {
  return texts.map(parseAddressRange).flatMap((parsed) => (parsed.ok ? [parsed.range] : []));
}

/**
 * Whether an address is outside the cluster: globally reachable, in no range of `internal`; or in a range of `allowed`. An IPv4
 * address inside an IPv6 address counts as the IPv4 address. Text that is no address is not external.
 */
export function isExternalAddress(
  text: string,
  { internal, allowed }: { readonly internal: readonly AddressRange[]; readonly allowed: readonly AddressRange[] },
): boolean {
  const written = parseIpAddress(text);
  if (written === undefined) return false;
  const address = isIn(nat64, written) ? (0xffffn << 32n) | (written & 0xffff_ffffn) : written;
  if (isIn(allowed, address) || isIn(allowed, written)) return true;
  return isGlobal(address) && !isIn(internal, address) && !isIn(internal, written);
}

function isGlobal(address: bigint): boolean {
  return familyOf(address) === 'IPv4'
    ? !isIn(refusedV4, address)
    : isIn(globalV6, address) && !isIn(refusedV6, address);
}

function isIn(ranges: readonly AddressRange[], address: bigint): boolean {
  return ranges.some((range) => contains(range, address));
}
