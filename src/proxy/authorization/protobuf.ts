/**
 * The part of the wire format of Protocol Buffers that messages of authorization servers need ("Encoding", protobuf.dev): fields of
 * the wire types varint and length-delimited are read, others are skipped. No package for it is among the dependencies, and one that
 * reads any schema would be far larger than these two messages. It is stricter than the format has to be: what no encoder writes is
 * refused rather than guessed, because the answer decides who gets in.
 */

const varintType = 0;
const fixed64Type = 1;
const delimitedType = 2;
const fixed32Type = 5;

/** The most bytes of a varint of 64 bits. */
const longestVarint = 10;

/** A message that breaks the format. */
export class MalformedMessage extends Error {}

/** The value of a field: a number for varints, otherwise bytes. Numbers beyond 53 bits are inexact, and never become 0. */
export interface WireField {
  readonly number: number;
  readonly value: number | Buffer;
}

/**
 * Reads the fields of a message in the order of the wire.
 *
 * @throws MalformedMessage for what is cut, for groups, and for numbers of fields that do not exist
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
 * The bytes of a message, a string or bytes.
 *
 * @throws MalformedMessage for a field of another type
 */
export function bytesIn({ value }: WireField): Buffer {
  if (typeof value === 'number') throw new MalformedMessage('number in place of bytes');
  return value;
}

/**
 * A number, enum or boolean.
 *
 * @throws MalformedMessage for a field of another type
 */
export function numberIn({ value }: WireField): number {
  if (typeof value !== 'number') throw new MalformedMessage('bytes in place of a number');
  return value;
}

/** A length-delimited field: a message, bytes, or a string. */
export function delimitedField(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([varintBytes(number * 8 + delimitedType), varintBytes(bytes.length), bytes]);
}

/** A field of the type int32, int64, uint32, enum or bool; `value` is an integer. */
export function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varintBytes(number * 8 + varintType), varintBytes(value)]);
}

function varintBytes(value: number): Buffer {
  const bytes: number[] = [];
  // Negative numbers are written as those of 64 bits.
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
