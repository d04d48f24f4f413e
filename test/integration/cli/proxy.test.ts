import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { request as startSecureRequest } from 'node:https';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigurationSource, type CertificateResource } from '../../../src/channel/index.ts';
import { issueServingCertificate } from '../../../src/certificates/index.ts';
import { closeBackends, startEcho, type Backend, type Echo } from '../../support/backends.ts';
import { startChannel, tokenOf, type TestChannel } from '../../support/channel.ts';
import { endpointsConfig, listenerConfig } from '../../support/config.ts';
import { freePort, startProgram, type RunningProgram } from '../../support/program.ts';
import { sendRaw } from '../../support/proxy.ts';
import { routeConfig, routeMatch, routeRule } from '../../support/routes.ts';
import { until } from '../../support/until.ts';

const gateway = 'infra/gateway';
const listenerKey = listenerConfig('web').key;
const route = routeConfig('shop/cart', {
  attachments: [{ listener: listenerKey, hostnames: [''] }],
  rules: [
    {
      ...routeRule(0, routeMatch()),
      backends: [{ weight: 1, target: { type: 'endpoints', key: endpointsConfig('cart').key }, filters: [] }],
    },
  ],
});

let folder: string;
let echo: Backend;
let source: ConfigurationSource;
let channel: TestChannel;
let program: RunningProgram | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-proxy-'));
  echo = await startEcho();
});

afterAll(async () => {
  await closeBackends();
  await rm(folder, { recursive: true });
});

afterEach(async () => {
  await program?.stop('SIGKILL');
  program = undefined;
  await channel.server.close();
});

/** A controller and the program as its proxy. */
async function start(options: readonly string[] = ['--bind=127.0.0.1']): Promise<{ readonly probePort: number }> {
  source = new ConfigurationSource();
  channel = await startChannel((name) => (name === gateway ? source : undefined));
  const [tokenFile, caFile, probePort] = [join(folder, 'token'), join(folder, 'ca.crt'), await freePort()];
  await writeFile(tokenFile, `${tokenOf(gateway)}\n`);
  await writeFile(caFile, channel.authority.certificate);
  program = startProgram(
    'proxy',
    `--controller=127.0.0.1:${channel.server.port}`,
    `--gateway=${gateway}`,
    `--token-file=${tokenFile}`,
    `--ca-file=${caFile}`,
    ...options,
    `--probe-port=${probePort}`,
    '--identity=web-1',
    '--drain=1',
    '--grace=1',
  );
  return { probePort };
}

