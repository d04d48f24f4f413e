import { frame, literal } from '../../support/http2.ts';
import { randomFrom, seed } from './scale.ts';

type Random = () => number;

/** How a backend answers one request: these bytes in these pieces, and then the end. */
export interface Plan {
  readonly pieces: readonly Buffer[];
  readonly end: 'keep' | 'close' | 'reset';
  /** The content of the one response that the bytes are; `broken` where no client may take them for a whole one; otherwise they can be read as either. */
  readonly outcome: { readonly body: string } | 'broken' | 'either';
}

/** Every request has a number, which stands in each part of its response, so that a part in the wrong place is seen. */
export function tagOf(id: number): string {
  return `<${id}>`;
}

function pick<const T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}

function some<T>(random: Random, most: number, choices: readonly [T, ...T[]]): T[] {
  return Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(random, choices));
}

const lines = [
  'Content-Type: text/plain',
  'Date: Sun, 22 Nov 2026 20:00:00 GMT',
  'Set-Cookie: a=b',
  'Set-Cookie: c=d',
  'Vary: *',
  'ETag: "1"',
  'X-Empty:',
  '__proto__: a',
  'constructor: a',
  'HTTP2-Settings: AAAA',
  'Keep-Alive: timeout=5',
  'Proxy-Connection: keep-alive',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Connection: x-tag',
  'TE: trailers',
  'TE: gzip',
  'Trailer: X-T',
  'Expect: 100-continue',
  'Host: b',
] as const;
const broken = [
  'Bad Name: a',
  'X-B : a',
  ': a',
  'X-C',
  ' folded',
  ':status: 200',
  'X-D: \0',
  'X-E: a\rb',
  'X-F: a\nb',
  'X-G\x80: a',
  'X-H: \x7f',
  'Content-Length: 1',
  'Content-Length: -1',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked, gzip',
] as const;
const sound = ['200 OK', '200', '201 Created', '206 Partial', '404 Not Found', '503 \xe9', '599 x'] as const;
const unsound = ['600 A', '999 A', '099 A', '000 A', '1000 A', '20 A', '101 Switch', '200\0', '2OO OK', ''] as const;

/** The response of a backend in HTTP/1 to the request with this number: the same each time. */
export function http1Plan(id: number): Plan {
  const random = randomFrom(seed * 1_000_003 + id);
  const isUnsound = random() < 0.25;
  const version = isUnsound ? pick(random, ['1.1', '1.1', '1.0', '1.2', '2.0', '0.9']) : '1.1';
  const status = isUnsound && random() < 0.5 ? pick(random, unsound) : pick(random, sound);
  const fields: string[] = [
    `X-Tag: ${tagOf(id)}`,
    ...some(random, 4, lines),
    ...(isUnsound ? some(random, 2, broken) : []),
  ];
  if (isUnsound && random() < 0.05) fields.push(`X-Long: ${'a'.repeat(40_000)}`);
  const body = tagOf(id).repeat(Math.floor(random() * (random() < 0.1 ? 5_000 : 20)));
  const framed = frameHttp1(random, body, id, fields);
  const interim = interimOf(random, id);
  const message = `${interim.text}HTTP/${version} ${status}\r\n${fields.join('\r\n')}\r\n\r\n${framed.text}`;
  const whole = Buffer.from(message, 'latin1');
  return fateOf(random, whole, { ...framed, body, isSound: !isUnsound && framed.isSound && interim.isSound });
}

