import { describe, expect, test } from '@jest/globals';
import { CompressionError, HpackDecoder } from '../../../../../src/proxy/frames/hpack/decoder.ts';

type Lines = readonly string[];

function decode(decoder: HpackDecoder, bytes: Buffer): Lines {
  const lines: string[] = [];
  decoder.begin(bytes);
  for (let field = decoder.next(); field !== undefined; field = decoder.next())
    lines.push(`${field.name}: ${field.value}`);
  return lines;
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

const requests: readonly Lines[] = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
  [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
];
const responses: readonly Lines[] = [
  [
    ':status: 302',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:21 GMT',
    'location: https://www.example.com',
  ],
  [
    ':status: 307',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:21 GMT',
    'location: https://www.example.com',
  ],
  [
    ':status: 200',
    'cache-control: private',
    'date: Mon, 21 Oct 2013 20:13:22 GMT',
    'location: https://www.example.com',
    'content-encoding: gzip',
    'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
  ],
];

describe('the examples of RFC 7541 appendix C', () => {
  test.each([
    ['C.2.1', '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', 'custom-key: custom-header'],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', ':path: /sample/path'],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', 'password: secret'],
    ['C.2.4', '82', ':method: GET'],
  ])('%s', (_name, bytes, line) => {
    expect(decode(new HpackDecoder(4_096), hex(bytes))).toEqual([line]);
  });

  test.each([
    [
      'C.3',
      4_096,
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
      requests,
    ],
    [
      'C.4',
      4_096,
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
      requests,
    ],
    [
      'C.5',
      256,
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '4803 3330 37c1 c0bf',
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      ],
      responses,
    ],
    [
      'C.6',
      256,
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ],
      responses,
    ],
  ])('%s', (_name, size, blocks, lines) => {
    const decoder = new HpackDecoder(size);
    expect(blocks.map((block) => decode(decoder, hex(block)))).toEqual(lines);
  });
});

describe('the dynamic table', () => {
  test('a field that is larger than the table empties it', () => {
    const decoder = new HpackDecoder(64);
    decode(decoder, hex('4001 6101 62'));
    expect(decode(decoder, hex('be'))).toEqual(['a: b']);
    decode(decoder, Buffer.concat([hex('4001 617f 21'), Buffer.alloc(160, 'x')]));
    expect(() => decode(decoder, hex('be'))).toThrow(CompressionError);
  });

  test('a smaller size removes the oldest fields', () => {
    const decoder = new HpackDecoder(4_096);
    decode(decoder, hex('4001 6101 62 4001 6301 64'));
    expect(decode(decoder, hex('3f03 be'))).toEqual(['c: d']);
    expect(() => decode(decoder, hex('bf'))).toThrow(CompressionError);
  });

  test('the generation changes with the table only', () => {
    const decoder = new HpackDecoder(4_096);
    decode(decoder, hex('4001 6101 62'));
    const { generation } = decoder;
    decode(decoder, hex('be82 0001 6101 62 1001 6101 62'));
    expect(decoder.generation).toBe(generation);
    decode(decoder, hex('3f03'));
    expect(decoder.generation).not.toBe(generation);
  });
});

test.each([
  ['index 0', '80'],
  ['an index beyond the tables', 'be'],
  ['a name beyond the tables', '7f0001 61'],
  ['an index that ends early', 'ff'],
  ['an integer that is too large', 'ff ffff ffff ff0f'],
  ['a string that ends early', '0003 6162'],
  ['no string', '00'],
  ['a string without a value', '0001 61'],
  ['a length that is too large', '00 7fff ffff ff07'],
  ['a table that is too large', '3fe2 1f'],
  ['a change of the table after a field', '82 20'],
  ['padding that is not the beginning of the end', '0001 61 81 00'],
  ['padding of a whole byte', '0001 61 82 1fff'],
  ['the end of a string in a string', '0001 61 84 ffff ffff'],
])('%s is an error', (_name, bytes) => {
  expect(() => decode(new HpackDecoder(4_096), hex(bytes))).toThrow(CompressionError);
});
