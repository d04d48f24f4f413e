import type { Socket } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { defaultLimits } from '../../src/proxy/limits/limits.ts';
import { closeBackends, startRawBackend } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { closeProxies, openRaw, prefixRule, startProxy, webRoute } from '../support/proxy.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';
import { readResponses, readStrictly } from './support/strict-http1.ts';
import type { StrictResponse } from './support/strict-http1.ts';

afterAll(closeProxies);
afterAll(closeBackends);

/** The behavior of a backend for one request. `{N}` is the number of the request. */
interface Behavior {
  readonly pieces: readonly string[];
  readonly end?: 'close' | 'reset';
  /** Whether the response is complete for every method. */
  readonly isWhole: boolean;
  /** Whether the backend responds before it has the body. */
  readonly isEarly?: boolean;
}

const small = 'HTTP/1.1 200 OK\r\nX-N: {N}\r\nContent-Length: 2\r\n\r\nok';
/** Without the announcement, the next request might find a connection that is being closed. */
const announced = small.replace('X-N', 'Connection: close\r\nX-N');
const chunked = 'HTTP/1.1 200 OK\r\nX-N: {N}\r\nTransfer-Encoding: chunked\r\n\r\n';

const behaviors: readonly Behavior[] = [
  { pieces: [small], isWhole: true },
  { pieces: [small], isWhole: true },
  { pieces: [small], isWhole: true, isEarly: true },
  { pieces: [announced], isWhole: true, end: 'close' },
  { pieces: [announced], isWhole: true, end: 'reset' },
  { pieces: [`HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${small}`], isWhole: true },
  { pieces: ['HTTP/1.1 100 Continue\r\n\r\n', small], isWhole: true },
  { pieces: ['HTTP/1.1 200 OK\r\nX-N: {N}\r\nContent-Length: 2\r\n\r\n', 'o', 'k'], isWhole: true },
  { pieces: ['HTTP/1.1 204 No Content\r\nX-N: {N}\r\n\r\n'], isWhole: true },
  { pieces: ['HTTP/1.1 205 Reset Content\r\nX-N: {N}\r\nContent-Length: 0\r\n\r\n'], isWhole: true },
  { pieces: ['HTTP/1.1 304 Not Modified\r\nX-N: {N}\r\nContent-Length: 9\r\n\r\n'], isWhole: true },
  { pieces: [`${chunked}2\r\nok\r\n0\r\n\r\n`], isWhole: true },
  { pieces: [chunked, '2\r\nok\r\n', '0\r\nX-T: 1\r\n\r\n'], isWhole: true },
  { pieces: ['HTTP/1.1 200 OK\r\nX-N: {N}\r\nConnection: close\r\n\r\nok'], end: 'close', isWhole: true },
  { pieces: [`${small}HTTP/1.1 200 OK\r\nX-N: other\r\nContent-Length: 0\r\n\r\n`], isWhole: true },
  { pieces: [`HTTP/1.1 200 OK\r\nX-N: {N}\r\nContent-Length: 9000\r\n\r\n${'a'.repeat(9_000)}`], isWhole: true },
  { pieces: [], end: 'close', isWhole: false },
  { pieces: [], end: 'reset', isWhole: false },
  { pieces: ['HTTP/1.1 200 OK\r\nX-N: {N}\r\n'], end: 'close', isWhole: false },
  { pieces: ['HTTP/1.1 200 OK\r\nX-N: {N}\r\nContent-Length: 9\r\n\r\nok'], end: 'close', isWhole: false },
  { pieces: [`${chunked}2\r\nok\r\n`], end: 'reset', isWhole: false },
  { pieces: [`${chunked}2\r\nok\r\nx\r\n`], isWhole: false },
  { pieces: ['HTTP/1.1 099 A\r\n\r\n'], isWhole: false },
];

function behaviorOf(target: string): Behavior {
  return (
    behaviors[Number(/[?&]b=(?<index>[0-9]+)/.exec(target)?.groups?.['index'] ?? 0)] ?? { pieces: [], isWhole: false }
  );
}

function numberIn(target: string): string {
  return /^\/n(?<number>[0-9]+)/.exec(target)?.groups?.['number'] ?? '';
}

/** Sends the pieces of a response in packets of their own. */
async function respond(socket: Socket, { pieces, end }: Behavior, target: string, isHead: boolean): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise(setImmediate);
    const text = piece.replaceAll('{N}', numberIn(target));
    const isContent = !text.startsWith('HTTP/');
    if (!(isHead && isContent)) socket.write(isHead ? text.replace(/(?<=\r\n\r\n)(?!HTTP).*$/s, '') : text, 'latin1');
  }
  if (end === 'close') socket.end();
  if (end === 'reset') socket.resetAndDestroy();
}

