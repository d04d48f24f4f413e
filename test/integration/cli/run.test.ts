import { createServer } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Agent, request, type Dispatcher } from 'undici';
import { freePort, startProgram, startRun, type RunningProgram } from '../../support/program.ts';
import { gatewayObjects } from '../../support/standalone-objects.ts';

/** One Gateway, one route to one Service; the route's answer tells which header it sets. */
function objects(ports: { readonly listener: number; readonly backend: number }, version: string): string {
  const listener = `{ name: http, port: ${ports.listener}, protocol: HTTP, allowedRoutes: { namespaces: { from: All } } }`;
  return `${gatewayObjects({ name: 'web', namespace: 'infra' }, listener)}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: echo, namespace: shop }
spec:
  parentRefs: [{ name: web, namespace: infra }]
  rules:
    - filters: [{ type: ResponseHeaderModifier, responseHeaderModifier: { set: [{ name: x-version, value: "${version}" }] } }]
      backendRefs: [{ name: echo, port: 80 }]
---
apiVersion: v1
kind: Service
metadata: { name: echo, namespace: shop }
spec: { ports: [{ port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: echo-1, namespace: shop, labels: { kubernetes.io/service-name: echo } }
addressType: IPv4
ports: [{ port: ${ports.backend} }]
endpoints: [{ addresses: ["127.0.0.1"] }]
`;
}

