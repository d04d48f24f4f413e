import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { closeBackends, startRawBackend } from '../support/backends.ts';
import type { Backend } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { closeProxies, openRaw, prefixRule, startProxy, webRoute } from '../support/proxy.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';
import { readResponses, readStrictly } from './support/strict-http1.ts';

afterAll(closeProxies);
afterAll(closeBackends);

// Connections keep what follows from the fields of the previous message, on both sides of the proxy. A request must be
// served as on a connection that has kept nothing.

/** A backend that responds with the bytes of each request. The number in the target selects the form of the response. */
function startEchoOfBytes(connection: 'keep-alive' | 'close'): Promise<Backend> {
  return startRawBackend((socket) => {
    let unread = '';
    socket.on('end', () => socket.end());
    socket.on('data', (chunk: Buffer) => {
      unread += chunk.toString('latin1');
      for (let reading = readStrictly(unread); reading.kind === 'whole'; reading = readStrictly(unread)) {
        const bytes = unread.slice(0, reading.request.end);
        unread = unread.slice(reading.request.end);
        socket.write(responseTo(bytes, reading.request.method).replace('{C}', connection), 'latin1');
        if (connection === 'close') socket.end();
      }
    });
  });
}

const manyFields = Array.from({ length: 40 }, (_, index) => `X-R${index}: a\r\n`).join('');

/** What the heads of responses have besides their framing. */
const responseFields = [
  'X-A: 1\r\n',
  'X-A: 2\r\n',
  'x-a: 1\r\n',
  'X-A:  1 \r\n',
  'X-A: 1\r\nX-A: 1\r\n',
  'Set-Cookie: a=b\r\nSet-Cookie: a=b\r\n',
  'Connection: x-a\r\nX-A: 1\r\n',
  'Trailer: X-T\r\nX-A: 1\r\n',
  'Vary: Origin\r\nAccess-Control-Allow-Origin: *\r\n',
  'Via: 1.1 a\r\n',
  `X-Long: ${'a'.repeat(1_990)}\r\n`,
  manyFields,
];

function responseTo(bytes: string, method: string): string {
  const form = Number(/[?&]r=(?<form>[0-9]+)/.exec(bytes)?.groups?.['form'] ?? 0);
  const fields = responseFields[form % responseFields.length] ?? '';
  const framing = Math.floor(form / responseFields.length) % 5;
  const head = (status: string, version = '1.1'): string => `HTTP/${version} ${status}\r\n${fields}Connection: {C}\r\n`;
  const seen = `X-Seen: ${createHash('sha1').update(normalized(bytes), 'latin1').digest('hex')}\r\n`;
  if (method === 'HEAD') return `${head('200 OK')}${seen}Content-Length: 5\r\n\r\n`;
  if (framing === 1) return `${head('204 No Content')}${seen}\r\n`;
  if (framing === 2) return `${head('304 Not Modified')}${seen}Content-Length: 7\r\n\r\n`;
  const length = `Content-Length: ${bytes.length}\r\n`;
  if (framing === 3) return `${head('404 Not Found')}${length}\r\n${bytes}`;
  if (framing === 4)
    return `${head('200 OK')}Transfer-Encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n${bytes}\r\n0\r\nX-T: 1\r\n\r\n`;
  return `${head('200 OK')}${length}\r\n${bytes}`;
}

/** A request in parts that a mutation can change. */
interface Request {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Field lines without Host and framing, which mutations also put here. */
  readonly lines: readonly string[];
  readonly body: string;
}

const base: Request = {
  method: 'GET',
  target: '/plain',
  version: '1.1',
  lines: ['Host: a.test', 'User-Agent: kept/1.0', 'Accept: */*', 'Cookie: a=b; c=d', 'X-Probe: one'],
  body: '',
};