interface Counted {
  readonly port: number;
  /** How often the backend received each request, by method and number. */
  readonly times: ReadonlyMap<string, number>;
}

async function startUnreliable(): Promise<Counted> {
  const times = new Map<string, number>();
  const { port } = await startRawBackend((socket) => {
    let unread = '';
    let isAnswered = false;
    socket.on('end', () => socket.end());
    socket.on('data', (chunk: Buffer) => {
      unread += chunk.toString('latin1');
      for (;;) {
        const reading = readStrictly(unread);
        const head = reading.kind === 'whole' ? reading.request : reading.head;
        if (head === undefined) return;
        const behavior = behaviorOf(head.target);
        if (!isAnswered && (reading.kind === 'whole' || behavior.isEarly === true)) {
          isAnswered = true;
          const id = `${head.method} ${numberIn(head.target)}`;
          times.set(id, (times.get(id) ?? 0) + 1);
          void respond(socket, behavior, head.target, head.method === 'HEAD');
        }
        if (reading.kind !== 'whole') return;
        isAnswered = false;
        unread = unread.slice(reading.request.end);
      }
    });
  });
  return { port, times };
}

interface Planned {
  readonly number: number;
  readonly method: string;
  readonly bytes: string;
  readonly behavior: Behavior;
  /** Whether the proxy itself rejects it, and ends the connection. */
  readonly isInvalid: boolean;
}

const forms: readonly ((number: number, behavior: number) => readonly [method: string, bytes: string])[] = [
  (number, behavior) => ['GET', `GET /n${number}?b=${behavior} HTTP/1.1\r\nHost: a\r\n\r\n`],
  (number, behavior) => ['GET', `GET /n${number}?b=${behavior} HTTP/1.1\r\nHost: a\r\n\r\n`],
  (number, behavior) => ['HEAD', `HEAD /n${number}?b=${behavior} HTTP/1.1\r\nHost: a\r\n\r\n`],
  (number, behavior) => ['POST', `POST /n${number}?b=${behavior} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody`],
  (number, behavior) => [
    'POST',
    `POST /n${number}?b=${behavior} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nbody`,
  ],
  (number, behavior) => [
    'PUT',
    `PUT /n${number}?b=${behavior} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-T: 1\r\n\r\n`,
  ],
  (number, behavior) => [
    'PUT',
    `PUT /n${number}?b=${behavior} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n4\r\nbody\r\n0\r\n\r\n`,
  ],
  (number) => ['GET', `GET /redirect/n${number} HTTP/1.1\r\nHost: a\r\n\r\n`],
];

const invalid: readonly string[] = [
  'GET /n{N}  HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /n{N} HTTP/1.1\r\n\r\n',
  'POST /n{N} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx',
  'GET /n{N} HTTP/1.1\r\nHost: a\r\nExpect: other\r\n\r\n',
];

function plan(number: number, random: () => number): Planned {
  const index = Math.floor(random() * random() * behaviors.length);
  const behavior = behaviors[index] ?? { pieces: [], isWhole: false };
  if (random() < 0.03) {
    const bytes = (invalid[Math.floor(random() * invalid.length)] ?? '').replace('{N}', String(number));
    return { number, method: 'GET', bytes, behavior, isInvalid: !bytes.includes('Expect') };
  }
  const [method, bytes] = (forms[Math.floor(random() * forms.length)] ?? forms[0])?.(number, index) ?? ['', ''];
  return { number, method, bytes, behavior, isInvalid: false };
}

/** In milliseconds. */
const patience = 10_000;

type Leaving = 'stay' | 'half-close' | 'reset' | 'close';