/** Whether the whole comes, in which pieces, how often, and how it ends. */
function fateOf(
  random: Random,
  whole: Buffer,
  {
    body,
    isSound,
    endsWithConnection,
  }: { readonly body: string; readonly isSound: boolean; readonly endsWithConnection: boolean },
): Plan {
  const fate = random();
  if (fate < 0.15) {
    const cut = Math.floor(random() * whole.length);
    // A response that ends with its connection cannot tell that it was cut off by an ordinary end.
    const end = endsWithConnection ? 'reset' : pick(random, ['close', 'reset']);
    return { pieces: split(random, whole.subarray(0, cut)), end, outcome: isSound ? 'broken' : 'either' };
  }
  if (fate < 0.25 && !endsWithConnection)
    return { pieces: [Buffer.concat([whole, whole])], end: 'keep', outcome: isSound ? { body } : 'either' };
  if (fate < 0.35) return { pieces: split(random, mutate(random, whole)), end: 'close', outcome: 'either' };
  const end = endsWithConnection || !isSound ? 'close' : pick(random, ['keep', 'keep', 'close']);
  return { pieces: split(random, whole), end, outcome: isSound ? { body } : 'either' };
}

function frameHttp1(
  random: Random,
  body: string,
  id: number,
  fields: string[],
): { readonly text: string; readonly isSound: boolean; readonly endsWithConnection: boolean } {
  const kind = random();
  if (kind < 0.35) {
    fields.push(`Content-Length: ${body.length}`);
    return { text: body, isSound: true, endsWithConnection: false };
  }
  if (kind < 0.75) {
    fields.push('Transfer-Encoding: chunked');
    const trailers = random() < 0.3 ? [`X-Tag: ${tagOf(id)}`, ...some(random, 2, lines)] : [];
    return {
      text: `${chunks(random, body)}0\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`,
      isSound: true,
      endsWithConnection: false,
    };
  }
  if (kind < 0.85) return { text: body, isSound: true, endsWithConnection: true };
  const wrong = pick(random, ['short', 'long', 'both', 'size', 'extension', 'trailer']);
  if (wrong === 'short' || wrong === 'long')
    fields.push(`Content-Length: ${wrong === 'short' ? Math.floor(body.length / 2) : body.length + 5}`);
  else fields.push('Transfer-Encoding: chunked');
  if (wrong === 'both') fields.push(`Content-Length: ${body.length}`);
  const text =
    {
      short: body,
      long: body,
      both: `${chunks(random, body)}0\r\n\r\n`,
      size: `xyz\r\n${body}\r\n0\r\n\r\n`,
      extension: `1;a=${'b'.repeat(9_000)}\r\na\r\n0\r\n\r\n`,
      trailer: `0\r\nbad trailer\0\r\n\r\n`,
    }[wrong] ?? '';
  return { text, isSound: false, endsWithConnection: false };
}

function chunks(random: Random, body: string): string {
  let text = '';
  for (let start = 0; start < body.length;) {
    const size = random() < 0.1 ? 1 : 1 + Math.floor(random() * 4_000);
    const piece = body.slice(start, start + size);
    text += `${piece.length.toString(16)}${random() < 0.1 ? ';a="b;c"' : ''}\r\n${piece}\r\n`;
    start += size;
  }
  return text;
}

function interimOf(random: Random, id: number): { readonly text: string; readonly isSound: boolean } {
  if (random() < 0.8) return { text: '', isSound: true };
  const count = random() < 0.05 ? 5_000 : 1 + Math.floor(random() * 3);
  const isSound = count < 32 && random() < 0.8;
  const status = isSound ? pick(random, ['100', '102', '103', '199']) : pick(random, ['103', '101', '100']);
  return { text: `HTTP/1.1 ${status} A\r\nX-Tag: ${tagOf(id)}\r\nLink: a\r\n\r\n`.repeat(count), isSound };
}

/** Puts no digits in, which could make the tag of another request. */
function mutate(random: Random, bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  for (let count = 0; count < 1 + random() * 3; count += 1)
    changed[Math.floor(random() * Math.min(bytes.length, 400))] = pick(random, [0, 10, 13, 32, 58, 59, 45, 255, 65]);
  return changed;
}

function split(random: Random, bytes: Buffer): Buffer[] {
  if (random() < 0.6) return [bytes];
  const places = Array.from({ length: 3 }, () => Math.floor(random() * bytes.length)).toSorted(
    (one, other) => one - other,
  );
  return [0, ...places].map((place, index) => bytes.subarray(place, places[index] ?? bytes.length));
}

