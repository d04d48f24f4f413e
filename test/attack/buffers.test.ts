import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { endpointsConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/program.ts';
import { closeProxies, routeTo, send, startProxy } from '../support/proxy.ts';
import { startAttackedBackend } from './support/attacked-backend.ts';
import type { AttackedBackend } from './support/attacked-backend.ts';
import { attackBuffers, bufferAttacks } from './support/buffer-attacks.ts';
import { warmUp, whileServing } from './support/bystander.ts';
import { connectionObjects } from './support/connection-objects.ts';
import { startDeafBackend } from './support/deaf-backend.ts';
import { firstOutput, runAttacker, spawnProgram } from './support/program.ts';
import { isFull } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

/** Goal for the memory of a data plane in MiB. Its limit in the shipped manifests has room for several attacks at once. */
const memoryLimit = 512;
/** Memory in MiB that may stay above that of the start. */
const returned = 128;
/** Milliseconds for which an attack holds what it has made the data plane keep. */
const duration = 12_000;

const inSmall = isFull ? describe.skip : describe;
const inFull = isFull ? describe : describe.skip;

inSmall('an attack that makes the data plane keep bytes', () => {
  let backend: Awaited<ReturnType<typeof startDeafBackend>>;
  beforeEach(async () => {
    backend = await startDeafBackend();
  });
  afterEach(closeProxies);
  afterEach(() => backend.close());

  test.each(Object.entries(bufferAttacks))('%s', async (_name, attack) => {
    const bufferedBytes = 512 * 1024;
    const { port, proxy } = await startProxy(
      [{ ...endpointsConfig('app', backend.port), protocol: 'h2c' }, routeTo('app')],
      { limits: { bufferedBytes } },
    );
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, proxy.counters().buffered.used)), 1);
    const attacking = attackBuffers(
      attack,
      { host: '127.0.0.1', port },
      { connections: attack.few, size: attack.small, duration: 500 },
    );
    await eventually(() => expect(proxy.counters().limitsReached.buffered).toBeGreaterThan(0));
    // Another client has its share.
    expect((await send(port, '/piece')).status).toBe(200);
    await attacking;
    clearInterval(watching);
    expect(most).toBeLessThanOrEqual(bufferedBytes);
    await eventually(() =>
      expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0, buffered: { used: 0 } }),
    );
  });
});

inFull('an attack that makes the data plane keep bytes stays within its memory', () => {
  let target: Target;
  let backend: ChildProcess;
  let calm: AttackedBackend;
  let plain: number;
  /** Memory in MiB before the attacks. */
  let atStart: number;

  beforeAll(async () => {
    backend = spawnProgram('test/attack/support/deaf-backend.ts');
    const attacked = Number(await firstOutput(backend));
    calm = await startAttackedBackend();
    const authority = await createAuthority();
    const { certificate, privateKey } = await issueServingCertificate(authority, {
      dnsNames: ['a.example'],
      ipAddresses: [gatewayHost],
    });
    plain = await freePort();
    target = await startTarget(
      connectionObjects({
        plain,
        secure: await freePort(),
        attacked,
        appProtocol: 'kubernetes.io/h2c',
        calm: calm.port,
        certificate,
        privateKey,
      }),
    );
    await warmUp({ host: gatewayHost, port: plain }, 'calm.example');
    atStart = target.held().memory;
  });
  afterAll(() => target.stop());
  afterAll(() => void backend.kill('SIGKILL'));
  afterAll(() => calm.close());

  test.each(Object.keys(bufferAttacks))('%s', async (name) => {
    const before = target.held();
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, target.held().memory)), 100);
    const witness = await whileServing({ host: gatewayHost, port: plain }, 'calm.example', async () => {
      const places = [gatewayHost, String(plain), String(duration)];
      expect(await runAttacker('test/attack/support/buffer-attacks.ts', name, ...places)).toBe(0);
    });
    clearInterval(watching);
    process.stdout.write(
      `${name}: p99 ${witness.p99.toFixed(0)} ms, ${witness.failures.length} of ${witness.sent} failed, at most ${most.toFixed(0)} MiB\n`,
    );
    expect(target.isAlive()).toBe(true);
    expect(witness.failures).toEqual([]);
    expect(witness.p99).toBeLessThan(250);
    expect(most).toBeLessThan(memoryLimit);
    // An orderly end behind unread bytes is only seen after the time for a stalled backend, a minute.
    await within(65_000, async () => {
      expect(await target.metric('sallyport_proxy_buffered_bytes')).toBe(0);
      expect(await target.metric('sallyport_proxy_open_connections')).toBeLessThanOrEqual(1);
    });
    await eventually(() => expect(target.held().descriptors).toBeLessThanOrEqual(before.descriptors + 16));
    const { cpu } = target.held();
    await delay(1_000);
    expect(target.held().cpu - cpu).toBeLessThan(0.3);
  });

  // V8 collects old garbage about 100 seconds after the last time if the process keeps allocating. The allocator keeps a part of the freed
  // pages for the next allocations: a call of malloc_trim would return them.
  test('gives memory back within a minute, while ordinary requests go on', async () => {
    const witness = await whileServing({ host: gatewayHost, port: plain }, 'calm.example', () =>
      within(60_000, () => expect(target.held().memory).toBeLessThan(atStart + returned)),
    );
    process.stdout.write(
      `${atStart.toFixed(0)} MiB at the start, ${target.held().memory.toFixed(0)} MiB after ${(witness.sent / 200).toFixed(0)} s\n`,
    );
    expect(witness.failures).toEqual([]);
    expect(witness.p99).toBeLessThan(250);
  });
});

/** Repeats `check` every second until it passes, for so many milliseconds. */
async function within(milliseconds: number, check: () => void | Promise<void>): Promise<void> {
  for (const end = performance.now() + milliseconds; performance.now() < end; await delay(1_000)) {
    try {
      await check();
      return;
    } catch {
      // Checked again.
    }
  }
  await check();
}
