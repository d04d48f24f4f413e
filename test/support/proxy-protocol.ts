import { crc32c } from '../../src/proxy/proxy-protocol/crc32c.ts';

/** A PROXY header of version 2; `body` is hexadecimal. */
export function v2(command: number, family: number, body: string): Buffer {
  const bytes = Buffer.from(body, 'hex');
  return Buffer.concat([
    Buffer.from('0d0a0d0a000d0a515549540a', 'hex'),
    Buffer.from([command, family, bytes.length >> 8, bytes.length & 0xff]),
    bytes,
  ]);
}

/** A field (TLV) of a header of version 2, hexadecimal as its value. */
export function field(type: number, value: string): string {
  const number = (digits: number, amount: number): string => amount.toString(16).padStart(digits, '0');
  return `${number(2, type)}${number(4, value.length / 2)}${value}`;
}

/** The header with its checksum at a position that holds zeros. */
export function withChecksum(header: Buffer, position: number): Buffer {
  const copy = Buffer.from(header);
  copy.writeUInt32BE(crc32c(header), position);
  return copy;
}
