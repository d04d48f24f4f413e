/**
 * The part of the Protocol Buffers wire format that messages of authorization servers need ("Encoding", protobuf.dev).
 * Fields of the wire types varint and length-delimited are decoded, others are skipped. No dependency includes a
 * decoder, and a package for any schema would be far larger than these two messages. The decoder is stricter than the
 * format requires: it rejects data that no encoder writes, because the response decides who gets access.
 */

const varintType = 0;
const fixed64Type = 1;
const delimitedType = 2;
const fixed32Type = 5;

/** Maximum length of a 64-bit varint in bytes. */
const longestVarint = 10;

/** A message that violates the format. */
export class MalformedMessage extends Error {}

/** A field's value: a number for varints, otherwise bytes. Numbers beyond 53 bits are inexact, and never become 0. */
export interface WireField {
  readonly number: number;
  readonly value: number | Buffer;
}

/**
 * Decodes the fields of a message in wire order.
 *
 * @throws MalformedMessage for truncated messages, groups, and invalid field numbers
 */
export function* readFields(message: Buffer): Iterable<WireField> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let index = 0; index < longestVarint; index += 1) {
      const byte = message[at];
      if (byte === undefined) throw new MalformedMessage('cut varint');
      at += 1;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw new MalformedMessage('varint of more than 64 bits');
  };
  const bytes = (length: number): Buffer => {
    if (length > message.length - at) throw new MalformedMessage('cut field');
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    if (number < 1 || number >= 2 ** 29) throw new MalformedMessage('invalid number of a field');
    switch (tag % 8) {
      case varintType:
        yield { number, value: varint() };
        break;
      case delimitedType:
        yield { number, value: bytes(varint()) };
        break;
      case fixed64Type:
        bytes(8);
        break;
      case fixed32Type:
        bytes(4);
        break;
      default:
        throw new MalformedMessage('invalid type of a field');
    }
  }
}

/**
 * Returns the bytes of a message, string or bytes field.
 *
 * @throws MalformedMessage for a field of another type
 */
export function bytesIn({ value }: WireField): Buffer {
  if (typeof value === 'number') throw new MalformedMessage('number in place of bytes');
  return value;
}

/**
 * Returns the value of a number, enum or boolean field.
 *
 * @throws MalformedMessage for a field of another type
 */
export function numberIn({ value }: WireField): number {
  if (typeof value !== 'number') throw new MalformedMessage('bytes in place of a number');
  return value;
}

/** Encodes a length-delimited field: a message, bytes, or a string. */
export function delimitedField(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varintBytes(number * 8 + delimitedType), varintBytes(bytes.length), bytes]);
}

/** Encodes a field of type int32, int64, uint32, enum or bool; `value` is an integer. */
export function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varintBytes(number * 8 + varintType), varintBytes(value)]);
}

function varintBytes(value: number): Buffer {
  const bytes: number[] = [];
  // Negative numbers are encoded as 64-bit numbers.
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
