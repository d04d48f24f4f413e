import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends } from '../support/backends.ts';
import { eventually } from '../support/eventually.ts';
import { closeProxies, startProxyTo } from '../support/proxy.ts';
import { play } from './support/raw-client.ts';
import { idIn, startRecorder } from './support/recorder.ts';
import type { Recorder } from './support/recorder.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';
import { cook, mixedRecipe, randomCuts, singleRecipes } from './support/smuggling-cases.ts';
import type { SmugglingCase } from './support/smuggling-cases.ts';
import { readResponses, readStrictly } from './support/strict-http1.ts';
import type { StrictRequest, StrictResponse } from './support/strict-http1.ts';

afterEach(closeProxies);
afterEach(closeBackends);

/** How a strict reader understands what a client sends. */
interface Understanding {
  readonly requests: readonly StrictRequest[];
  /** What comes behind them: nothing, the beginning of a request, or something that must be refused. */
  readonly rest: 'nothing' | 'partial' | 'malformed' | 'ended';
  /** Of the requests, and of what comes behind them as far as it can be told. */
  readonly methods: readonly string[];
}

function understand(bytes: string): Understanding {
  const requests: StrictRequest[] = [];
  let position = 0;
  let rest: Understanding['rest'] = 'nothing';
  while (position < bytes.length && rest === 'nothing') {
    const reading = readStrictly(bytes, position);
    if (reading.kind !== 'whole') {
      rest = reading.kind;
      break;
    }
    requests.push(reading.request);
    position = reading.request.end;
    if (reading.request.isLast) rest = 'ended';
  }
  const [next = ''] = bytes.slice(position).trimStart().split(' ', 1);
  return { requests, rest, methods: [...requests.map(({ method }) => method), next] };
}

/** Plays one case and says where the proxy and the strict reader disagree; empty where they agree. */
async function disagreement(
  port: number,
  recorder: Recorder,
  attack: SmugglingCase,
  served: Set<string>,
): Promise<string> {
  const { requests, rest, methods } = understand(attack.bytes);
  const mustClose = rest === 'malformed' || rest === 'ended';
  const isEnough = (bytes: string): boolean => {
    const { responses } = readResponses(bytes, methods);
    return !mustClose && responses.length >= requests.length && !responses.some(endsThere);
  };
  const { received } = await play(port, attack, isEnough);
  const { responses, rest: left } = readResponses(received, methods);
  // The method of a head that cannot be read is unknown to the proxy; the connection ends behind such an answer.
  const isReadable = left === '' || (methods[responses.length - 1] === 'HEAD' && mustClose && !left.includes('HTTP/'));
  const problems = isReadable ? [] : [`the client is left with ${JSON.stringify(left)}`];
  for (const [index, response] of responses.entries()) {
    const request = requests[index];
    if (request !== undefined && response.status === 200) served.add(idIn(request.target) ?? '');
    problems.push(problemOf(request, response, recorder) ?? '');
  }
  problems.push(endProblem(responses, requests.length));
  if (problems.every((problem) => problem === '')) return '';
  return `${problems.join('; ')}\n  ${JSON.stringify(attack.bytes)} cut at ${attack.cuts.join()}\n  strictly: ${requests.length} requests, then ${rest}; answers ${responses.map(({ status }) => status).join()}`;
}

/** Whether answers are missing, or come behind the one with which the connection ends; empty where neither is so. */
function endProblem(responses: readonly StrictResponse[], wanted: number): string {
  const end = responses.findIndex(endsThere);
  if (end === -1) return responses.length < wanted ? 'requests without an answer' : '';
  return end < responses.length - 1 ? 'answers behind the end' : '';
}

/** Whether the proxy ends the connection with this answer. */
function endsThere({ status, fields }: StrictResponse): boolean {
  return (
    fields.some(([name, value]) => name === 'connection' && value.toLowerCase() === 'close') ||
    ![200, 204, 417].includes(status)
  );
}

