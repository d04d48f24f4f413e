import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeBackends } from '../support/backends.ts';
import { eventually } from '../support/eventually.ts';
import { frameTypes, openFrames } from '../support/http2.ts';
import type { RawHttp2 } from '../support/http2.ts';
import { closeProxies, startProxyTo } from '../support/proxy.ts';
import { bodyOfDowngrade, framesOfDowngrade, mixedDowngrade, singleDowngrades } from './support/downgrade-cases.ts';
import type { DowngradeRecipe } from './support/downgrade-cases.ts';
import { startRecorder } from './support/recorder.ts';
import type { Recorder } from './support/recorder.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';
import type { StrictRequest } from './support/strict-http1.ts';

afterEach(closeProxies);
afterEach(closeBackends);

const patience = 20_000;
/** What requests to backends may carry that no client has sent: the connection's own fields, and those that the proxy adds. */
const own: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'transfer-encoding',
  'content-length',
  'via',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'upgrade',
]);

function hasEnded({ frames }: RawHttp2, wanted: number): boolean {
  return frames.some(
    ({ type, flags, stream }) =>
      stream === wanted &&
      (type === frameTypes.reset || ((flags & 1) === 1 && (type === frameTypes.data || type === frameTypes.headers))),
  );
}

/** The content of a response that has ended as it should. */
function contentOf({ frames }: RawHttp2, wanted: number): string {
  const parts = frames.filter(({ type, stream }) => type === frameTypes.data && stream === wanted);
  return Buffer.concat(parts.map(({ payload }) => payload)).toString('latin1');
}

/** How what the backend received differs from what the client sent in HTTP/2; `undefined` where nothing does. */
function differenceOf(number: number, recipe: DowngradeRecipe, seen: StrictRequest): string | undefined {
  const { method = 'GET', authority = 'a', fields = [] } = recipe;
  if (seen.method !== method) return `method ${seen.method}`;
  if (seen.body.toString('latin1') !== bodyOfDowngrade(number, recipe))
    return `another body: ${JSON.stringify(seen.body.toString('latin1'))}`;
  const sent = new Set(fields.map(([name]) => name));
  const foreign = [...seen.fields, ...seen.trailers].find(
    ([name]) => name === 'x-evil' || (!own.has(name) && !sent.has(name)),
  );
  if (foreign !== undefined) return `a field that nobody sent: ${foreign[2]}`;
  const [host = ''] = seen.fields.filter(([name]) => name === 'host').map(([, value]) => value);
  const named =
    'authority' in recipe && recipe.authority === undefined
      ? (fields.find(([name]) => name === 'host')?.[1] ?? '')
      : authority;
  // A target may name its host, and where nobody names one, that of the endpoint takes its place.
  return named === '' || host.toLowerCase() === named.toLowerCase() ? undefined : `host ${host} in place of ${named}`;
}

/** Plays one recipe, and says what is wrong with what became of it. */
async function problemWith(
  number: number,
  recipe: DowngradeRecipe,
  port: number,
  { received }: Recorder,
): Promise<string | undefined> {
  const raw = openFrames(port);
  raw.socket.write(framesOfDowngrade(number, recipe));
  const end = performance.now() + patience;
  while (!raw.socket.destroyed && !(hasEnded(raw, 1) && hasEnded(raw, 3))) {
    if (performance.now() > end) return 'neither a response nor an end';
    await setImmediate();
  }
  const isOver = raw.socket.destroyed;
  raw.socket.destroy();
  const [seen, ...more] = received.get(`${number}r1`) ?? [];
  if (more.length > 0 || received.has(`${number}r3`)) return 'the backend received a request that nobody sent';
  const content = contentOf(raw, 1);
  if (seen === undefined)
    return content === `${number}r1` ? 'a response to a request that the backend has not received' : undefined;
  return (isOver ? undefined : confusion(number, raw)) ?? differenceOf(number, recipe, seen);
}

/** Whether a client got another answer than that of its own request, on a connection that stands. */
function confusion(number: number, raw: RawHttp2): string | undefined {
  const [first, second] = [contentOf(raw, 1), contentOf(raw, 3)];
  // The response to HEAD, and one that was reset, have no content.
  if (first !== `${number}r1` && first !== '') return `the backend received what the client was refused: ${first}`;
  return second === `${number}r2` ? undefined : `the request behind it got ${JSON.stringify(second)}`;
}

/** Plays recipes, some at the same time; returns every problem, and how many requests reached the backend. */
async function playAll(
  recipes: readonly DowngradeRecipe[],
): Promise<{ readonly problems: readonly string[]; readonly served: number }> {
  const recorder = await startRecorder();
  const { port, proxy } = await startProxyTo(recorder.backend.port, { stallTimeout: 1_000 });
  const problems: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < recipes.length && problems.length < 20) {
      const number = next;
      next += 1;
      const recipe = recipes[number]!;
      const problem = await problemWith(number, recipe, port, recorder);
      if (problem !== undefined) problems.push(`${problem}\n  ${JSON.stringify(recipe)}`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  await eventually(() => expect([recorder.openPartials(), proxy.counters().openRequests]).toEqual([0, 0]));
  return {
    problems: [...problems, ...recorder.violations.map((bytes) => `the backend received ${JSON.stringify(bytes)}`)],
    served: recorder.received.size,
  };
}

describe('what a client sends over HTTP/2 is one request over HTTP/1, or none', () => {
  test('each part by itself', async () => {
    const recipes = singleDowngrades().filter((_, index) => (index + seed) % scaled(2, 1) === 0);
    const { problems, served } = await playAll(recipes);
    expect(problems).toEqual([]);
    // A proxy that refuses everything would pass.
    expect(served).toBeGreaterThan(recipes.length / 2);
  });

  test('parts mixed at random', async () => {
    const random = randomFrom(seed);
    const { problems, served } = await playAll(
      Array.from({ length: scaled(300, 8_000) }, () => mixedDowngrade(random)),
    );
    expect(problems).toEqual([]);
    expect(served).toBeGreaterThan(scaled(100, 2_000));
  });
});
