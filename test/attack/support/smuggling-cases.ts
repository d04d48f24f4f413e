import {
  chunkBodies,
  codings,
  extras,
  headEnds,
  hosts,
  lengths,
  plainBodies,
  requestLines,
} from './smuggling-parts.ts';

/** What a client sends on one connection, as latin1. Requests in it are tagged with `/t<number>r<n>t`. */
export interface SmugglingCase {
  readonly number: number;
  readonly bytes: string;
  /** Where the bytes are cut into packets. */
  readonly cuts: readonly number[];
}

/** The parts that a request is put together from; those that are absent are ordinary. */
interface Recipe {
  readonly method?: string;
  readonly line?: string;
  readonly host?: string;
  readonly coding?: string;
  readonly length?: string;
  readonly extra?: string;
  readonly body?: string;
  readonly headEnd?: string;
  /** Whether the length covers the whole body; otherwise it is the number. */
  readonly covers?: number;
  readonly before?: string;
}

const [plainCoding = '', plainLength = ''] = [codings[0], lengths[0]];

/** Every part by itself, in requests that are framed in each of the ways. */
export function singleRecipes(): Recipe[] {
  const framings: readonly Recipe[] = [
    { method: 'GET' },
    { length: plainLength, body: 'hello{H}' },
    { coding: plainCoding, body: '{L}\r\n{H}\r\n0\r\n\r\n' },
  ];
  const everywhere = framings.flatMap((framing) => [
    ...requestLines.map((line) => ({ ...framing, line })),
    ...hosts.map((host) => ({ ...framing, host })),
    ...extras.map((extra) => ({ ...framing, extra })),
    ...headEnds.map((headEnd) => ({ ...framing, headEnd })),
  ]);
  const chunked = chunkBodies.map((body) => ({ coding: plainCoding, body }));
  return [...everywhere, ...chunked, ...lengths.flatMap(lengthRecipes), ...codings.flatMap(codingRecipes)];
}

function lengthRecipes(length: string): Recipe[] {
  return [
    { length, body: '{H}' },
    { length, body: 'hello{H}', covers: 5 },
    { length, body: '{L}\r\n{H}\r\n0\r\n\r\n', coding: plainCoding },
    { length, body: '0\r\n\r\n{H}', coding: plainCoding, covers: 4 },
  ];
}

/** CL.TE, TE.CL and TE.TE: with a length that covers everything, or only the beginning. */
function codingRecipes(coding: string): Recipe[] {
  return [
    { coding, body: '0\r\n\r\n{H}' },
    { coding, body: '{L}\r\n{H}\r\n0\r\n\r\n' },
    { coding, length: plainLength, body: '0\r\n\r\n{H}' },
    { coding, length: plainLength, body: '{L}\r\n{H}\r\n0\r\n\r\n', covers: 4 },
    { coding: `${plainCoding}\r\n${coding}`, body: '0\r\n\r\n{H}' },
  ];
}

const methods = ['GET', 'POST', 'HEAD', 'PUT', 'OPTIONS', 'DELETE'];
const befores = [
  '',
  'GET {B} HTTP/1.1\r\nHost: a\r\n\r\n',
  'POST {B} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  'HEAD {B} HTTP/1.1\r\nHost: a\r\n\r\n',
];

/** A mixture of one to four parts that are not ordinary. */
export function mixedRecipe(random: () => number): Recipe {
  const pick = (parts: readonly string[]): string => parts[Math.floor(random() * parts.length)] ?? '';
  const sometimes = (parts: readonly string[], chance: number): string | undefined =>
    random() < chance ? pick(parts) : undefined;
  const framing = Math.floor(random() * 4);
  const coding = framing === 0 || framing === 2 ? (sometimes(codings, 0.5) ?? plainCoding) : undefined;
  const length = framing === 1 || framing === 2 ? (sometimes(lengths, 0.4) ?? plainLength) : undefined;
  const covers = random() < 0.4 ? Math.floor(random() * 12) : undefined;
  const recipe = {
    method: pick(methods),
    line: sometimes(requestLines, 0.12),
    host: sometimes(hosts, 0.12),
    coding,
    length,
    extra: sometimes(extras, 0.35),
    body: coding === undefined ? pick(plainBodies) : pick(random() < 0.4 ? chunkBodies : plainBodies),
    headEnd: sometimes(headEnds, 0.05),
    covers,
    before: pick(befores),
  };
  return Object.fromEntries(Object.entries(recipe).filter(([, value]) => value !== undefined));
}

const hidden = 'GET {X} HTTP/1.1\r\nHost: a\r\n\r\n';

/** The bytes of a recipe, with an ordinary request behind it. */
export function cook(number: number, recipe: Recipe): string {
  const {
    line = '{M} {T} HTTP/1.1',
    host = 'Host: a',
    coding,
    length,
    extra,
    body: ofBody = '',
    headEnd = '\r\n\r\n',
    before = '',
  } = recipe;
  const inner = hidden.replace('{X}', `/t${number}r3t`);
  const body = ofBody.replaceAll('{H}', () => inner).replaceAll('{L}', inner.length.toString(16));
  const method = recipe.method ?? 'POST';
  const start = line.replace('{M}', method).replace('{T}', () => `/t${number}r1t`);
  const sized = length?.replaceAll('{N}', String(recipe.covers ?? body.length));
  const head = [start, host, sized, coding, extra].filter((part) => part !== undefined).join('\r\n');
  return `${before.replace('{B}', `/t${number}r0t`)}${head}${headEnd}${body}GET /t${number}r2t HTTP/1.1\r\nHost: a\r\n\r\n`;
}

/** Some cuts at random: none, a few, or one after each byte. */
export function randomCuts(random: () => number, length: number): number[] {
  const kind = random();
  if (kind < 0.3) return [];
  if (kind > 0.95) return Array.from({ length: length - 1 }, (_, position) => position + 1);
  const cuts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => 1 + Math.floor(random() * (length - 1)));
  return [...new Set(cuts)].toSorted((a, b) => a - b);
}
