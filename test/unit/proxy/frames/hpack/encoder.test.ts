import { describe, expect, test } from '@jest/globals';
import { HpackDecoder } from '../../../../../src/proxy/frames/hpack/decoder.ts';
import { HpackEncoder } from '../../../../../src/proxy/frames/hpack/encoder.ts';

type Fields = readonly (readonly [name: string, value: string])[];

function encode(encoder: HpackEncoder, fields: Fields): Buffer {
  encoder.begin();
  for (const [name, value] of fields) encoder.add(name, value);
  return Buffer.from(encoder.end());
}

function decode(decoder: HpackDecoder, bytes: Buffer): Fields {
  const fields: [string, string][] = [];
  decoder.begin(bytes);
  for (let field = decoder.next(); field !== undefined; field = decoder.next()) fields.push([field.name, field.value]);
  return fields;
}

const common: Fields = [
  [':status', '200'],
  ['server', 'sallyport'],
  ['x-custom', 'value'],
];

describe('an encoder', () => {
  test('fields that were sent before take one byte', () => {
    const encoder = new HpackEncoder();
    expect(encode(encoder, common).length).toBeGreaterThan(10);
    const { generation } = encoder;
    expect(encode(encoder, common).toString('hex')).toBe('88bfbe');
    expect(encoder.generation).toBe(generation);
  });

  test('values that differ in every response do not enter the table', () => {
    const encoder = new HpackEncoder();
    const { generation } = encoder;
    encode(encoder, [
      ['content-length', '1'],
      ['etag', '"1"'],
      ['set-cookie', 'a=1'],
      ['x-long', 'x'.repeat(2_000)],
    ]);
    expect(encoder.generation).toBe(generation);
    // Never indexed, by anybody.
    expect(encode(encoder, [['set-cookie', 'a=1']])[0]).toBe(0x1f);
  });

  test('fields that were forgotten are sent again', () => {
    const encoder = new HpackEncoder();
    const decoder = new HpackDecoder(4_096);
    const first = encode(encoder, common);
    expect(decode(decoder, first)).toEqual(common);
    encoder.forget();
    encoder.forget();
    const second = encode(encoder, common);
    // The peer is told to empty its table, too.
    expect(second.toString('hex')).toBe(`203fe11f${first.toString('hex')}`);
    expect(decode(decoder, second)).toEqual(common);
    expect(decode(decoder, encode(encoder, common))).toEqual(common);
  });

  test('sections of several encoders do not disturb each other', () => {
    const [one, other] = [new HpackEncoder(), new HpackEncoder()];
    const long: Fields = [['x-long', '~'.repeat(20_000)]];
    expect(decode(new HpackDecoder(4_096), encode(one, long))).toEqual(long);
    expect(decode(new HpackDecoder(4_096), encode(other, common))).toEqual(common);
    expect(decode(new HpackDecoder(4_096), encode(one, common))).toEqual(common);
  });

  // 7,600 connections with a full table each took 50 MiB more.
  test('the tables of all encoders together have a limited number of fields', () => {
    const many: Fields = Array.from({ length: 60 }, (_, number) => [`x-${number}`, 'v']);
    const encoders = Array.from({ length: 2_000 }, () => new HpackEncoder());
    const decoders = encoders.map(() => new HpackDecoder(4_096));
    const lengths = encoders.map((encoder, index) => {
      const [decoder = new HpackDecoder(4_096)] = decoders.slice(index, index + 1);
      expect(decode(decoder, encode(encoder, many))).toEqual(many);
      const again = encode(encoder, many);
      expect(decode(decoder, again)).toEqual(many);
      return again.length;
    });
    expect(lengths[0]).toBe(60);
    expect(lengths.at(-1)).toBeGreaterThan(180);
    for (const encoder of encoders) encoder.forget();
    const encoder = new HpackEncoder();
    encode(encoder, many);
    expect(encode(encoder, many)).toHaveLength(60);
    encoder.forget();
  });

  test('fields that have left the table are sent again', () => {
    const encoder = new HpackEncoder();
    const decoder = new HpackDecoder(4_096);
    for (let round = 0; round < 3; round += 1) {
      for (let number = 0; number < 300; number += 1) {
        const fields: Fields = [...common, [`x-${number}`, 'y'.repeat(number)]];
        expect(decode(decoder, encode(encoder, fields))).toEqual(fields);
      }
    }
  });

  test.each([
    ['larger than the default: the default stays', [65_536], ''],
    ['smaller', [100], '3f45'],
    ['smaller, then the default', [0, 4_096], '203fe11f'],
    ['nothing', [0], '20'],
  ])('a table %s', (_name, sizes, prefix) => {
    const encoder = new HpackEncoder();
    const decoder = new HpackDecoder(4_096);
    decode(decoder, encode(encoder, common));
    for (const size of sizes) encoder.permit(size);
    expect(encoder.isResizing).toBe(true);
    const bytes = encode(encoder, common);
    expect(bytes.toString('hex').startsWith(prefix)).toBe(true);
    expect(decode(decoder, bytes)).toEqual(common);
    expect(encoder.isResizing).toBe(false);
    expect(decode(decoder, encode(encoder, common))).toEqual(common);
  });

  test('a table of a few bytes holds what fits', () => {
    const encoder = new HpackEncoder();
    const decoder = new HpackDecoder(4_096);
    encoder.permit(60);
    for (let round = 0; round < 5; round += 1) expect(decode(decoder, encode(encoder, common))).toEqual(common);
  });

  test('a section that is larger than all before it', () => {
    const fields: Fields = Array.from({ length: 200 }, (_, index) => [`x-${index}`, '\x80'.repeat(500)]);
    expect(decode(new HpackDecoder(4_096), encode(new HpackEncoder(), fields))).toEqual(fields);
  });
});
