import { familyOf, parseIpAddress } from '../../core/text/ip-address.ts';
import type { ProxyVersion } from '../../core/text/proxy-protocol.ts';
import type { Address } from '../sockets/address.ts';
import { families, starts } from './format.ts';
import type { Origin } from './origin.ts';

/**
 * Encodes the header with the origin of a connection for a backend ("The PROXY protocol", sections 2.1 and 2.2). If an
 * address is unknown, the header says so, and the backend uses those of the connection.
 */
export function writeProxyHeader(version: ProxyVersion, { client, destination }: Origin): Buffer {
  const [from, to] = [parseIpAddress(client.host), parseIpAddress(destination.host)];
  if (from === undefined || to === undefined)
    return version === 'v1' ? Buffer.from('PROXY UNKNOWN\r\n') : headerV2(families.unknown.code, []);
  // A header has one address family. If they differ, the IPv4 address is written as an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2).
  const width = familyOf(from) === 'IPv4' && familyOf(to) === 'IPv4' ? 4 : 16;
  if (version === 'v1') {
    const text = (address: Address): string =>
      width === 16 && !address.host.includes(':') ? `::ffff:${address.host}` : address.host;
    return Buffer.from(
      `PROXY TCP${width === 4 ? 4 : 6} ${text(client)} ${text(destination)} ${client.port} ${destination.port}\r\n`,
    );
  }
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(client.port);
  ports.writeUInt16BE(destination.port, 2);
  return headerV2(width === 4 ? families.tcp4.code : families.tcp6.code, [
    bytesOf(from, width),
    bytesOf(to, width),
    ports,
  ]);
}

const versionAndProxy = 0x21;

function headerV2(family: number, addresses: readonly Buffer[]): Buffer {
  const body = Buffer.concat(addresses);
  return Buffer.concat([starts.v2, Buffer.from([versionAndProxy, family, body.length >> 8, body.length & 0xff]), body]);
}

/** Returns the last `width` bytes of an address: IPv4 addresses are at the end of IPv6. */
function bytesOf(address: bigint, width: 4 | 16): Buffer {
  return Buffer.from(address.toString(16).padStart(32, '0'), 'hex').subarray(16 - width);
}
