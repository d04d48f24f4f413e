import { execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { endpointsConfig, listenerConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/program.ts';
import { closeProxies, portOf, routeTo, send, startProxy, web } from '../support/proxy.ts';
import { routeConfig } from '../support/routes.ts';
import { startAttackedBackend } from './support/attacked-backend.ts';
import type { AttackedBackend } from './support/attacked-backend.ts';
import { warmUp, whileServing } from './support/bystander.ts';
import { attackConnections, connectionAttacks } from './support/connection-attacks.ts';
import { connectionObjects } from './support/connection-objects.ts';
import { firstOutput, runAttacker, spawnProgram } from './support/program.ts';
import { isFull } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

const run = promisify(execFile);
const packages: Readonly<Record<string, string>> = {
  slowhttptest: 'slowhttptest',
  h2load: 'nghttp2-client',
  testssl: 'testssl.sh',
};
/** Of slowhttptest: connections, how many are opened in a second, and seconds. */
const slowly = ['-c', '1000', '-r', '200', '-l', '8'];
/** Goal for the memory of a data plane in MiB. Its limit in the shipped manifests has room for several attacks at once. */
const memoryLimit = 512;

const inSmall = isFull ? describe.skip : describe;
const inFull = isFull ? describe : describe.skip;

async function issue() {
  const authority = await createAuthority();
  return {
    authority,
    ...(await issueServingCertificate(authority, { dnsNames: ['a.example'], ipAddresses: [gatewayHost] })),
  };
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
    const { port, proxy } = await startProxy(
      [
        secure,
        endpointsConfig('app', backend.port),
        routeConfig('shop/web', { attachments, rules: routeTo('app').rules }),
      ],
      {
        bind: ({ key }) => [{ host: key === secure.key ? gatewayHost : '127.0.0.1', port: 0 }],
        certificates: () => ({ cert: certificate, key: privateKey }),
      },
    );
    const at = { plain: { host: '127.0.0.1', port }, secure: { host: gatewayHost, port: portOf(proxy, secure.key) } };
    expect(await attackConnections(attack, at, 200, Math.min(attack.connections, 8))).toBeGreaterThan(0);
    expect((await send(port, '/')).status).toBe(200);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });
});

inFull('while an attack on connections goes on, others are served', () => {
  let target: Target;
  let backend: ChildProcess;
  let calm: AttackedBackend;
  let at: { plain: number; secure: number };

  beforeAll(async () => {
    backend = spawnProgram('test/attack/support/attacked-backend.ts');
    const attacked = Number(await firstOutput(backend));
    calm = await startAttackedBackend();
    const { certificate, privateKey } = await issue();
    at = { plain: await freePort(), secure: await freePort() };
    target = await startTarget(connectionObjects({ ...at, attacked, calm: calm.port, certificate, privateKey }));
    await warmUp({ host: gatewayHost, port: at.plain }, 'calm.example');
  });
  afterAll(() => target.stop());
  afterAll(() => void backend.kill('SIGKILL'));
  afterAll(() => calm.close());

  /** Runs an attack beside ordinary requests, and judges what they and the process suffered. */
  async function suffer(name: string, attack: () => Promise<unknown>): Promise<void> {
    const before = target.held();
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, target.held().memory)), 100);
    const began = performance.now();
    const witness = await whileServing(
      { host: gatewayHost, port: at.plain },
      'calm.example',
      async () => void (await attack()),
    );
    const seconds = (performance.now() - began) / 1_000;
    clearInterval(watching);
    process.stdout.write(
      `${name}: p99 ${witness.p99.toFixed(0)} ms, ${witness.failures.length} of ${witness.sent} failed, at most ${most.toFixed(0)} MiB, ${seconds.toFixed(0)} s\n`,
    );
    expect(target.isAlive()).toBe(true);
    expect(witness.failures).toEqual([]);
    expect(witness.p99).toBeLessThan(250);
    expect(most).toBeLessThan(memoryLimit);
    await eventually(async () =>
      expect(await target.metric('sallyport_proxy_open_connections')).toBeLessThanOrEqual(1),
    );
    await eventually(() => expect(target.held().descriptors).toBeLessThanOrEqual(before.descriptors + 8));
    const { cpu } = target.held();
    await delay(1_000);
    expect(target.held().cpu - cpu).toBeLessThan(0.3);
  }

  test.each(Object.keys(connectionAttacks))('%s', async (name) => {
    await suffer(name, async () => {
      const places = [gatewayHost, String(at.plain), String(at.secure)];
      expect(await runAttacker('test/attack/support/connection-attacks.ts', name, ...places)).toBe(0);
    });
  });

  // The tools that others attack with; they are Debian packages.
  test.each([
    ['slowhttptest', 'slow heads', ['-H', '-i', '1', ...slowly]],
    ['slowhttptest', 'slow bodies', ['-B', '-i', '1', ...slowly]],
    ['slowhttptest', 'ranges', ['-R', ...slowly]],
    ['slowhttptest', 'slow reading', ['-X', '-n', '1', '-w', '512', '-y', '1024', '-z', '32', '-k', '3', ...slowly]],
    ['h2load', 'an ordinary client that sends much', ['-D', '8', '-c', '10', '-m', '10']],
  ])('%s: %s', async (tool, name, options) => {
    if (!(await isInstalled(tool))) return;
    const url = `http://${gatewayHost}:${at.plain}${name === 'slow reading' ? '/large' : '/'}`;
    await suffer(`${tool}, ${name}`, async () => {
      const { stdout } = await run(tool, tool === 'h2load' ? [...options, url] : [...options, '-u', url]);
      // Whether the tool could do its work at all.
      expect(stdout).toMatch(tool === 'h2load' ? / 0 failed, 0 errored/ : /Exit status/);
    });
  });

  test('testssl finds no weakness of severity MEDIUM or above', async () => {
    if (!(await isInstalled('testssl'))) return;
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-testssl-'));
    const report = join(folder, 'report.json');
    // Protocols, ciphers, forward secrecy, preferences, implementation bugs and all known vulnerabilities.
    const options = [
      '--quiet',
      '--color',
      '0',
      '--warnings',
      'off',
      '--nodns',
      'none',
      '--fast',
      '-p',
      '-s',
      '-f',
      '-P',
      '-g',
      '-U',
      '--jsonfile',
      report,
    ];
    // It ends with the number of what it found.
    await run('testssl', [...options, `${gatewayHost}:${at.secure}`]).catch(() => undefined);
    const findings = JSON.parse(await readFile(report, 'utf8')) as {
      readonly id: string;
      readonly severity: string;
      readonly finding: string;
    }[];
    await rm(folder, { recursive: true });
    expect(findings.find(({ id }) => id === 'TLS1_3')).toMatchObject({ severity: 'OK' });
    expect(findings.find(({ id }) => id === 'heartbleed')).toMatchObject({ severity: 'OK' });
    expect(findings.filter(({ severity }) => ['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL'].includes(severity))).toEqual([]);
    expect(target.isAlive()).toBe(true);
  });
});

/** Says so where a program is missing: whoever runs all attacks learns which were left out. */
async function isInstalled(program: string): Promise<boolean> {
  const isThere = await run('which', [program]).then(
    () => true,
    () => false,
  );
  if (!isThere)
    process.stdout.write(
      `${program} is not installed, so its attacks are left out (apt-get install ${packages[program]})\n`,
    );
  return isThere;
}
