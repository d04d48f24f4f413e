import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { freePort } from '../support/program.ts';
import { connectionObjects } from './support/connection-objects.ts';
import { expensiveFlights } from './support/expensive-flights.ts';
import { startHealthWatch } from './support/health.ts';
import type { HealthWatch } from './support/health.ts';
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