/** Why an answer is not one that its request may get. */
function problemOf(
  request: StrictRequest | undefined,
  { status, fields }: StrictResponse,
  recorder: Recorder,
): string | undefined {
  // The proxy's own answers need no body, and do not wait until it has ended badly.
  if (request === undefined) return status !== 204 && status < 400 ? `${status} without a request` : undefined;
  if (status !== 200) return mayBeRefused(request, status) ? undefined : `${status} for a good request`;
  const id = idIn(request.target) ?? '';
  return fields.some(([name, value]) => name === 'x-id' && value === id)
    ? differenceOf(request, id, recorder)
    : `it belongs to another request than ${id}`;
}

/** How the request that the backend received differs from the one that the client sent. */
function differenceOf(request: StrictRequest, id: string, recorder: Recorder): string | undefined {
  const [seen, ...more] = recorder.received.get(id) ?? [];
  if (seen === undefined || more.length > 0) return `the backend received ${id} ${more.length + 1} times`;
  if (seen.method !== request.method || !seen.body.equals(request.body)) return `the backend received another ${id}`;
  // Where the client names no host, that of the endpoint takes its place.
  return hostOf(request) === '' || hostOf(seen) === hostOf(request)
    ? undefined
    : `the backend was asked for host ${hostOf(seen)}`;
}

function mayBeRefused({ isOptional, fields }: StrictRequest, status: number): boolean {
  const has = (wanted: string, value: RegExp): boolean =>
    fields.some(([name, text]) => name === wanted && value.test(text));
  if (status === 417) return has('expect', /^(?!100-continue$)/i);
  return isOptional || (status === 204 && has('max-forwards', /^0$/));
}

/** The authority that a request is for. */
function hostOf({ target, fields }: StrictRequest): string {
  return (
    /^https?:\/\/(?<authority>[^/?]*)/i.exec(target)?.groups?.['authority'] ??
    fields.find(([name]) => name === 'host')?.[1] ??
    ''
  );
}

/** Plays cases, some at the same time, and returns every disagreement. */
async function playAll(cases: Iterable<SmugglingCase>): Promise<string[]> {
  const recorder = await startRecorder();
  const { port, proxy } = await startProxyTo(recorder.backend.port);
  const served = new Set<string>();
  const problems: string[] = [];
  const waiting = cases[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true && problems.length < 20; next = waiting.next()) {
      const problem = await disagreement(port, recorder, next.value, served).catch(String);
      if (problem !== '') problems.push(problem);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  // Requests that were broken off are broken off at the backend, too, and nothing else is on its way.
  await eventually(() => expect([recorder.openPartials(), proxy.counters().openRequests]).toEqual([0, 0]));
  for (const id of recorder.received.keys())
    if (!served.has(id)) problems.push(`the backend received ${id}, which nobody was answered`);
  return [...problems, ...recorder.violations.map((bytes) => `the backend received ${JSON.stringify(bytes)}`)];
}

/** Every `step`-th one. */
function everyNth<T>(items: readonly T[], step: number): T[] {
  return items.filter((_, index) => (index + seed) % step === 0);
}

describe('client, proxy and backend agree about where every request ends', () => {
  const singles = singleRecipes();

  test('each part by itself, in one packet', async () => {
    const cases = everyNth(singles, scaled(4, 1)).map((recipe, number) => ({
      number,
      bytes: cook(number, recipe),
      cuts: [],
    }));
    expect(await playAll(cases)).toEqual([]);
  });

  test('parts mixed at random, and cut at random', async () => {
    const random = randomFrom(seed);
    const cases = Array.from({ length: scaled(300, 15_000) }, (_, number) => {
      const bytes = cook(number, mixedRecipe(random));
      return { number, bytes, cuts: randomCuts(random, bytes.length) };
    });
    expect(await playAll(cases)).toEqual([]);
  });

  test('each part by itself, cut at every byte', async () => {
    const random = randomFrom(seed);
    const recipes = everyNth(singles, scaled(400, 8));
    let number = 0;
    const cases = recipes.flatMap((recipe) => {
      const { length } = cook(0, recipe);
      return Array.from({ length: Math.min(length - 1, 400) }, (_, cut) => ({
        number: (number += 1),
        recipe,
        cut: cut + 1,
      }));
    });
    const some = scaled(0.25, 1);
    const chosen = cases
      .filter(() => random() < some)
      .map(({ number: own, recipe, cut }) => ({ number: own, bytes: cook(own, recipe), cuts: [cut] }));
    expect(await playAll(chosen)).toEqual([]);
  });
});
