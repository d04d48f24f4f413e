import { isIPv4, isIPv6 } from 'node:net';
import { formatIpAddress, parseIpAddress } from '../../core/text/ip-address.ts';
import { crc32c } from './crc32c.ts';
import { families, fixedV2, longestV1, starts } from './format.ts';
import type { Origin } from './origin.ts';

/** A PROXY protocol header. */
export interface ProxyHeader {
  /** Length of the header in bytes; the client's bytes follow. */
  readonly length: number;
  /** `undefined` if the header contains none (LOCAL, UNKNOWN, Unix sockets): the connection's own addresses apply. */
  readonly origin: Origin | undefined;
}

/** The reason why a connection does not begin with a valid header. */
export type HeaderFailure = 'malformed' | 'too-long';

/**
 * Parses the PROXY header, version 1 or 2, at the beginning of a connection ("The PROXY protocol", sections 2.1 and
 * 2.2).
 *
 * @param bytes all bytes so far
 * @param limit maximum length of a version 2 header in bytes; version 1 has its own limit
 * @returns `undefined` while the header is incomplete
 */
export function parseProxyHeader(bytes: Buffer, limit: number): ProxyHeader | HeaderFailure | undefined {
  if (mayStartWith(bytes, starts.v2)) return bytes.length < fixedV2 ? undefined : parseV2(bytes, limit);
  return mayStartWith(bytes, starts.v1) ? parseV1(bytes) : 'malformed';
}

function mayStartWith(bytes: Buffer, start: Buffer): boolean {
  const known = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, known, 0, known) === 0;
}

const endOfLine = '\r\n';
const portNumber = /^(?:0|[1-9][0-9]{0,4})$/;
const addressTests: Readonly<Record<string, (text: string) => boolean>> = {
  TCP4: isIPv4,
  // A zone has no meaning on another machine.
  TCP6: (text) => isIPv6(text) && !text.includes('%'),
};

function parseV1(bytes: Buffer): ProxyHeader | HeaderFailure | undefined {
  const end = bytes.subarray(0, longestV1).indexOf(endOfLine);
  if (end < 0) return bytes.length < longestV1 ? undefined : 'too-long';
  const [, family = '', ...fields] = bytes.toString('latin1', 0, end).split(' ');
  const length = end + endOfLine.length;
  // The rest of such a line must be ignored.
  if (family === 'UNKNOWN') return { length, origin: undefined };
  const origin = originOfLine(family, fields);
  return origin === undefined ? 'malformed' : { length, origin };
}

function originOfLine(family: string, fields: readonly string[]): Origin | undefined {
  const [client = '', destination = '', clientPort = '', destinationPort = ''] = fields;
  const isAddress = Object.hasOwn(addressTests, family) ? addressTests[family] : undefined;
  if (
    fields.length !== 4 ||
    isAddress?.(client) !== true ||
    !isAddress(destination) ||
    !isPort(clientPort) ||
    !isPort(destinationPort)
  )
    return undefined;
  return {
    client: { host: canonical(client), port: Number(clientPort) },
    destination: { host: canonical(destination), port: Number(destinationPort) },
  };
}

function isPort(text: string): boolean {
  return portNumber.test(text) && Number(text) <= 65_535;
}

/** Normalizes an address, because quotas count clients by its text. */
function canonical(address: string): string {
  return formatIpAddress(parseIpAddress(address) ?? 0n);
}

const versionBits = 0x20;
const commands = { local: 0, proxy: 1 } as const;
const sizes: ReadonlyMap<number, number> = new Map(Object.values(families).map(({ code, size }) => [code, size]));

function parseV2(bytes: Buffer, limit: number): ProxyHeader | HeaderFailure | undefined {
  const command = bytes.readUInt8(12) - versionBits;
  if (command !== commands.local && command !== commands.proxy) return 'malformed';
  const length = fixedV2 + bytes.readUInt16BE(14);
  if (length > limit) return 'too-long';
  const family = bytes.readUInt8(13);
  const size = sizes.get(family);
  if (command === commands.proxy && (size === undefined || fixedV2 + size > length)) return 'malformed';
  if (bytes.length < length) return undefined;
  // A LOCAL connection is the load balancer's own, regardless of the rest of the header. An unknown address family counts as LOCAL.
  if (command === commands.local || size === undefined || size === 0) return { length, origin: undefined };
  const header = bytes.subarray(0, length);
  return areSound(header, fixedV2 + size) ? { length, origin: originIn(header, family) } : 'malformed';
}

function originIn(header: Buffer, family: number): Origin | undefined {
  if (family !== families.tcp4.code && family !== families.tcp6.code) return undefined;
  const width = family === families.tcp4.code ? 4 : 16;
  const ports = fixedV2 + 2 * width;
  return {
    client: { host: addressAt(header, fixedV2, width), port: header.readUInt16BE(ports) },
    destination: { host: addressAt(header, fixedV2 + width, width), port: header.readUInt16BE(ports + 2) },
  };
}

function addressAt(header: Buffer, position: number, width: 4 | 16): string {
  const bytes = header.subarray(position, position + width);
  return width === 4 ? bytes.join('.') : formatIpAddress(BigInt(`0x${bytes.toString('hex')}`));
}

const checksumType = 0x03;
const fieldHeader = 3;

/** Whether the fields after the addresses fill the header exactly, and a checksum among them matches (section 2.2.3). */
function areSound(header: Buffer, start: number): boolean {
  let position = start;
  while (position < header.length) {
    if (position + fieldHeader > header.length) return false;
    const value = position + fieldHeader;
    const end = value + header.readUInt16BE(position + 1);
    if (end > header.length) return false;
    if (header[position] === checksumType && !isChecksum(header, value, end)) return false;
    position = end;
  }
  return true;
}

function isChecksum(header: Buffer, begin: number, end: number): boolean {
  if (end - begin !== 4) return false;
  const zeroed = Buffer.from(header).fill(0, begin, end);
  return crc32c(zeroed) === header.readUInt32BE(begin);
}
