import { familyOf, parseIpAddress } from '../../core/text/ip-address.ts';
import type { ProxyVersion } from '../../core/text/proxy-protocol.ts';
import type { Address } from '../address.ts';
import { families, starts } from './format.ts';
import type { Origin } from './origin.ts';

/**
 * Writes the header that tells a backend the origin of a connection ("The PROXY protocol", sections 2.1 and 2.2). Where an address is
 * not known, the header says so, and the backend takes those of the connection.
 */
export function writeProxyHeader(version: ProxyVersion, { client, destination }: Origin): Buffer {
  const [from, to] = [parseIpAddress(client.host), parseIpAddress(destination.host)];
  if (from === undefined || to === undefined) return version === 'v1' ? Buffer.from('PROXY UNKNOWN\r\n') : headerV2(families.unknown.code, []);
  // A header has room for one family: the other address is written as an IPv6 address that stands for it (RFC 4291 section 2.5.5.2).
  const width = familyOf(from) === 'IPv4' && familyOf(to) === 'IPv4' ? 4 : 16;
  if (version === 'v1') {
    const text = (address: Address): string => (width === 16 && !address.host.includes(':') ? `::ffff:${address.host}` : address.host);
    return Buffer.from(`PROXY TCP${width === 4 ? 4 : 6} ${text(client)} ${text(destination)} ${client.port} ${destination.port}\r\n`);
  }
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(client.port);
  ports.writeUInt16BE(destination.port, 2);
  return headerV2(width === 4 ? families.tcp4.code : families.tcp6.code, [bytesOf(from, width), bytesOf(to, width), ports]);
}

const versionAndProxy = 0x21;

function headerV2(family: number, addresses: readonly Buffer[]): Buffer {
  const body = Buffer.concat(addresses);
  return Buffer.concat([starts.v2, Buffer.from([versionAndProxy, family, body.length >> 8, body.length & 0xff]), body]);
}

/** The last bytes of an address: those of IPv4 lie within IPv6. */
function bytesOf(address: bigint, width: 4 | 16): Buffer {
  return Buffer.from(address.toString(16).padStart(32, '0'), 'hex').subarray(16 - width);
}