/** Sends requests ahead in random packets, and returns everything that comes back until the connection ends, or all are answered. */
async function playAhead(port: number, planned: readonly Planned[], random: () => number): Promise<Played> {
  const socket = openRaw(port).setNoDelay(true);
  const leaving: Leaving =
    random() < 0.6 ? 'stay' : ((['half-close', 'reset', 'close'] as const)[Math.floor(random() * 3)] ?? 'stay');
  const methods = planned.map(({ method }) => method);
  const closed = Promise.withResolvers<void>();
  let received = '';
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    if (leaving === 'stay' && readResponses(received, methods).responses.length === planned.length) closed.resolve();
  });
  socket.on('close', () => closed.resolve());
  const bytes = planned.map((request) => request.bytes).join('');
  for (let from = 0; from < bytes.length && socket.writable;) {
    const to = random() < 0.3 ? bytes.length : from + 1 + Math.floor(random() * bytes.length);
    socket.write(bytes.slice(from, to), 'latin1');
    from = to;
    await new Promise(setImmediate);
  }
  for (let turns = leaving === 'stay' ? 0 : Math.floor(random() * 20); turns > 0; turns -= 1)
    await new Promise(setImmediate);
  if (leaving === 'half-close') socket.end();
  if (leaving === 'reset') socket.resetAndDestroy();
  if (leaving === 'close') socket.destroy();
  const timer = setTimeout(() => {
    received += '(no end)';
    closed.resolve();
  }, patience);
  await closed.promise;
  clearTimeout(timer);
  const isClosed = socket.destroyed;
  socket.destroy();
  return { received, isClosed, leaving };
}

interface Played {
  readonly received: string;
  readonly isClosed: boolean;
  readonly leaving: Leaving;
}

/** What is wrong with the responses to requests that were sent ahead. */
function problemsOf(planned: readonly Planned[], played: Played): readonly string[] {
  const { responses, rest } = readResponses(
    played.received,
    planned.map(({ method }) => method),
  );
  const problems = responses.flatMap((response, index) => responseProblem(planned[index], response) ?? []);
  if (responses.slice(0, -1).some(endsConnection)) problems.push('responses follow the end of the connection');
  if (played.received.endsWith('(no end)')) problems.push('neither a response nor an end');
  const next = planned[responses.length];
  if (played.leaving !== 'stay' || next === undefined) return problems;
  if (responses.some(endsConnection)) return played.isClosed ? problems : [...problems, 'the connection stays'];
  // The proxy can break off the connection only within a response.
  if (next.behavior.isWhole && !next.isInvalid) problems.push(`${next.number} got no response, but ${rest}`);
  return problems;
}

function endsConnection({ fields }: StrictResponse): boolean {
  return fields.some(([name, value]) => name === 'connection' && value === 'close');
}

function responseProblem(request: Planned | undefined, { status, fields }: StrictResponse): string | undefined {
  if (request === undefined) return 'more responses than requests';
  const { number, method, behavior } = request;
  const tag = fields.find(([name]) => name === 'x-n')?.[1];
  if (tag !== undefined && tag !== String(number)) return `${number} got the response to ${tag}`;
  if (tag !== undefined)
    return behavior.isWhole || method === 'HEAD' ? undefined : `${number} got an incomplete response`;
  if (status < 300) return `${number} got ${status} without a number`;
  // A HEAD ends before a backend that breaks off its response closes: a POST that finds this connection is not repeated.
  return behavior.isWhole && status >= 500 && method !== 'POST' ? `${number} got ${status}` : undefined;
}

test(
  'requests that are sent ahead get their own responses in order, whatever backends and clients do',
  async () => {
    const backend = await startUnreliable();
    const faults: unknown[] = [];
    const rules = [
      prefixRule('/redirect', [{ type: 'redirect', statusCode: 302, hostname: 'b' }]),
      prefixRule('/', []),
    ].map((rule, index) => ({ ...rule, index }));
    const { port, proxy } = await startProxy([endpointsConfig('app', backend.port), webRoute(...rules)], {
      onFault: (error) => faults.push(error),
    });
    const problems: string[] = [];
    let number = 0;
    let answered = 0;
    const work = async (_: unknown, index: number): Promise<void> => {
      const random = randomFrom(seed * 1_000 + index);
      for (let round = 0; round < scaled(60, 2_500) && problems.length < 10; round += 1) {
        const planned = Array.from({ length: 1 + Math.floor(random() * 10) }, () => plan((number += 1), random));
        const played = await playAhead(port, planned, random);
        answered += readResponses(
          played.received,
          planned.map(({ method }) => method),
        ).responses.length;
        const found = problemsOf(planned, played);
        if (found.length > 0)
          problems.push(
            `${found.join('; ')}\n  ${JSON.stringify(planned.map(({ bytes }) => bytes))}\n  ${JSON.stringify(played)}`,
          );
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(problems).toEqual([]);
    expect(faults).toEqual([]);
    expect(answered).toBeGreaterThan(number / 3);
    const repeated = [...backend.times].filter(
      ([id, times]) => times > (id.startsWith('POST') ? 1 : defaultLimits.attempts),
    );
    expect(repeated).toEqual([]);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  },
  scaled(60_000, 1_200_000),
);
