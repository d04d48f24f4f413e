import { expect, test } from '@jest/globals';
import { RequestReader } from '../../src/proxy/http1/request-reader.ts';
import { defaultLimits } from '../../src/proxy/limits/limits.ts';
import { readHttp1Head } from '../../src/proxy/messages/request-head.ts';
import { readByLlhttp } from './support/llhttp.ts';
import type { ReadRequest } from './support/llhttp.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';
import { cook, mixedRecipe, singleRecipes } from './support/smuggling-cases.ts';

/** The requests that the proxy would serve, and the bytes of each. */
interface Reading {
  readonly requests: readonly ReadRequest[];
  /** Positions behind the requests. */
  readonly ends: readonly number[];
}

function readByProxy(pieces: readonly Buffer[]): Reading {
  const requests: ReadRequest[] = [];
  const ends: number[] = [];
  const refusals: string[] = [];
  let current: Omit<ReadRequest, 'body' | 'trailers'> | undefined;
  let body = '';
  let isComplete = false;
  const complete = (trailers: readonly string[]): void => {
    if (current !== undefined) requests.push({ ...current, body, trailers });
    isComplete = true;
  };
  const reader = new RequestReader(
    {
      onHead: (raw) => {
        const head = readHttp1Head(raw, defaultLimits);
        if (typeof head === 'string') {
          refusals.push(head);
          return 'unknown';
        }
        current = { method: head.method, target: raw.url ?? '', version: head.httpVersion, fields: raw.rawHeaders };
        body = '';
        if (head.contentLength === 0) complete([]);
        return head.contentLength ?? 'chunked';
      },
      onData: (data) => (body += data.toString('latin1')),
      onEnd: complete,
      onMalformed: (reason) => refusals.push(reason),
    },
    defaultLimits.headerBytes,
  );
  let position = 0;
  for (const piece of pieces) {
    let rest = piece;
    while (rest.length > 0 && refusals.length === 0) {
      const before = rest.length;
      rest = reader.read(rest);
      position += before - rest.length;
      if (isComplete) ends.push(position);
      isComplete = false;
    }
  }
  return { requests, ends };
}

/** The bytes as a whole, cut once, and now and then cut at every byte, which takes most of the time. */
function* pieced(bytes: Buffer, random: () => number): Generator<Buffer[]> {
  const cut = Math.floor(random() * bytes.length);
  yield [bytes];
  yield [bytes.subarray(0, cut), bytes.subarray(cut)];
  if (random() < 1 / 8) yield Array.from(bytes, (_, position) => bytes.subarray(position, position + 1));
}

/** Where the two readers disagree about the bytes; `undefined` where they agree, or the proxy refuses them. */
function disagreement(bytes: Buffer, reading: Reading, random: () => number): string | undefined {
  for (const pieces of pieced(bytes, random)) {
    const other = readByProxy(pieces);
    if (JSON.stringify([other.requests, other.ends]) !== JSON.stringify([reading.requests, reading.ends]))
      return `read in another way in ${pieces.length} pieces (${pieces[0]?.length})`;
  }
  let from = 0;
  for (const [index, request] of reading.requests.entries()) {
    const to = reading.ends[index] ?? 0;
    for (const pieces of pieced(bytes.subarray(from, to), random)) {
      const found = readByLlhttp(pieces);
      if (found !== 'upgrade' && JSON.stringify(found) !== JSON.stringify(request))
        return `llhttp reads ${JSON.stringify(found)}, the proxy ${JSON.stringify(request)}`;
    }
    from = to;
  }
  return undefined;
}

const special = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  '\0',
  ':',
  ';',
  ',',
  '=',
  '"',
  '\\',
  '0',
  '1',
  'a',
  'F',
  '/',
  '?',
  '#',
  '\x0b',
  '\x7f',
  '\x80',
  '\xa0',
  '\xff',
  '-',
  '+',
  'chunked',
  'close',
  'Connection: close\r\n',
  'Host: b\r\n',
  'Content-Length: 1\r\n',
  'Transfer-Encoding: chunked\r\n',
  '0\r\n\r\n',
  '1;a="b\\"c"\r\nx\r\n',
  'HTTP/1.1',
  'Expect: x\r\n',
];

/** Some bytes are lost, doubled, swapped or replaced. */
function mutate(text: string, random: () => number): string {
  let mutated = text;
  for (let count = Math.floor(random() * 4); count > 0; count -= 1) {
    const at = Math.floor(random() * (mutated.length + 1));
    const length = Math.floor(random() * 4);
    const [before, touched, after] = [mutated.slice(0, at), mutated.slice(at, at + length), mutated.slice(at + length)];
    const inserted = special[Math.floor(random() * special.length)] ?? '';
    mutated =
      [
        before + after,
        before + touched + touched + after,
        before + inserted + after,
        before + inserted + touched + after,
      ][Math.floor(random() * 4)] ?? '';
  }
  return mutated;
}

function* corpus(): Generator<string> {
  const random = randomFrom(seed);
  const singles = singleRecipes();
  for (const recipe of singles) yield cook(0, recipe);
  for (let number = 0; number < scaled(5_000, 1_000_000); number += 1) {
    const single = singles[Math.floor(random() * singles.length)] ?? {};
    yield mutate(cook(number, random() < 0.3 ? single : mixedRecipe(random)), random);
  }
}

test('every request that the proxy serves is read in the same way by llhttp, in whatever pieces it comes', () => {
  const random = randomFrom(seed + 1);
  const problems: string[] = [];
  let served = 0;
  for (const text of corpus()) {
    const bytes = Buffer.from(text, 'latin1');
    const reading = readByProxy([bytes]);
    const problem = disagreement(bytes, reading, random);
    if (problem !== undefined) problems.push(`${problem}\n  ${JSON.stringify(text)}`);
    served += reading.requests.length;
    if (problems.length > 10) break;
  }
  expect(problems).toEqual([]);
  // Most mutants must still be requests, or the comparison would show nothing.
  expect(served).toBeGreaterThan(2_000);
});
