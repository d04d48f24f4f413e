import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { closeBackends, startBackend } from '../support/backends.ts';
import { endpointsConfig, listenerConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/program.ts';
import { closeProxies, portOf, routeTo, send, startProxy, web } from '../support/proxy.ts';
import { routeConfig } from '../support/routes.ts';
import { startAttackedBackend } from './support/attacked-backend.ts';
import type { AttackedBackend } from './support/attacked-backend.ts';
import { whileServing } from './support/bystander.ts';
import { attackConnections, connectionAttacks } from './support/connection-attacks.ts';
import { connectionObjects } from './support/connection-objects.ts';
import { isFull } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

/** Milliseconds of each attack. */
const duration = 6_000;
/** Limit of the memory of a data plane in the shipped manifests, in MiB. */
const memoryLimit = 512;

const inSmall = isFull ? describe.skip : describe;
const inFull = isFull ? describe : describe.skip;

async function issue() {
  const authority = await createAuthority();
  return { authority, ...(await issueServingCertificate(authority, { dnsNames: ['a.example'], ipAddresses: [gatewayHost] })) };
}

inSmall('an attack on a few connections leaves nothing behind', () => {
  let backend: AttackedBackend;
  beforeEach(async () => {
    backend = await startAttackedBackend();
  });
  afterEach(closeProxies);
  afterEach(() => backend.close());

  test.each(Object.entries(connectionAttacks))('%s', async (_name, attack) => {
    const { certificate, privateKey } = await issue();
    const secure = listenerConfig('secure', { port: 443, protocol: 'HTTPS', certificates: ['shop/shop'] });
    const attachments = [web, secure].map(({ key }) => ({ listener: key, hostnames: [''] }));
    const { port, proxy } = await startProxy([secure, endpointsConfig('app', backend.port), routeConfig('shop/web', { attachments, rules: routeTo('app').rules })], {
      bind: ({ key }) => ({ host: key === secure.key ? gatewayHost : '127.0.0.1', port: 0 }),
      certificates: () => ({ cert: certificate, key: privateKey }),
    });
    const at = { plain: { host: '127.0.0.1', port }, secure: { host: gatewayHost, port: portOf(proxy, secure.key) } };
    expect(await attackConnections(attack, at, 200, Math.min(attack.connections, 8))).toBeGreaterThan(0);
    expect((await send(port, '/')).status).toBe(200);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });
});

inFull('while an attack on connections goes on, others are served', () => {
  let target: Target;
  let backend: ChildProcess;
  let at: { plain: number; secure: number };

  beforeAll(async () => {
    backend = spawnProgram('test/attack/support/attacked-backend.ts');
    const attacked = Number(await firstOutput(backend));
    const calm = await startBackend((request, response) => void request.resume().on('end', () => response.end('ok')));
    const { certificate, privateKey } = await issue();
    at = { plain: await freePort(), secure: await freePort() };
    target = await startTarget(connectionObjects({ ...at, attacked, calm: calm.port, certificate, privateKey }));
    // Code that has not run yet is slow.
    await whileServing({ host: gatewayHost, port: at.plain }, 'calm.example', () => delay(2_000));
  });
  afterAll(() => target.stop());
  afterAll(() => void backend.kill('SIGKILL'));
  afterAll(closeBackends);

  /** Runs an attack beside ordinary requests, and judges what they and the process suffered. */
  async function suffer(name: string, attack: () => Promise<unknown>): Promise<void> {
    const before = target.held();
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, target.held().memory)), 100);
    const began = performance.now();
    const witness = await whileServing({ host: gatewayHost, port: at.plain }, 'calm.example', async () => void (await attack()));
    const seconds = (performance.now() - began) / 1_000;
    clearInterval(watching);
    process.stdout.write(`${name}: p99 ${witness.p99.toFixed(0)} ms, ${witness.failures.length} of ${witness.sent} failed, at most ${most.toFixed(0)} MiB, ${seconds.toFixed(0)} s\n`);
    expect(target.isAlive()).toBe(true);
    expect(witness.failures).toEqual([]);
    expect(witness.p99).toBeLessThan(250);
    expect(most).toBeLessThan(memoryLimit);
    await eventually(async () => expect(await target.metric('sallyport_proxy_open_connections')).toBeLessThanOrEqual(1));
    await eventually(() => expect(target.held().descriptors).toBeLessThanOrEqual(before.descriptors + 8));
    const { cpu } = target.held();
    await delay(1_000);
    expect(target.held().cpu - cpu).toBeLessThan(0.3);
  }

  test.each(Object.keys(connectionAttacks))('%s', async (name) => {
    await suffer(name, async () => {
      // Its own process, so that the witness does not wait for the attacker.
      const attacker = spawnProgram('test/attack/support/connection-attacks.ts', name, gatewayHost, String(at.plain), String(at.secure), String(duration));
      const [code] = (await once(attacker, 'close')) as [number];
      expect(code).toBe(0);
    });
  });
});

/** Runs a file of this folder as a program of its own. */
function spawnProgram(...argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...argv], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: '' } });
}

async function firstOutput({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('it has no output');
  const [bytes] = (await once(stdout, 'data')) as [Buffer];
  return bytes.toString();
}
