import { frame, literal, preface, settingsFrame, uint32 } from '../../support/http2.ts';

const endStream = 1;
const endHeaders = 4;
const padded = 8;
const priority = 0x20;

const head = (method: string, ...fields: readonly (readonly [string, string])[]): Buffer =>
  literal([':method', method], [':scheme', 'http'], [':path', `/${method}`], [':authority', 'a'], ...fields);
/** A field that is added to the dynamic table, and its place in it as the newest. */
const added = Buffer.concat([Buffer.from([0x40]), literal(['x-added', 'value']).subarray(1)]);
const newest = Buffer.from([0xbe]);
/** `:method GET`, `:scheme http`, `:path /` of the static table, and an authority as Huffman code. */
const compressed = Buffer.from('82868441 8cf1e3c2e5f23a6ba0ab90f4ff'.replace(' ', ''), 'hex');

/** Valid conversations: frames after preface and SETTINGS. */
const conversations: readonly (readonly Buffer[])[] = [
  [frame('headers', endStream | endHeaders, 1, head('GET'))],
  [frame('headers', endStream | endHeaders, 1, compressed), frame('headers', endStream | endHeaders, 3, compressed)],
  [
    frame('headers', endHeaders, 1, head('POST', ['content-length', '5'])),
    frame('data', 0, 1, Buffer.from('he')),
    frame('data', endStream, 1, Buffer.from('llo')),
  ],
  [
    frame('headers', endHeaders, 1, head('PUT')),
    frame('data', padded, 1, Buffer.from('\x03body\0\0\0')),
    frame('data', 0, 1),
    frame('headers', endStream | endHeaders, 1, literal(['x-trailer', '1'])),
  ],
  [
    frame('headers', endStream, 1, head('GET').subarray(0, 7)),
    frame('continuation', 0, 1, head('GET').subarray(7, 20)),
    frame('continuation', endHeaders, 1, head('GET').subarray(20)),
  ],
  [
    frame('headers', endStream | endHeaders, 1, Buffer.concat([head('GET'), added])),
    frame('headers', endStream | endHeaders, 3, Buffer.concat([head('HEAD'), newest, newest])),
    frame('headers', endStream | endHeaders, 5, Buffer.concat([Buffer.from([0x20]), head('GET')])),
  ],
  [
    frame(
      'headers',
      endStream | endHeaders | padded | priority,
      1,
      Buffer.concat([
        Buffer.from([2, 0, 0, 0, 0, 9]),
        head('GET', ['cookie', 'a=1'], ['cookie', 'b=2']),
        Buffer.alloc(2),
      ]),
    ),
    frame('priority', 0, 1, Buffer.from([0, 0, 0, 3, 9])),
  ],
  [
    frame('headers', endHeaders, 1, head('POST')),
    frame('ping', 0, 0, Buffer.alloc(8, 7)),
    frame('windowUpdate', 0, 1, uint32(100)),
    frame('windowUpdate', 0, 0, uint32(100)),
    settingsFrame(4, 10),
    frame('data', endStream, 1, Buffer.alloc(300, 'x')),
    frame('reset', 0, 1, uint32(8)),
  ],
  [
    frame(
      'headers',
      endHeaders,
      1,
      literal(
        [':method', 'CONNECT'],
        [':protocol', 'websocket'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'a'],
      ),
    ),
    frame('data', 0, 1, Buffer.from('hello')),
    frame('data', endStream, 1),
  ],
  [
    settingsFrame(1, 0),
    settingsFrame(4, 1),
    frame('headers', endStream | endHeaders, 1, head('GET')),
    frame('settings', 1, 0),
  ],
  [
    frame('headers', endHeaders, 1, head('POST', ['expect', '100-continue'])),
    frame('goaway', 0, 0, Buffer.alloc(8)),
    frame('data', endStream, 1, Buffer.from('x')),
  ],
];

const frameHead = 9;

/** The bytes of one connection: one or two valid conversations with up to a few faults. */
export function mutant(random: () => number): Buffer {
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const frames = pick(conversations).map((bytes) => Buffer.from(bytes));
  if (random() < 0.3)
    for (const bytes of pick(conversations)) {
      const later = Buffer.from(bytes);
      const stream = later.readUInt32BE(5);
      if (stream > 0) later.writeUInt32BE(stream + 6, 5);
      frames.push(later);
    }
  const faults: readonly (() => void)[] = [
    () => frames.splice(below(frames.length), 1),
    () => frames.splice(below(frames.length), 0, Buffer.from(pick(frames))),
    () => frames.splice(below(frames.length + 1), 0, Buffer.from(pick(pick(conversations)))),
    () => void frames.splice(0, frames.length, ...frames.toReversed()),
    () => void (pick(frames)[4] = below(256)),
    () => void (pick(frames)[4]! ^= 1 << below(6)),
    () => void (pick(frames)[3] = below(12)),
    () => void pick(frames).writeUInt32BE(pick([0, 1, 2, 3, 5, 7, 101, 0x8000_0001, 0x7fff_ffff]), 5),
    () => void pick(frames).writeUIntBE(pick([0, 1, 4, 5, 7, 8, 9, 100, 16_384, 16_385, 0xff_ffff]), 0, 3),
    () => flip(pick(frames), frameHead, below),
    () => flip(pick(frames), frameHead, below),
    () => flip(pick(frames), 0, below),
  ];
  for (let count = below(4); count > 0 && frames.length > 0; count -= 1) pick(faults)();
  const bytes = Buffer.concat([preface, ...frames]);
  if (random() < 0.05) flip(bytes, 0, below);
  return random() < 0.1 ? bytes.subarray(0, below(bytes.length)) : bytes;
}

function flip(bytes: Buffer, from: number, below: (limit: number) => number): void {
  if (bytes.length > from) bytes[from + below(bytes.length - from)]! ^= 1 << below(8);
}

/** Cuts bytes into pieces, some of them single bytes. */
export function cut(bytes: Buffer, random: () => number): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(bytes.length, start + 1 + Math.floor(random() ** 3 * 60));
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return pieces;
}
