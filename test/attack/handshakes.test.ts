import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { freePort } from '../support/program.ts';
import { TlsPeer } from '../support/tls-peer.ts';
import { connectionObjects } from './support/connection-objects.ts';
import { expensiveFlights } from './support/expensive-flights.ts';
import { startHealthWatch } from './support/health.ts';
import type { HealthWatch } from './support/health.ts';
import { firstOutput, spawnProgram } from './support/program.ts';
import { isFull, scaled } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

let target: Target;
let health: HealthWatch;
let secure: number;

beforeAll(async () => {
  const { certificate, privateKey } = await issueServingCertificate(await createAuthority(), {
    dnsNames: ['a.example'],
    ipAddresses: [gatewayHost],
  });
  secure = await freePort();
  const [attacked, calm] = [await freePort(), await freePort()];
  target = await startTarget(
    connectionObjects({ plain: await freePort(), secure, attacked, calm, certificate, privateKey }),
  );
  health = await startHealthWatch(target.probePort);
}, 60_000);
afterAll(async () => {
  await health.stop();
  await target.stop();
});

/** Each from an address of its own, so that no limit of a client applies. */
async function open(index: number, host: string, port: number): Promise<Socket> {
  const socket = createConnection({ host, port, localAddress: `127.66.${1 + (index >> 8)}.${index & 0xff}` });
  socket.setNoDelay().on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

describe.each(Object.entries(expensiveFlights))('hundreds of %s at once', (_name, flightOf) => {
  test.each([
    ['data plane', scaled(40, 900), () => ({ host: gatewayHost, port: secure })],
    ['webhook', scaled(40, 450), () => ({ host: '127.0.0.1', port: target.webhookPort })],
  ])(
    'delay no health check of the %s',
    async (_server, count, place) => {
      const { host, port } = place();
      const flights: { readonly socket: Socket; readonly bytes: Buffer }[] = [];
      for (let index = 0; index < count; index += 1) {
        const socket = await open(index, host, port);
        flights.push({ socket, bytes: await flightOf(socket) });
      }
      const { times, failures, result } = await health.during(async () => {
        const answers = flights.map(async ({ socket }) => ((await once(socket, 'data')) as [Buffer])[0][0]);
        for (const { socket, bytes } of flights) socket.write(bytes);
        return await Promise.all(answers);
      });
      for (const { socket } of flights) socket.destroy();
      expect(failures).toBe(0);
      // Records of a handshake, of changed keys, or with data: none is an alert.
      expect(result.filter((type) => ![0x14, 0x16, 0x17].includes(type ?? 0))).toEqual([]);
      process.stdout.write(`health checks: at most ${Math.max(...times).toFixed(0)} ms\n`);
      if (isFull) expect(Math.max(...times)).toBeLessThan(100);
    },
    60_000,
  );
});

/** Completes handshakes, each on a connection of its own, until a promise is settled. Returns how long each took, in milliseconds. */
async function shakeHandsDuring(others: Promise<unknown>): Promise<readonly number[]> {
  const attack = { isOver: false };
  void others.finally(() => (attack.isOver = true));
  const times: number[] = [];
  while (!attack.isOver) {
    const began = performance.now();
    const socket = connectSecurely({
      host: gatewayHost,
      port: secure,
      servername: 'a.example',
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    times.push(performance.now() - began);
    socket.destroy();
    await delay(30);
  }
  return times;
}

describe('while handshakes are begun all the time', () => {
  test.each([
    ['one address', 1],
    ['200 addresses', 200],
  ])(
    'by %s, those of another client are completed',
    async (_whose, addresses) => {
      await shakeHandsDuring(delay(1_000));
      const flood = { addresses, connections: scaled(50, 800), duration: scaled(500, 10_000) };
      const attacker = spawnProgram(
        'test/attack/support/handshake-flood.ts',
        gatewayHost,
        String(secure),
        JSON.stringify(flood),
      );
      const ended = once(attacker, 'close');
      const answered = firstOutput(attacker);
      const times = [...(await shakeHandsDuring(ended))].sort((a, b) => a - b);
      const p99 = times[Math.floor(times.length * 0.99)] ?? Infinity;
      process.stdout.write(
        `${Number(await answered)} handshakes begun, those of another client: p99 ${p99.toFixed(0)} ms\n`,
      );
      expect(Number(await answered)).toBeGreaterThan(50);
      if (isFull) expect(p99).toBeLessThan(250);
    },
    60_000,
  );
});

test('clients that change their keys all the time delay no health check', async () => {
  const peers = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const socket = await open(index, gatewayHost, secure);
      return { socket, peer: await TlsPeer.connect(socket) };
    }),
  );
  const updates = peers.map(({ peer }) => peer.keyUpdates(scaled(500, 20_000)));
  const before = await target.metric('sallyport_proxy_limits_reached_total', '{limit="tls-messages"}');
  const { times, failures } = await health.during(async () => {
    // A reset while the client still writes is as good as an end.
    const closed = peers.map(({ socket }) => new Promise((resolve) => void socket.resume().once('close', resolve)));
    for (const [index, { peer }] of peers.entries()) peer.write(updates[index] ?? Buffer.alloc(0));
    await Promise.all(closed);
  });
  expect(failures).toBe(0);
  expect(await target.metric('sallyport_proxy_limits_reached_total', '{limit="tls-messages"}')).toBe(before + 4);
  process.stdout.write(`key updates, health checks: at most ${Math.max(...times).toFixed(0)} ms\n`);
  if (isFull) expect(Math.max(...times)).toBeLessThan(100);
}, 60_000);
