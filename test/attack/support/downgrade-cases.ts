import { frame, literal } from '../../support/http2.ts';

/** A request in HTTP/2 with parts that mean something else in HTTP/1. `{P}` stands for its own path, `{X}` for that of a hidden request. */
export interface DowngradeRecipe {
  readonly method?: string;
  readonly path?: string;
  readonly scheme?: string;
  /** `undefined` where there is none. */
  readonly authority?: string | undefined;
  /** Fields behind the pseudo-header fields, which may be some, too. */
  readonly fields?: readonly Field[];
  readonly body?: string;
  readonly trailers?: readonly Field[];
}

type Field = readonly [name: string, value: string];

const hidden = 'GET {X} HTTP/1.1\r\nHost: a\r\n\r\n';
const chunked = `0\r\n\r\n${hidden}`;

const methods = [
  'GET',
  'POST',
  'HEAD',
  'get',
  'GE T',
  'GET\0',
  '',
  'GET\t',
  'G:T',
  'GET /a HTTP/1.1\r\nX-Evil: y',
  `GET {X} HTTP/1.1\r\nHost: a\r\n\r\nGET`,
  'PRI',
  'CONNECT',
  'TRACE',
];
const paths = [
  '',
  '*',
  '{P} ',
  ' {P}',
  '{P}\t',
  '{P}\0',
  '{P}\r',
  '{P}\n',
  '{P}\r\nX-Evil: y',
  '{P} HTTP/1.1\r\nX-Evil: y',
  `{P} HTTP/1.1\r\nHost: a\r\n\r\nGET {X}`,
  '{P}#x',
  '{P}?a b',
  '{P}?\r\n',
  '{P}%0d%0aX-Evil:%20y',
  '{P}\x7f',
  '{P}\xe9',
  '{P}|',
  '{P}\\..',
  'a{P}',
  'http://b{P}',
  '//b{P}',
  '/x/..{P}',
  '/%2e%2e{P}',
  'https://a{P}',
  '{P}"',
];
const schemes = ['https', 'ftp', '', 'http\r\nX-Evil: y', 'http://b/?', 'HTTP', 'http\0'];
const authorities = [
  undefined,
  '',
  'b',
  'A',
  'a:80',
  'a:',
  'a:x',
  'u@a',
  'a b',
  'a, b',
  'a/x',
  'a\0',
  'a\r\nX-Evil: y',
  'a\r\n\r\nGET {X} HTTP/1.1',
  'a\tb',
  '[::1]',
  'a?',
  'a#',
  'a\\b',
  '\xe9',
];
const names = [
  'x:y',
  'x y',
  ' x',
  'x ',
  'x\t',
  'x\r\nx-evil',
  'x\rx',
  'x\nx',
  'x\0',
  '',
  'X-Evil',
  'x\x7f',
  'x\xe9',
  '(x)',
  'x\r\n\r\nGET',
  ':x',
  ':path',
  ':method',
  'x: y\r\nx-evil',
];
const values = [
  'y\r\nX-Evil: y',
  'y\r\nTransfer-Encoding: chunked',
  `y\r\n\r\n${hidden}`,
  'y\0',
  'y\rX-Evil: y',
  'y\nX-Evil: y',
  '\r\n y',
  ' y',
  'y ',
  '\ty',
  '\x01',
  'y\x7f',
  '\xe9',
  '',
];
const lengths: readonly (readonly string[])[] = [
  ['5'],
  ['0'],
  ['3'],
  ['9'],
  ['5', '5'],
  ['5', '6'],
  ['5, 5'],
  ['+5'],
  ['-5'],
  ['0x5'],
  [' 5'],
  ['5 '],
  ['5\r\nX-Evil: y'],
  ['99999999999999999999'],
  [''],
  ['05'],
  ['5;'],
  ['5\0'],
];
const codings = ['chunked', 'identity', 'gzip, chunked', 'Chunked', '\x0bchunked', 'chunked\r\nX-Evil: y', ''];
const hops: readonly Field[] = [
  ['connection', 'x'],
  ['connection', 'close'],
  ['connection', 'transfer-encoding'],
  ['connection', 'content-length, host'],
  ['keep-alive', 'timeout=5'],
  ['proxy-connection', 'close'],
  ['upgrade', 'h2c'],
  ['upgrade', 'websocket'],
  ['http2-settings', 'AAA'],
  ['te', 'trailers'],
  ['te', 'gzip'],
  ['te', 'trailers, chunked'],
  ['trailer', 'content-length'],
  ['expect', '100-continue'],
  ['expect', 'x'],
  ['max-forwards', '0'],
];
const hosts: readonly (readonly Field[])[] = [
  [['host', 'a']],
  [['host', 'b']],
  [
    ['host', 'a'],
    ['host', 'a'],
  ],
  [
    ['host', 'a'],
    ['host', 'b'],
  ],
  [['host', '']],
  [['host', 'a\r\nX-Evil: y']],
  [['Host', 'b']],
  [[':authority', 'b']],
];
const trailers: readonly (readonly Field[])[] = [
  [['x-fine', 'y']],
  [['transfer-encoding', 'chunked']],
  [['content-length', '5']],
  [['host', 'b']],
  [['x-fine', 'y\r\nX-Evil: y']],
  [['x\r\nx-evil', 'y']],
  [[':path', '/x']],
  [['connection', 'close']],
  [['X-Evil', 'y']],
  [['x y', 'z']],
];
const bodies = ['hello', '', chunked, hidden, '\r\n\r\n', '5\r\nhello\r\n0\r\n\r\n'];

