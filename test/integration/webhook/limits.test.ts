import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as dial, type AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { AdmissionVerdict } from '../../../src/core/admission/types.ts';
import type { Steps } from '../../../src/core/text/steps.ts';
import { buildWebhook, type WebhookLimits } from '../../../src/webhook/index.ts';
import { eventually } from '../../support/eventually.ts';
import { admissionReview, allow, webhookGround, type WebhookGround } from '../../support/webhook.ts';

let ground: WebhookGround;
let app: ReturnType<typeof buildWebhook>;
let port: number;
let agent: Agent;
let sockets: TLSSocket[];
/** No decision ends before. */
let gate: { isOpen: boolean };

async function serve(limits: Partial<WebhookLimits>): Promise<void> {
  ground = await webhookGround();
  gate = { isOpen: true };
  app = buildWebhook({ ...ground, decide: waiting, limits: { checkingInterval: 20, ...limits } });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
  agent = new Agent({ keepAlive: true, maxSockets: 16 });
  sockets = [];
}

afterEach(async () => {
  gate.isOpen = true;
  agent.destroy();
  for (const socket of sockets) socket.destroy();
  await app.close();
});

function* waiting(): Steps<AdmissionVerdict> {
  while (!gate.isOpen) yield;
  return allow;
}

const small = JSON.stringify(admissionReview());
const large = JSON.stringify(
  admissionReview({ object: { kind: 'HTTPRoute', spec: { hostnames: ['x'.repeat(100_000)] } } }),
);

interface Answer {
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
}

function post(text: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const request = httpsRequest(
    {
      host: '127.0.0.1',
      port,
      servername: 'localhost',
      path: '/validate',
      method: 'POST',
      ca: ground.authority.certificate,
      agent,
      headers,
    },
    (response) => {
      response
        .resume()
        .on('end', () => resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'] }));
    },
  );
  request.on('error', reject);
  request.end(text);
  return promise;
}

async function open(localAddress = '127.0.0.1'): Promise<TLSSocket> {
  const connection = dial({ host: '127.0.0.1', port, localAddress });
  const socket = connect({ socket: connection, servername: 'localhost', ca: ground.authority.certificate });
  sockets.push(socket);
  await once(socket, 'secureConnect');
  return socket;
}

/** Everything that a connection gets until it is closed. */
async function received(socket: TLSSocket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

const head = 'POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

describe('the limits of the webhook', () => {
  test('a review beyond those that are judged gets 429 with Retry-After', async () => {
    await serve({ reviews: 2 });
    gate.isOpen = false;
    const judged = [post(small), post(small)];
    await eventually(async () => expect(await ground.scrape()).toContain('sallyport_admission_inflight 2'));
    expect(await post(small)).toEqual({ status: 429, retryAfter: '1' });
    expect(await ground.scrape()).toContain('sallyport_admission_degraded_total{reason="busy"} 1');
    gate.isOpen = true;
    expect(await Promise.all(judged)).toEqual([
      { status: 200, retryAfter: undefined },
      { status: 200, retryAfter: undefined },
    ]);
  });

  test('a large review beyond those that wait gets 429, and small ones are still judged', async () => {
    await serve({ largeReviews: 1 });
    gate.isOpen = false;
    const judged = [post(large), post(large)];
    await eventually(async () => expect(await ground.scrape()).toContain('sallyport_admission_held{what="reviews"} 1'));
    expect(await post(large)).toEqual({ status: 429, retryAfter: '1' });
    gate.isOpen = true;
    expect((await post(small)).status).toBe(200);
    expect((await Promise.all(judged)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await ground.scrape()).toContain('sallyport_admission_held{what="reviews"} 0');
  });

  test('a large review replaces one of the user with most, who has the same client', async () => {
    await serve({ largeReviews: 2 });
    gate.isOpen = false;
    const judged = [post(large), post(large), post(large)];
    await eventually(async () => expect(await ground.scrape()).toContain('sallyport_admission_held{what="reviews"} 2'));
    const other = post(large.replace('"jane"', '"alice"'));
    expect((await Promise.race(judged)).status).toBe(429);
    gate.isOpen = true;
    expect((await other).status).toBe(200);
    const statuses = (await Promise.all(judged)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  });

  test('bytes beyond those that all bodies may hold get 429, and are given back', async () => {
    await serve({ heldBytes: 50_000 });
    gate.isOpen = false;
    const judged = post(large);
    await eventually(async () =>
      expect(await ground.scrape()).toMatch(/sallyport_admission_held\{what="bytes"\} [1-9]/),
    );
    expect((await post(large)).status).toBe(429);
    gate.isOpen = true;
    expect((await judged).status).toBe(200);
    await eventually(async () => expect(await ground.scrape()).toContain('sallyport_admission_held{what="bytes"} 0'));
  });

  test.each([
    ['in total', { connections: 2 }],
    ['of one address', { connectionsPerAddress: 2 }],
  ])('connections beyond those allowed %s are closed and counted', async (_, limits) => {
    await serve(limits);
    await open();
    await open();
    await expect(open()).rejects.toThrow(/closed|reset|disconnected|hang up/i);
    expect(await ground.scrape()).toContain('sallyport_admission_connections_refused_total{reason="connections"} 1');
  });

  test('while all connections are in use, addresses with few get those of addresses with most', async () => {
    await serve({ connections: 4 });
    const many = [await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.2'), await open('127.0.0.2')];
    await open();
    await eventually(() => expect(many.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]));
    await open();
    await eventually(() => expect(many.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false]));
    // Both have as many now.
    await expect(open()).rejects.toThrow(/closed|reset|disconnected|hang up/i);
    await expect(open('127.0.0.2')).rejects.toThrow(/closed|reset|disconnected|hang up/i);
    const third = await open('127.0.0.3');
    expect(await ground.scrape()).toContain('sallyport_admission_connections_refused_total{reason="connections"} 5');
    // What they leave is free again.
    for (const socket of many) socket.destroy();
    await eventually(async () => expect((await open()).destroyed).toBe(false));
    await eventually(async () => expect((await open('127.0.0.2')).destroyed).toBe(false));
    expect(third.destroyed).toBe(false);
  });

  test.each([
    ['404', 'POST /mutate HTTP/1.1\r\nHost: localhost\r\n'],
    ['405', 'PUT /validate HTTP/1.1\r\nHost: localhost\r\n'],
    ['415', 'POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n'],
  ])('a body that nothing reads gets %s, and its connection is closed', async (status, unread) => {
    await serve({});
    const socket = await open();
    socket.write(`${unread}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`);
    expect(await received(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test('a client that sends its head slowly gets 408, and its connection is closed', async () => {
    await serve({ headersTimeout: 50, requestTimeout: 50 });
    const socket = await open();
    socket.write(head);
    expect(await received(socket)).toContain('408');
    expect((await post(small)).status).toBe(200);
  });

  test('a client that sends its body slowly is closed, and nothing of it is held', async () => {
    await serve({ headersTimeout: 100, requestTimeout: 100 });
    const socket = await open();
    socket.write(`${head}Content-Length: 200000\r\n\r\n${'{'.repeat(100_000)}`);
    expect(await received(socket)).toContain('408');
    await eventually(async () => expect(await ground.scrape()).toContain('sallyport_admission_held{what="bytes"} 0'));
    expect(await ground.scrape()).toContain('sallyport_admission_inflight 0');
    expect(await ground.scrape()).toContain('sallyport_admission_degraded_total{reason="aborted"} 1');
    expect((await post(small)).status).toBe(200);
  });
});