async function statusOf(url: string): Promise<number | undefined> {
  const request = get(url, { agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'close');
  return response.statusCode;
}

/** The serial number of what a listener shows to a client that trusts the channel's authority. */
async function serialNumberAt(port: number): Promise<string | undefined> {
  const request = startSecureRequest({
    host: '127.0.0.1',
    port,
    ca: channel.authority.certificate,
    servername: 'shop.example',
    agent: false,
  }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
  response.resume();
  await once(response, 'close');
  return serialNumber;
}

async function shopCertificate(): Promise<CertificateResource> {
  const material = await issueServingCertificate(channel.authority, { dnsNames: ['shop.example'], ipAddresses: [] });
  return { kind: 'certificate', key: 'certificate/infra/shop', secret: 'infra/shop', ...material };
}

describe('sallyport proxy', () => {
  test.each([1, 2])('with %i workers serves what the controller sends, and goes on without it', async (workers) => {
    const { probePort } = await start(['--bind=127.0.0.1', `--workers=${workers}`]);
    const port = await freePort();
    const id = source.publish([endpointsConfig('cart', echo.port), listenerConfig('web', { port }), route], []);
    await until(() =>
      expect(source.states()).toMatchObject([{ name: 'web-1', acknowledged: id, problems: new Map() }]),
    );
    expect(await statusOf(`http://127.0.0.1:${probePort}/readyz`)).toBe(200);
    expect(await statusOf(`http://127.0.0.1:${port}/`)).toBe(200);
    await channel.server.close();
    expect(await statusOf(`http://127.0.0.1:${port}/`)).toBe(200);
    expect(await statusOf(`http://127.0.0.1:${probePort}/readyz`)).toBe(200);
    const stopped = program?.stop('SIGTERM');
    await until(async () => expect(await statusOf(`http://127.0.0.1:${probePort}/readyz`)).toBe(503));
    expect(await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200 OK\r\n[^]*^connection: close\r$/im,
    );
    expect(await stopped).toBe(0);
    program = undefined;
  });

  test('is reached by every family of addresses that the machine has, and names clients by their own', async () => {
    await start([]);
    const port = await freePort();
    const id = source.publish([endpointsConfig('cart', echo.port), listenerConfig('web', { port }), route], []);
    await until(() => expect(source.states()).toMatchObject([{ acknowledged: id, problems: new Map() }]));
    const loopbacks = Object.values(networkInterfaces())
      .flat()
      .flatMap((one) => (one?.internal === true ? [one] : []));
    expect(loopbacks.length).toBeGreaterThan(0);
    for (const { address, family } of loopbacks) {
      const response = await fetch(`http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`);
      const { fields } = (await response.json()) as Echo;
      expect(fields[fields.indexOf('x-forwarded-for') + 1]).toBe(address);
    }
  });

  test.each([
    [[], '10.0.0.1, 127.0.0.1'],
    [['--forwarded=replace'], '127.0.0.1'],
  ])('with %j tells backends of %s where a client claims to come from 10.0.0.1', async (options, expected) => {
    await start(['--bind=127.0.0.1', ...options]);
    const port = await freePort();
    const id = source.publish([endpointsConfig('cart', echo.port), listenerConfig('web', { port }), route], []);
    await until(() => expect(source.states()).toMatchObject([{ acknowledged: id, problems: new Map() }]));
    const { fields } = (await (
      await fetch(`http://127.0.0.1:${port}/`, { headers: { 'x-forwarded-for': '10.0.0.1' } })
    ).json()) as Echo;
    expect(fields[fields.indexOf('x-forwarded-for') + 1]).toBe(expected);
  });

  test('is not ready before it has everything', async () => {
    const { probePort } = await start();
    await channel.server.close();
    await until(async () => expect(await statusOf(`http://127.0.0.1:${probePort}/healthz`)).toBe(200));
    expect(await statusOf(`http://127.0.0.1:${probePort}/readyz`)).toBe(503);
  });

  test('with workers logs whole lines, and shows sums on the page of metrics', async () => {
    const { probePort } = await start(['--bind=127.0.0.1', '--workers=2']);
    const port = await freePort();
    const id = source.publish([endpointsConfig('cart', echo.port), listenerConfig('web', { port }), route], []);
    await until(() => expect(source.states()).toMatchObject([{ acknowledged: id, problems: new Map() }]));
    await Promise.all(Array.from({ length: 30 }, () => statusOf(`http://127.0.0.1:${port}/`)));
    const page = await (await fetch(`http://127.0.0.1:${probePort}/metrics`)).text();
    expect(page).toMatch(/^sallyport_proxy_workers 2$/m);
    expect(page).toMatch(/^sallyport_proxy_requests_total 30$/m);
    expect(page).toMatch(/^sallyport_internal_errors_total\{origin="worker"\} 0$/m);
    await until(() => {
      const lines = (program?.errors() ?? '').split('\n').filter((line) => line.includes('"msg":"request"'));
      expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual(Array(30).fill(200));
    });
  });

  test.each([1, 2])(
    'with %i workers terminates TLS with the current certificates from the channel',
    async (workers) => {
      await start(['--bind=127.0.0.1', `--workers=${workers}`]);
      const port = await freePort();
      const listener = listenerConfig('web', { port, protocol: 'HTTPS', certificates: ['infra/shop'] });
      const missing = source.publish([endpointsConfig('cart', echo.port), listener, route], []);
      await until(() =>
        expect(source.states()).toMatchObject([
          {
            acknowledged: missing,
            problems: new Map([[listenerKey, 'the certificate of Secret "infra/shop" is not there']]),
          },
        ]),
      );
      const serials: (string | undefined)[] = [];
      for (const certificate of [await shopCertificate(), await shopCertificate()]) {
        const id = source.publish([certificate], []);
        await until(() => expect(source.states()).toMatchObject([{ acknowledged: id, problems: new Map() }]));
        serials.push(await serialNumberAt(port));
      }
      expect(new Set(serials).size).toBe(2);
      const gone = source.publish([], ['certificate/infra/shop']);
      await until(() =>
        expect(source.states()).toMatchObject([
          {
            acknowledged: gone,
            problems: new Map([[listenerKey, 'the certificate of Secret "infra/shop" is not there']]),
          },
        ]),
      );
    },
  );
});