/** Every part by itself, without and with a body. */
export function singleDowngrades(): DowngradeRecipe[] {
  const parts: readonly DowngradeRecipe[] = [
    ...methods.map((method) => ({ method })),
    ...paths.map((path) => ({ path })),
    ...schemes.map((scheme) => ({ scheme })),
    ...authorities.map((authority) => ({ authority })),
    ...names.map((name): DowngradeRecipe => ({ fields: [[name, 'y']] })),
    ...values.map((value): DowngradeRecipe => ({ fields: [['x', value]] })),
    ...hops.map((field) => ({ fields: [field] })),
    ...hosts.map((fields) => ({ fields })),
    ...hosts.map((fields) => ({ fields, authority: undefined })),
  ];
  const framed: readonly DowngradeRecipe[] = [
    ...lengths.map((all): DowngradeRecipe => ({ fields: all.map((value) => ['content-length', value]) })),
    ...codings.map((coding): DowngradeRecipe => ({ fields: [['transfer-encoding', coding]] })),
    ...codings.map((coding): DowngradeRecipe => ({
      fields: [
        ['transfer-encoding', coding],
        ['content-length', '5'],
      ],
    })),
    ...codings.map((coding): DowngradeRecipe => ({ fields: [['Transfer-Encoding', coding]] })),
    ...trailers.map((after) => ({ trailers: after })),
  ];
  return [
    ...parts,
    ...parts.map((part) => ({ body: 'hello', method: 'POST', ...part })),
    ...framed.flatMap((part) => bodies.map((body) => ({ method: 'POST', ...part, body }))),
    ...framed,
  ];
}

/** A mixture of parts. */
export function mixedDowngrade(random: () => number): DowngradeRecipe {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const sometimes = (chance: number): boolean => random() < chance;
  const fields: Field[] = [];
  if (sometimes(0.2)) fields.push([pick(names), sometimes(0.5) ? 'y' : pick(values)]);
  if (sometimes(0.2)) fields.push(['x', pick(values)]);
  if (sometimes(0.3)) fields.push(pick(hops));
  if (sometimes(0.2)) fields.push(...pick(hosts));
  if (sometimes(0.4)) fields.push(...pick(lengths).map((value): Field => ['content-length', value]));
  if (sometimes(0.2)) fields.push(['transfer-encoding', pick(codings)]);
  return {
    fields: fields.toSorted(() => random() - 0.5),
    method: sometimes(0.15) ? pick(methods) : 'POST',
    ...(sometimes(0.7) ? { body: pick(bodies) } : {}),
    ...(sometimes(0.15) ? { path: pick(paths) } : {}),
    ...(sometimes(0.1) ? { scheme: pick(schemes) } : {}),
    ...(sometimes(0.15) ? { authority: pick(authorities) } : {}),
    ...(sometimes(0.1) ? { trailers: pick(trailers) } : {}),
  };
}

const endStream = 1;
const endHeaders = 4;

/** The frames of a recipe on stream 1, and an ordinary request on stream 3. */
export function framesOfDowngrade(number: number, recipe: DowngradeRecipe): Buffer {
  const { method = 'GET', path = '{P}', scheme = 'http', fields = [], body = '', trailers: after = [] } = recipe;
  const authority = 'authority' in recipe ? recipe.authority : 'a';
  const fill = (text: string): string => text.replaceAll('{P}', `/t${number}r1t`).replaceAll('{X}', `/t${number}r3t`);
  const head: Field[] = [
    [':method', method],
    [':scheme', scheme],
    [':path', path],
    ...(authority === undefined ? [] : [[':authority', authority] as const]),
    ...fields,
  ];
  const parts = [
    frame(
      'headers',
      endHeaders | (body === '' && after.length === 0 ? endStream : 0),
      1,
      literal(...head.map(([name, value]): Field => [fill(name), fill(value)])),
    ),
  ];
  if (body !== '') parts.push(frame('data', after.length === 0 ? endStream : 0, 1, Buffer.from(fill(body), 'latin1')));
  if (after.length > 0) parts.push(frame('headers', endHeaders | endStream, 1, literal(...after)));
  parts.push(
    frame(
      'headers',
      endHeaders | endStream,
      3,
      literal([':method', 'GET'], [':scheme', 'http'], [':path', `/t${number}r2t`], [':authority', 'a']),
    ),
  );
  return Buffer.concat(parts);
}

/** The body of a recipe, as it is sent. */
export function bodyOfDowngrade(number: number, { body = '' }: DowngradeRecipe): string {
  return body.replaceAll('{X}', `/t${number}r3t`);
}