describe('sallyport run', () => {
  let folder: string;
  let ports: { listener: number; backend: number };
  let program: RunningProgram;
  let agent: Agent;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    ports = { listener: await freePort(), backend: await freePort() };
    await writeFile(join(folder, 'objects.yaml'), objects(ports, 'one'));
    agent = new Agent();
    program = startRun(folder, '--demo');
    await program.printed('Watching');
  });

  afterEach(async () => {
    await program.stop('SIGKILL');
    await agent.close();
    await rm(folder, { recursive: true });
  });

  function urlPrinted(pattern: RegExp): string {
    return pattern.exec(program.output())?.[1] ?? 'not printed';
  }

  async function get(url: string): Promise<Dispatcher.ResponseData> {
    const response = await request(url, { dispatcher: agent });
    await response.body.dump();
    return response;
  }

  const gateway = (): string => urlPrinted(/Gateway infra\/web http +(\S+)/);

  test('serves the Gateway of the files and prints where', async () => {
    const response = await get(gateway());
    expect(response.statusCode).toBe(200);
    expect(response.headers['x-version']).toBe('one');
    expect(program.output()).toContain('HTTPRoute shop/echo on infra/web');
    expect(program.output()).toMatch(/Programmed=True/);
  });

  test('answers its probes and exposes metrics', async () => {
    expect((await get(urlPrinted(/Probe +(\S+readyz)/))).statusCode).toBe(200);
    await get(gateway());
    const metrics = await request(urlPrinted(/Metrics +(\S+)/), { dispatcher: agent });
    const page = await metrics.body.text();
    expect(page).toMatch(/^sallyport_proxy_requests_total 1$/m);
    expect(page.match(/^sallyport_proxy_grpc_calls_total\{grpc_status="(?:\d+|none)"\} 0$/gm)).toHaveLength(18);
  });

  test('applies a change of a file while every request is answered', async () => {
    const url = gateway();
    const done = new AbortController();
    const outcomes: { readonly status: number; readonly version: unknown }[] = [];
    const load = Array.from({ length: 8 }, async () => {
      while (!done.signal.aborted) {
        const response = await get(url);
        outcomes.push({ status: response.statusCode, version: response.headers['x-version'] });
      }
    });
    await writeFile(join(folder, 'objects.yaml'), objects(ports, 'two'));
    await program.printed(`applied ${folder}`);
    done.abort();
    await Promise.all(load);
    expect(outcomes.filter(({ status }) => status !== 200)).toEqual([]);
    expect(outcomes[0]?.version).toBe('one');
    expect((await get(url)).headers['x-version']).toBe('two');
  });

  test('keeps serving what it has when a file breaks, and says where', async () => {
    await writeFile(join(folder, 'objects.yaml'), 'kind: [unclosed');
    await program.printed('objects.yaml:1:');
    expect((await get(gateway())).statusCode).toBe(200);
  });

  test('a rule that is invalid answers 500 and leaves its traffic to no broader route', async () => {
    const invalid = `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: guarded, namespace: shop }
spec:
  parentRefs: [{ name: web, namespace: infra }]
  rules:
    - matches: [{ path: { type: PathPrefix, value: /guarded } }]
      filters: [{ type: ExternalAuth, externalAuth: { protocol: HTTP, backendRef: { name: auth, port: 80 } } }]
      backendRefs: [{ name: echo, port: 80 }]
`;
    await writeFile(join(folder, 'objects.yaml'), `${objects(ports, 'one')}${invalid}`);
    await program.printed(`applied ${folder}`);
    expect((await get(gateway())).statusCode).toBe(200);
    expect((await get(`${gateway()}guarded/secret`)).statusCode).toBe(500);
  });

  test('serves routes by the hostnamePolicies of the settings', async () => {
    const settings = join(folder, 'settings.txt');
    const others = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    await writeFile(
      settings,
      'hostnamePolicies: [{ name: all, hostnames: ["*"], namespaces: { names: [platform] } }]\n',
    );
    await writeFile(join(others, 'objects.yaml'), objects({ ...ports, listener: await freePort() }, 'one'));
    const second = startProgram(
      'run',
      '-f',
      others,
      '--settings',
      settings,
      '--webhook-port',
      '0',
      '--probe-port',
      '0',
    );
    try {
      await second.printed('Watching');
      expect(second.output()).toContain('[hostname-not-permitted]');
      expect(second.output()).toMatch(/HTTPRoute shop\/echo on infra\/web +Accepted=False\(HostnameNotPermitted\)/);
    } finally {
      await second.stop('SIGKILL');
      await rm(others, { recursive: true });
    }
  });

  test('says in status that a port is taken, and serves it when it is free', async () => {
    const occupied = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => occupied.listen(port, '127.0.1.1', resolve));
    const listener = `{ name: late, port: ${port}, protocol: HTTP }`;
    const text = objects(ports, 'one').replace('listeners: [', `listeners: [${listener}, `);
    await writeFile(join(folder, 'objects.yaml'), text);
    await program.printed(/listener late +Accepted=True +Programmed=False/);
    await new Promise((resolve) => occupied.close(resolve));
    await writeFile(join(folder, 'objects.yaml'), text.replace('value: "one"', 'value: "two"'));
    await program.printed(/listener late +Accepted=True +Programmed=True/);
    expect((await get(`http://127.0.1.1:${port}/`)).statusCode).toBe(404);
  });

  test('binds the addresses that a Gateway requests, with its own ports, and says which ones this machine does not have', async () => {
    const requesting = (...values: readonly string[]) =>
      objects(ports, 'one').replace(
        'listeners: [',
        `addresses: [${values.map((value) => `{ value: "${value}" }`).join(', ')}]\n  listeners: [`,
      );
    await writeFile(join(folder, 'objects.yaml'), requesting('127.0.7.1', '127.0.7.2'));
    await program.printed(/ applied .*objects\.yaml/);
    for (const host of ['127.0.7.1', '127.0.7.2'])
      expect((await get(`http://${host}:${ports.listener}/`)).headers['x-version']).toBe('one');
    await writeFile(join(folder, 'objects.yaml'), requesting('127.0.7.2', '192.0.2.77'));
    await program.printed(/Gateway infra\/web +Accepted=True +Programmed=False\(AddressNotUsable\)/);
    await program.printed(`cannot listen on 192.0.2.77:${ports.listener}: this machine does not have the address`);
    expect((await get(`http://127.0.7.2:${ports.listener}/`)).headers['x-version']).toBe('one');
    await expect(get(`http://127.0.7.1:${ports.listener}/`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('drains at SIGTERM and exits with 0', async () => {
    await get(gateway());
    expect(await program.stop('SIGTERM')).toBe(0);
  });
});

test('sallyport run --listen binds Gateways at one address, with the ports of their listeners', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
  const ports = { listener: await freePort(), backend: await freePort() };
  await writeFile(join(folder, 'objects.yaml'), objects(ports, 'one'));
  const program = startRun(folder, '--demo', '--listen', '0.0.0.0');
  try {
    await program.printed(`Gateway infra/web http                   http://0.0.0.0:${ports.listener}/\n`);
    for (const host of ['127.0.0.1', '127.0.9.9'])
      expect((await request(`http://${host}:${ports.listener}/`)).headers['x-version']).toBe('one');
  } finally {
    await program.stop('SIGKILL');
    await rm(folder, { recursive: true });
  }
});

test('sallyport run --listen refuses what is no IP address', async () => {
  const program = startProgram('run', '-f', 'examples/quickstart', '--listen', 'eth0');
  expect(await program.ended()).toBe(1);
  expect(program.errors()).toContain('Use an IP address, for example 192.0.2.10, 0.0.0.0 or ::.');
});

describe('sallyport', () => {
  test('says in one line that a port is already in use', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
    const first = startProgram('run', '-f', folder, '--webhook-port', '0', '--probe-port', '0');
    await first.printed('Watching');
    const taken = /127\.0\.0\.1:(\d+)\/readyz/.exec(first.output())?.[1] ?? '';
    const second = startProgram('run', '-f', folder, '--webhook-port', '0', '--probe-port', taken);
    await expect(second.printed('Watching')).rejects.toThrow(`port ${taken} on 127.0.0.1 is already in use`);
    expect(await first.stop('SIGTERM')).toBe(0);
    await rm(folder, { recursive: true });
  });
});