const endStream = 1;
const endHeaders = 4;

/** The same in HTTP/2, for a stream. */
export function http2Plan(id: number, stream: number): Plan {
  const random = randomFrom(seed * 2_000_003 + id);
  const body = tagOf(id).repeat(Math.floor(random() * 20));
  const head = (more: readonly (readonly [string, string])[], flags: number): Buffer =>
    frame('headers', flags, stream, literal(...more));
  const tagged: readonly (readonly [string, string])[] = [
    ['x-tag', tagOf(id)],
    ['content-type', 'application/grpc'],
  ];
  const interim =
    random() < 0.1
      ? Array.from({ length: random() < 0.1 ? 500 : 2 }, () =>
          head([[':status', pick(random, ['103', '102', '100'])], ...tagged], endHeaders),
        )
      : [];
  const start = head([[':status', '200'], ...tagged], endHeaders);
  const data = frame('data', 0, stream, Buffer.from(body));
  const trailers = head(
    [
      ['grpc-status', '0'],
      ['x-tag', tagOf(id)],
    ],
    endStream | endHeaders,
  );
  const fate = random();
  if (fate < 0.5)
    return {
      pieces: [Buffer.concat([...interim, start, data, trailers])],
      end: 'keep',
      outcome: interim.length > 30 ? 'either' : { body },
    };
  if (fate < 0.62)
    return {
      pieces: [
        Buffer.concat([
          ...interim,
          start,
          data,
          frame('reset', 0, stream, Buffer.from([0, 0, 0, pick(random, [1, 2, 7, 8, 11])])),
        ]),
      ],
      end: 'keep',
      outcome: 'broken',
    };
  if (fate < 0.7)
    return {
      pieces: [Buffer.concat([...interim, start, data])],
      end: pick(random, ['close', 'reset']),
      outcome: 'broken',
    };
  if (fate < 0.85) {
    const field = pick<readonly [string, string]>(random, [
      [':status', '200'],
      [':path', '/'],
      ['connection', 'close'],
      ['transfer-encoding', 'chunked'],
      ['http2-settings', 'a'],
      ['te', 'gzip'],
      ['upgrade', 'h2c'],
      ['Upper', 'a'],
      ['', 'a'],
      ['bad name', 'a'],
      ['x-nul', '\0'],
      ['x-crlf', 'a\r\nb: c'],
      ['content-length', '1'],
      ['content-length', 'x'],
      ['__proto__', 'a'],
      ['x-space', ' a '],
    ]);
    const status = pick(random, ['200', '600', '999', '000', '099', '101', '20', '2000', 'abc', '204', '205', '304']);
    return {
      pieces: [Buffer.concat([head([[':status', status], field, ...tagged], endHeaders), data, trailers])],
      end: 'keep',
      outcome: 'either',
    };
  }
  const rogue = pick(random, [
    frame('data', 0, 0, Buffer.from('a')),
    frame('data', endStream, stream + 1_000, Buffer.from('a')),
    frame('headers', endHeaders, 2, literal([':status', '200'])),
    frame('push', endHeaders, stream, Buffer.alloc(8)),
    frame('continuation', endHeaders, stream),
    frame('windowUpdate', 0, stream, Buffer.alloc(4)),
    frame('settings', 0, 0, Buffer.alloc(5)),
    frame('settings', 0, 0, Buffer.from([0, 4, 255, 255, 255, 255])),
    frame('ping', 0, 0, Buffer.alloc(3)),
    frame('goaway', 0, 0, Buffer.alloc(8)),
    frame('priority', 0, stream, Buffer.alloc(5)),
    frame('headers', endHeaders, stream, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
    Buffer.from([255, 255, 255, 0, 0, 0, 0, 0, stream]),
    mutate(random, start),
  ]);
  return {
    pieces: [Buffer.concat(random() < 0.5 ? [rogue, start, data, trailers] : [start, data, rogue, trailers])],
    end: 'close',
    outcome: 'either',
  };
}