function bytesOf({ method, target, version, lines, body }: Request): string {
  return `${method} ${target} HTTP/${version}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
}

type Random = () => number;

function pickFrom<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

const inserted = [
  'Host: a.test',
  'Host: b.test',
  'host: a.test',
  'Content-Length: 0',
  'Content-Length: 3',
  'Content-Length: 03',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: chunked\t',
  'Connection: keep-alive',
  'Connection: close',
  'Connection: x-probe',
  'Connection: X-Probe, cookie, user-agent',
  'Connection: te, upgrade',
  'TE: trailers',
  'TE: gzip',
  'Trailer: X-T',
  'Upgrade: h2c',
  'Max-Forwards: 1',
  'Max-Forwards: 0',
  'Expect: 100-continue',
  'Expect: other',
  'Via: 1.1 a',
  'X-Forwarded-For: 192.0.2.1',
  'X-Forwarded-For: 192.0.2.1, 192.0.2.2',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: c.test',
  'Forwarded: for=192.0.2.1',
  'Proxy-Connection: keep-alive',
  'Keep-Alive: timeout=5',
  'Origin: https://a.test',
  'Origin: https://b.test',
  'Access-Control-Request-Method: PUT',
  'X-Edited: client',
  'X-Probe: two',
  'X-Probe:',
  'X-Probe: \xa0',
  'X-Probe: \xff',
  ' folded',
  '\tfolded',
  'X-Probe : one',
  'X-Probe: a\x00b',
  'X-Probe: a\rb',
  'X-Probe: a\nb',
  ': no name',
  'no colon',
];

const changedBytes = ['a', 'B', '1', ' ', '\t', ':', ',', ';', '\x80', '-', 'x', 'X'];

function withLine(request: Request, index: number, change: (line: string) => readonly string[]): Request {
  const line = request.lines[index];
  return line === undefined ? request : { ...request, lines: request.lines.toSpliced(index, 1, ...change(line)) };
}

function upToBytes(request: Request, length: number): Request {
  const missing = length - bytesOf({ ...request, body: '', lines: [...request.lines, 'X-Pad: '] }).length;
  return missing < 0 ? request : { ...request, lines: [...request.lines, `X-Pad: ${'p'.repeat(missing)}`] };
}

function upToCount(request: Request, count: number): Request {
  const added = Array.from({ length: Math.max(0, count - request.lines.length) }, (_, index) => `X-${index}: ${index}`);
  return { ...request, lines: [...request.lines, ...added] };
}

function swapCase(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
}

type Mutation = (request: Request, random: Random) => Request;

function atAnyLine(change: (line: string, random: Random) => readonly string[]): Mutation {
  return (request, random) =>
    withLine(request, Math.floor(random() * request.lines.length), (line) => change(line, random));
}

/** Changes of the field lines. */
const mutations: readonly Mutation[] = [
  atAnyLine((line) => [line, line]),
  atAnyLine(() => []),
  atAnyLine((line, random) => {
    const at = Math.floor(random() * line.length);
    return [`${line.slice(0, at)}${pickFrom(random, changedBytes)}${line.slice(at + 1)}`];
  }),
  atAnyLine((line, random) => {
    const at = Math.floor(random() * line.length);
    return [`${line.slice(0, at)}${swapCase(line.charAt(at))}${line.slice(at + 1)}`];
  }),
  atAnyLine((line, random) => [line.replace(': ', pickFrom(random, [':', ':  ', ':\t', ': \t ', ' : ']))]),
  atAnyLine((line, random) => [`${line}${pickFrom(random, [' ', '\t', '  ', ',', ';'])}`]),
  ({ lines, ...rest }, random) => {
    const [one, other] = [Math.floor(random() * lines.length), Math.floor(random() * lines.length)];
    return { ...rest, lines: lines.with(one, lines[other] ?? '').with(other, lines[one] ?? '') };
  },
  ({ lines, ...rest }, random) => ({
    ...rest,
    lines: lines.toSpliced(Math.floor(random() * (lines.length + 1)), 0, pickFrom(random, inserted)),
  }),
  (request, random) => upToCount(request, 31 + Math.floor(random() * 3)),
  (request, random) => upToBytes(request, 2_048 - 4 + Math.floor(random() * 9)),
];

const paths = ['/plain', '/edited', '/cors', '/rewritten', '/gone', 'http://b.test/plain', '*'];
const bodies: readonly (readonly [line: string, body: string])[] = [
  ['Content-Length: 5', 'hello'],
  ['Content-Length: 4', 'hell'],
  ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
  ['Transfer-Encoding: chunked', '5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n'],
  ['transfer-encoding: chunked', '2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\n\r\n'],
];

/** Changes of what is outside the field lines, or goes along with them. */
const otherMutations: readonly Mutation[] = [
  (request, random) => ({ ...request, method: pickFrom(random, ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'TRACE']) }),
  (request, random) => ({ ...request, version: pickFrom(random, ['1.1', '1.0']) }),
  (request, random) => ({
    ...request,
    target: `${pickFrom(random, paths)}${random() < 0.7 ? `?r=${Math.floor(random() * 60)}` : ''}`,
  }),
  (request, random) => {
    const [line, body] = pickFrom(random, bodies);
    const lines = request.lines.filter((one) => !/^(?:content-length|transfer-encoding):/i.test(one));
    return { ...request, method: 'POST', body, lines: [...lines, line] };
  },
  (request) => ({
    ...request,
    body: '',
    lines: request.lines.filter((one) => !/^(?:content-length|transfer-encoding):/i.test(one)),
  }),
];

/** The request after a given one on a connection: often with the same fields. It ends where its bytes end. */
function next(previous: Request, random: Random): Request {
  const request = changed(previous, random);
  const bytes = bytesOf(request);
  const reading = readStrictly(bytes);
  const isWhole = reading.kind === 'malformed' || (reading.kind === 'whole' && reading.request.end === bytes.length);
  return isWhole ? request : next(previous, random);
}

function changed(previous: Request, random: Random): Request {
  if (random() < 0.04 || bytesOf(previous).length > 3_000) return base;
  const kind = random();
  if (kind < 0.25) return previous;
  if (kind < 0.45) return pickFrom(random, otherMutations)(previous, random);
  const once = pickFrom(random, mutations)(previous, random);
  return kind < 0.85 ? once : pickFrom(random, [...mutations, ...otherMutations])(once, random);
}

interface Outcome {
  /** Everything received, without what differs between two connections or two moments. */
  readonly text: string;
  readonly isClosed: boolean;
}

/** In milliseconds. A request without a response is one that the proxy takes for incomplete. */
const patience = 10_000;

/** A connection on which one request is sent after the other. */
class Client {
  private readonly socket: Socket;
  private received = '';
  private look: () => void = () => undefined;

  constructor(port: number) {
    this.socket = openRaw(port).setNoDelay(true);
    this.socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
      this.look();
    });
    this.socket.on('close', () => this.look());
  }

  async send(request: Request, cut: number): Promise<Outcome> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.received = '';
    const timer = setTimeout(() => this.socket.destroy(), patience);
    this.look = () => {
      if (this.socket.destroyed || isComplete(this.received, request)) resolve();
    };
    const bytes = bytesOf(request);
    this.socket.write(bytes.slice(0, cut), 'latin1');
    if (cut < bytes.length) {
      await new Promise(setImmediate);
      this.socket.write(bytes.slice(cut), 'latin1');
    }
    await promise;
    clearTimeout(timer);
    return { text: normalized(this.received), isClosed: this.socket.destroyed };
  }

  close(): void {
    this.socket.destroy();
  }
}

/** Whether a response has arrived after which the connection stays. Otherwise its end follows. */
function isComplete(received: string, { method }: Request): boolean {
  const { responses, rest } = readResponses(received, [method]);
  const [response] = responses;
  if (response === undefined || rest !== '') return false;
  return response.fields.some(([name, value]) => name === 'connection' && value === 'keep-alive');
}

function normalized(received: string): string {
  return received
    .replace(/^date: .*\r\n/gim, '')
    .replace(/\r\nhost: 127\.0\.0\.1:[0-9]+\r\n/g, '\r\nhost: {endpoint}\r\n');
}

/** Sends a sequence of requests on kept connections, and each of them on a connection of its own. */
async function compare(
  ports: { readonly kept: number; readonly fresh: number },
  count: number,
  random: Random,
): Promise<{ readonly problems: string[]; readonly kept: number; readonly served: number }> {
  const problems: string[] = [];
  let [kept, served] = [0, 0];
  let client = new Client(ports.kept);
  let before = '';
  let request = base;
  for (let number = 0; number < count && problems.length < 5; number += 1) {
    const bytes = bytesOf(request);
    const cut = random() < 0.2 ? Math.floor(random() * bytes.length) : bytes.length;
    const other = new Client(ports.fresh);
    const [onKept, onFresh] = await Promise.all([client.send(request, cut), other.send(request, bytes.length)]);
    other.close();
    if (JSON.stringify(onKept) !== JSON.stringify(onFresh))
      problems.push(
        [
          `after  ${JSON.stringify(before)}`,
          `for    ${JSON.stringify(bytes)}`,
          `kept:  ${JSON.stringify(onKept)}`,
          `fresh: ${JSON.stringify(onFresh)}`,
        ].join('\n'),
      );
    if (onKept.text === '') problems.push(`no response for ${JSON.stringify(bytes)}`);
    if (before !== '') kept += 1;
    served += Number(/^HTTP\/1\.1 (?:20[04]|304|404) /.test(onKept.text));
    before = onKept.isClosed ? '' : bytes;
    // Most sequences must be longer than the first request that is rejected.
    request = next(onKept.text.startsWith('HTTP/1.1 4') ? base : request, random);
    if (!onKept.isClosed) continue;
    client.close();
    client = new Client(ports.kept);
  }
  client.close();
  return { problems, kept, served };
}

const rules = [
  prefixRule('/plain', []),
  prefixRule('/edited', [
    {
      type: 'requestHeaders',
      set: [{ name: 'x-edited', value: 'proxy' }],
      add: [{ name: 'x-probe', value: 'added' }],
      remove: ['accept'],
    },
    {
      type: 'responseHeaders',
      set: [{ name: 'x-a', value: 'proxy' }],
      add: [{ name: 'x-b', value: 'added' }],
      remove: ['set-cookie'],
    },
  ]),
  prefixRule('/rewritten', [{ type: 'rewrite', hostname: 'c.test', path: { type: 'full', value: '/new' } }]),
  prefixRule('/cors', [
    {
      type: 'cors',
      allowOrigins: ['https://a.test'],
      allowCredentials: true,
      allowMethods: ['GET', 'PUT'],
      allowHeaders: [],
      exposeHeaders: ['x-a'],
      maxAge: 5,
    },
  ]),
].map((rule, index) => ({ ...rule, index }));

async function startProxyFor(connection: 'keep-alive' | 'close'): Promise<number> {
  const backend = await startEchoOfBytes(connection);
  const { port } = await startProxy([endpointsConfig('app', backend.port), webRoute(...rules)]);
  return port;
}

test(
  'requests on kept connections are served as on connections of their own',
  async () => {
    const ports = { kept: await startProxyFor('keep-alive'), fresh: await startProxyFor('close') };
    const count = scaled(150, 12_500);
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => compare(ports, count, randomFrom(seed * 1_000 + index))),
    );
    expect(results.flatMap(({ problems }) => problems)).toEqual([]);
    // Otherwise nothing would have been compared.
    for (const { kept, served } of results) {
      expect(kept).toBeGreaterThan(count / 2);
      expect(served).toBeGreaterThan(count / 2);
    }
  },
  scaled(60_000, 1_200_000),
);
