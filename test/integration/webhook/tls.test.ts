import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import { buildWebhook } from '../../../src/webhook/index.ts';
import { eventually } from '../../support/eventually.ts';
import { admissionReview, allow, atOnce, webhookGround, type WebhookGround } from '../../support/webhook.ts';

let ground: WebhookGround;
let app: ReturnType<typeof buildWebhook>;
let port: number;
let agent: Agent;
let sockets: TLSSocket[];

beforeEach(async () => {
  ground = await webhookGround();
  app = buildWebhook({ ...ground, decide: atOnce(() => allow) });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  sockets = [];
});

afterEach(async () => {
  agent.destroy();
  for (const socket of sockets) socket.destroy();
  await app.close();
});

const names = { dnsNames: ['localhost'], ipAddresses: [] };
const body = JSON.stringify(admissionReview());

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly text: string;
  /** Tells connections apart. */
  readonly localPort: number | undefined;
}

function post(text = body, ca = ground.authority.certificate): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const request = httpsRequest(
      { host: '127.0.0.1', port, servername: 'localhost', path: '/validate', method: 'POST', ca, agent, headers },
      (response) => {
        const { localPort } = response.socket;
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            connection: response.headers.connection,
            text: Buffer.concat(chunks).toString(),
            localPort,
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

async function open(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    servername: 'localhost',
    ca: ground.authority.certificate,
    ...options,
  });
  sockets.push(socket);
  await once(socket, 'secureConnect');
  return socket;
}

/** Everything the server says until it closes the connection. */
async function readToEnd(socket: TLSSocket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

const head = (length = Buffer.byteLength(body)) =>
  `POST /validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe('TLS', () => {
  test('proves itself with the current certificate', async () => {
    expect(await post()).toMatchObject({ status: 200, text: expect.stringContaining('"uid":"b7a1c5e2"') });
    await expect(post(body, (await createAuthority()).certificate)).rejects.toThrow(/certificate|signature/);
  });

  test('speaks TLS 1.2 and 1.3, nothing older', async () => {
    expect((await open({ maxVersion: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2');
    expect((await open()).getProtocol()).toBe('TLSv1.3');
    // The client would speak 1.1, were it asked to.
    await expect(open({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' })).rejects.toThrow(
      /alert protocol version/,
    );
  });

  test('takes a new certificate for new connections and keeps the old ones open', async () => {
    const before = await post();
    const next = await createAuthority();
    ground.certificates.replace(await issueServingCertificate(next, names));
    expect(await post()).toMatchObject({ status: 200, localPort: before.localPort });
    agent.destroy();
    expect(await post(body, next.certificate)).toMatchObject({ status: 200 });
    agent.destroy();
    await expect(post()).rejects.toThrow(/certificate|signature/);
  });

  test('keeps the old certificate when the new one cannot be used, and says so', async () => {
    const other = await issueServingCertificate(ground.authority, names);
    ground.certificates.replace({
      certificate: ground.certificates.current().certificate,
      privateKey: other.privateKey,
    });
    expect(await post()).toMatchObject({ status: 200 });
    expect(ground.logged.join('')).toContain('the previous certificate stays in use');
    expect(ground.logged.join('')).not.toContain('PRIVATE KEY');
    expect(ground.metrics.degraded.at('certificate').value).toBe(1);
  });

  test('survives what is no TLS', async () => {
    const { Socket } = await import('node:net');
    const socket = new Socket();
    socket.connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.end('GET / HTTP/1.1\r\n\r\n');
    await once(socket.resume(), 'close');
    expect(await post()).toMatchObject({ status: 200 });
  });
});

describe('connections', () => {
  test('are kept for longer than the API server keeps them idle', async () => {
    const first = await post();
    const second = await post();
    expect(first.connection).toBe('keep-alive');
    expect(second.localPort).toBe(first.localPort);
    expect(app.server.keepAliveTimeout).toBeGreaterThanOrEqual(120_000);
  });

  test('have limits for slow clients', () => {
    expect(app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 35_000 });
  });

  test('take 6.5 MiB, and refuse 8 MiB before they are sent', async () => {
    expect(
      await post(JSON.stringify(admissionReview({ object: { data: 'x'.repeat(6.5 * 1024 * 1024) } }))),
    ).toMatchObject({ status: 200 });
    const socket = await open();
    const answer = readToEnd(socket);
    socket.write(head(8 * 1024 * 1024));
    expect(await answer).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/i);
    expect(ground.metrics.degraded.at('too-large').value).toBe(1);
  });

  test('that break off are no longer counted as in flight', async () => {
    const socket = await open();
    socket.write(`${head()}${body.slice(0, 10)}`);
    await eventually(() => expect(ground.metrics.inflight.value).toBe(1));
    socket.destroy();
    await eventually(() => expect(ground.metrics.inflight.value).toBe(0));
    expect(await post()).toMatchObject({ status: 200 });
    await eventually(() => expect(ground.metrics.inflight.value).toBe(0));
  });
});

describe('closing', () => {
  test('answers requests in flight, with Connection: close, and then ends without waiting for idle clients', async () => {
    await post();
    const socket = await open();
    const answer = readToEnd(socket);
    socket.write(`${head()}${body.slice(0, 10)}`);
    await eventually(() => expect(ground.metrics.inflight.value).toBe(1));
    const closed = app.close();
    await eventually(() => expect(app.server.listening).toBe(false));
    socket.write(body.slice(10));
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*"allowed":true/i);
    await closed;
  });

  test('answers a request that only then is complete enough to be routed', async () => {
    const socket = await open();
    const answer = readToEnd(socket);
    socket.write(head().slice(0, 40));
    // Bytes are read in the order they arrive: once a later request is answered, these were seen.
    await post();
    const closed = app.close();
    await eventually(() => expect(app.server.listening).toBe(false));
    socket.write(`${head().slice(40)}${body}`);
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*"allowed":true/i);
    await closed;
  });
});
