import { once } from 'node:events';
import { Agent } from 'node:https';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deployed } from '../bench/memory/components.ts';
import { startHealthWatch, type HealthWatch } from './support/health.ts';
import { largestObjects } from './support/largest.ts';
import { runAttacker } from './support/program.ts';
import { postReview, reviewOf, type Answer } from './support/reviews.ts';
import { isFull, randomFrom, scaled, seed } from './support/scale.ts';
import { startTarget, type Target } from './support/target.ts';

const answerBytes = 256 * 1024;
const httpRoute = { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute' };
const route = (spec: string): string =>
  `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"large","namespace":"shop"},"spec":${spec}}`;
const good = reviewOf(route('{"hostnames":["a.example.com"]}'), httpRoute);

let target: Target;
let health: HealthWatch;
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

beforeAll(async () => {
  target = await startTarget(
    'apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: { name: sallyport }\nspec: { controllerName: sallyport.dev/gateway-controller }\n',
    deployed('deploy/base/webhook.yaml').options,
  );
  health = await startHealthWatch(target.probePort);
}, 60_000);

afterAll(async () => {
  agent.destroy();
  await health.stop();
  await target.stop();
});

/** Every body gets an answer of a few KiB, health checks go on, and an ordinary review is answered at the end. */
async function attackWith(bodies: readonly (string | Buffer)[], concurrency: number): Promise<readonly Answer[]> {
  const { times, failures, result } = await health.during(async () => {
    const answers: Answer[] = [];
    const left = [...bodies];
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        for (let body = left.shift(); body !== undefined; body = left.shift())
          answers.push(await postReview(target.webhookPort, body, agent));
      }),
    );
    return answers;
  });
  expect(failures).toBe(0);
  expect(times.length).toBeGreaterThan(0);
  if (isFull) expect(Math.max(...times)).toBeLessThan(100);
  expect(result).toHaveLength(bodies.length);
  expect(Math.max(...result.map(({ bytes }) => bytes))).toBeLessThan(answerBytes);
  for (const { status, text } of result) {
    expect([200, 400, 413, 429]).toContain(status);
    if (status === 200) expect(JSON.parse(text)).toMatchObject({ response: { uid: 'attack' } });
  }
  expect(target.isAlive()).toBe(true);
  expect((await postReview(target.webhookPort, good, agent)).text).toContain('"allowed":true');
  return result;
}

const repeated = (item: string, count: number): string => Array(count).fill(item).join(',');
const numbered = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');

/** The first bytes of a TLS client. */
async function clientHello(): Promise<Buffer> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
  });
  client.on('error', () => undefined);
  const [socket] = await accepted;
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

describe('reviews over HTTPS', () => {
  test('objects far beyond every bundle are denied', async () => {
    const count = scaled(20_000, 100_000);
    const answers = await attackWith(
      [
        reviewOf(route(`{"rules":[${repeated('{}', count)}]}`), httpRoute),
        reviewOf(
          route(
            `{"rules":[{"filters":[{"type":"RequestHeaderModifier","requestHeaderModifier":{"set":[${numbered(count, (index) => `{"name":"x-${index}","value":"a"}`)}],"remove":[${numbered(count, (index) => `"x-${index}"`)}]}}]}]}`,
          ),
          httpRoute,
        ),
        reviewOf(route(`{"hostnames":[${numbered(count, (index) => `"${index}.example.com"`)}]}`), httpRoute),
        reviewOf(route(`{"${'x'.repeat(count)}":1}`), httpRoute),
      ],
      2,
    );
    const denials = answers.filter(({ status, text }) => status === 200 && text.includes('"allowed":false'));
    expect(denials.length).toBeGreaterThanOrEqual(3);
  }, 120_000);

  test('bodies of many MB that take long to be parsed are answered, and delay no health check', async () => {
    const size = scaled(1, 6);
    const answers = await attackWith(
      [
        reviewOf(`[${repeated('{}', size * 350_000)}]`, httpRoute),
        reviewOf(`{${numbered(size * 80_000, (index) => `"k${index}":""`)}}`, httpRoute),
        reviewOf('['.repeat(size * 500_000) + ']'.repeat(size * 500_000), httpRoute),
        reviewOf(route(`{"hostnames":["${'x'.repeat(size * 1_000_000)}"]}`), httpRoute),
        reviewOf(`[${numbered(size * 60_000, (index) => `{"k${index}":1}`)}]`, httpRoute),
        reviewOf('{}', httpRoute, `[${repeated('1', size * 500_000)}]`),
        // Just within the limits.
        reviewOf(`[${repeated('1', scaled(59_000, 590_000))}]`, httpRoute),
        reviewOf(
          route('{}').replace(
            '"name"',
            `"labels":{${numbered(scaled(3_900, 39_000), (index) => `"k${index}":""`)}},"name"`,
          ),
          httpRoute,
        ),
      ],
      scaled(2, 16),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(answers.filter(({ text }) => text.includes('cannot be validated')).length).toBeGreaterThanOrEqual(2);
  }, 120_000);

  test('truncated, nested, duplicate and prototype keys, and lone surrogates get an answer', async () => {
    const odd = [
      ...numbered(12, (index) => String(Math.floor((good.length * (index + 1)) / 13)))
        .split(',')
        .map((length) => good.slice(0, Number(length))),
      reviewOf(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`, httpRoute),
      reviewOf(route('{"rules":[],"rules":[{}],"hostnames":["a"],"hostnames":7}'), httpRoute),
      reviewOf('1,"object":{}', httpRoute),
      reviewOf(route('{"__proto__":{"rules":[{}]},"constructor":{"prototype":{"polluted":1}}}'), httpRoute),
      reviewOf(route('{"hostnames":["\\ud800","\\udc00\\ud800",""],"rules":[{"name":"\\udfff"}]}'), httpRoute),
      Buffer.from(reviewOf(route('{"hostnames":["§"]}'), httpRoute).replace('§', '\u00ff'), 'latin1'),
      good.replace('"attack"', `"${'u'.repeat(300)}"`),
      good.replaceAll('HTTPRoute', `K${'x'.repeat(100_000)}`),
      '',
      'null',
      '[]',
      '"',
      `${good}${good}`,
      `\ufeff${good}`,
      '\0',
    ];
    const answers = await attackWith(
      odd.filter((body) => body.length > 0),
      4,
    );
    expect(answers.filter(({ status }) => status === 400).length).toBeGreaterThanOrEqual(12);
  }, 120_000);

  test('bodies with bytes changed at random get an answer', async () => {
    const random = randomFrom(seed);
    const bodies = Array.from({ length: scaled(100, 5_000) }, () => {
      const body = Buffer.from(good);
      for (let change = 0; change < 3; change += 1)
        body[Math.floor(random() * body.length)] = Math.floor(random() * 256);
      return body;
    });
    const answers: Answer[] = [];
    for (const body of bodies) answers.push(await postReview(target.webhookPort, body, agent));
    expect(answers.every(({ status }) => status === 200 || status === 400)).toBe(true);
    expect(target.isAlive()).toBe(true);
  }, 300_000);

  test('the largest objects that a bundle accepts are answered side by side', async () => {
    const kinds = isFull
      ? (['HTTPRoute', 'GRPCRoute', 'Gateway', 'ListenerSet', 'BackendTLSPolicy', 'XTelemetryPolicy'] as const)
      : (['HTTPRoute'] as const);
    const objects = kinds.flatMap((kind) =>
      [...largestObjects(kind, { minor: '1.7', channel: 'experimental' })].filter(({ place }) =>
        place.startsWith('everything'),
      ),
    );
    const bodies = (isFull ? objects : objects.slice(0, 2)).map((object) => {
      const text = JSON.stringify(object.make());
      return reviewOf(text, object, text.replace('"large"', '"large","generation":7'));
    });
    const answers = await attackWith(bodies, scaled(2, 16));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  }, 300_000);

  test('hundreds of small reviews at once that take long delay no health check', async () => {
    const costly = (number: number): string =>
      reviewOf(
        route(
          `{"rules":[{"matches":[${numbered(
            8,
            (match) =>
              `{"headers":[${numbered(16, (header) => `{"type":"RegularExpression","name":"x-${header}","value":"${number}-${match}-${header}(a?){1,700}"}`)}]}`,
          )}]}]}`,
        ),
        httpRoute,
      );
    const others = new Agent({ keepAlive: true, maxSockets: scaled(20, 400) });
    const { times, failures, result } = await health.during(
      async () =>
        await Promise.all(
          Array.from({ length: scaled(20, 400) }, (_, number) =>
            postReview(target.webhookPort, costly(number), others),
          ),
        ),
    );
    others.destroy();
    expect(failures).toBe(0);
    if (isFull) expect(Math.max(...times)).toBeLessThan(100);
    expect(new Set(result.map(({ status }) => status))).toEqual(new Set([200]));
  }, 120_000);

  test.each([
    ['small reviews', 'client', 1, '127.0.0.77'],
    ['large reviews', 'client', 8, '127.0.0.77'],
    ['small reviews', 'user', 1, '127.0.0.67'],
    ['reviews of 40 KiB', 'user', 4, '127.0.0.67'],
  ])(
    '%s that take long, on many connections of one %s, do not keep another one waiting',
    async (_name, who, rules, localAddress) => {
      const plain = who === 'user' ? good.replace('mallory', 'alice') : good;
      const padding = `"annotations":{"padding":"${'x'.repeat(100_000)}"},"name"`;
      const bodies = [plain, plain, plain, plain, plain.replace('"name"', padding)];
      const others = new Agent({ keepAlive: true, localAddress });
      const waits: number[] = [];
      const answers: Answer[] = [];
      const one = async (body: string): Promise<void> => {
        const began = performance.now();
        answers.push(await postReview(target.webhookPort, body, others));
        waits.push(performance.now() - began);
      };
      for (const body of bodies) await one(body);
      waits.length = 0;
      const attack = [
        'test/attack/support/review-attacker.ts',
        target.webhookPort,
        scaled(20, 400),
        scaled(2_000, 10_000),
        rules,
      ];
      const attacking = runAttacker(...attack.map(String));
      await delay(scaled(500, 3_000));
      const sent: Promise<void>[] = [];
      for (let count = 0; count < scaled(10, 100); count += 1) {
        sent.push(one(bodies[count % bodies.length] ?? good));
        await delay(50);
      }
      await Promise.all(sent);
      expect(await attacking).toBe(0);
      others.destroy();
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const longest = Math.max(...waits);
      process.stdout.write(`others wait at most ${longest.toFixed(0)} ms for their reviews\n`);
      if (isFull) expect(longest).toBeLessThan(250);
    },
    120_000,
  );

  test.each([1, 200])(
    'hundreds of TLS handshakes at once, split after byte %i, delay no health check',
    async (split) => {
      const hello = await clientHello();
      const { times, failures, result } = await health.during(async () => {
        const sockets = await Promise.all(
          Array.from({ length: scaled(50, 450) }, async () => {
            const socket = createConnection(target.webhookPort, '127.0.0.1');
            await once(socket, 'connect');
            return socket;
          }),
        );
        const answered = sockets.map(async (socket) => {
          const [bytes] = (await once(socket, 'data')) as [Buffer];
          socket.on('error', () => undefined).destroy();
          return bytes[0];
        });
        // The same ClientHello for each: the client computes nothing.
        for (const socket of sockets) socket.setNoDelay().write(hello.subarray(0, split));
        await postReview(target.webhookPort, good, agent);
        for (const socket of sockets) socket.write(hello.subarray(split));
        return await Promise.all(answered);
      });
      expect(failures).toBe(0);
      // Records of the handshake.
      expect(new Set(result)).toEqual(new Set([0x16]));
      if (isFull) expect(Math.max(...times)).toBeLessThan(100);
      expect((await postReview(target.webhookPort, good, agent)).status).toBe(200);
    },
    60_000,
  );

  test('requests that are sent before the last one is answered end the connection', async () => {
    const socket = connect({ host: '127.0.0.1', port: target.webhookPort, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const one = `POST /validate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(good)}\r\n\r\n${good}`;
    // The webhook ends it while there is more to read: the client may learn of that by a reset.
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined).resume();
    socket.write(one.repeat(scaled(20, 2_000)));
    await closed;
    expect(
      await target.metric('sallyport_admission_connections_refused_total', '{reason="pipelined"}'),
    ).toBeGreaterThan(0);
    expect((await postReview(target.webhookPort, good, agent)).status).toBe(200);
  }, 60_000);

  test('clients that wait for each response keep their connections', async () => {
    const refused = (): Promise<number> =>
      target.metric('sallyport_admission_connections_refused_total', '{reason="pipelined"}');
    const before = await refused();
    await attackWith(Array<string>(scaled(1_000, 5_000)).fill(good), 16);
    expect(await refused()).toBe(before);
  }, 120_000);

  test('pipelined requests of any kind delay no health check', async () => {
    const kinds = [
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /% HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: a\r\nExpect: a\r\n\r\n',
      'POST /validate HTTP/1.1\r\nHost: a\r\n\r\n',
    ];
    for (const kind of kinds) {
      const sockets = await Promise.all(
        Array.from({ length: scaled(5, 50) }, async () => {
          const socket = connect({ host: '127.0.0.1', port: target.webhookPort, rejectUnauthorized: false });
          await once(
            socket.on('error', () => undefined),
            'secureConnect',
          );
          return socket;
        }),
      );
      const { times, failures } = await health.during(async () => {
        const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
        for (const socket of sockets) socket.resume().write(kind.repeat(5_000));
        await Promise.all(closed);
      });
      expect(failures).toBe(0);
      if (isFull) expect(Math.max(...times)).toBeLessThan(100);
    }
    expect(target.isAlive()).toBe(true);
    if (isFull) expect(target.held().memory).toBeLessThan(512);
  }, 120_000);

  test('bodies in pieces of one byte take no more memory than others', async () => {
    const { memory } = target.held();
    const head =
      'POST /validate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const body = '1\r\n{\r\n'.repeat(scaled(40_000, 1_000_000));
    let most = memory;
    const watching = setInterval(() => (most = Math.max(most, target.held().memory)), 50);
    const answers = await Promise.all(
      Array.from({ length: scaled(2, 16) }, async () => {
        const socket = connect({ host: '127.0.0.1', port: target.webhookPort, rejectUnauthorized: false });
        await once(socket, 'secureConnect');
        // The webhook closes the connection while there is more to read.
        const closed = new Promise((resolve) => socket.once('close', resolve));
        let answer = '';
        socket.on('error', () => undefined).on('data', (bytes: Buffer) => (answer += bytes.toString()));
        socket.write(head + body);
        await closed;
        return answer;
      }),
    );
    clearInterval(watching);
    // A connection that is closed while there is more to read may lose its answer.
    expect(answers.filter((answer) => answer !== '' && !answer.startsWith('HTTP/1.1 413 '))).toEqual([]);
    if (isFull) expect(most - memory).toBeLessThan(200);
    expect((await postReview(target.webhookPort, good, agent)).status).toBe(200);
  }, 120_000);

  test('nothing is held at the end', async () => {
    expect(await target.metric('sallyport_admission_held', '{what="bytes"}')).toBe(0);
    expect(await target.metric('sallyport_admission_held', '{what="reviews"}')).toBe(0);
    if (isFull) expect(target.held().memory).toBeLessThan(512);
  });
});
