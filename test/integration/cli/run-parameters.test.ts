import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closeBackends, startEcho } from '../../support/backends.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort, startRun, type RunningProgram } from '../../support/program.ts';
import { echoed, fieldValues } from '../../support/proxy.ts';
import { gatewayObjects, serviceObjects } from '../../support/standalone-objects.ts';

let folder: string;
let program: RunningProgram;
let ports: readonly [plain: number, edge: number];

function settings(data: string): string {
  return `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: shop }
data: ${data}
`;
}

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(folder, name), text);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
  ports = [await freePort(), await freePort()];
  const backend = await startEcho();
  const gateways = ['plain', 'edge'].map((name, index) =>
    gatewayObjects({ name, namespace: 'shop' }, `{ name: http, port: ${ports[index]}, protocol: HTTP }`),
  );
  const [plain = '', edge = ''] = gateways;
  const ref = '  infrastructure: { parametersRef: { group: "", kind: ConfigMap, name: settings } }\n';
  const withoutClass = edge.slice(edge.indexOf('---') + 4);
  await write(
    'objects.yaml',
    `${plain}---\n${withoutClass}${ref}---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: echo, namespace: shop }
spec:
  parentRefs: [{ name: plain }, { name: edge }]
  rules: [{ backendRefs: [{ name: echo, port: 80 }] }]
${serviceObjects({ name: 'echo', endpoint: backend.port })}`,
  );
  await write('settings.yaml', settings('{ forwarded: replace, replicas: "3" }'));
  program = startRun(folder, '--listen', '127.0.0.1');
  await program.printed('Watching');
});

afterEach(async () => {
  await program.stop('SIGKILL');
  await closeBackends();
  await rm(folder, { recursive: true });
});

/** The addresses that a backend sees in the chain of proxies, which a client has begun. */
async function chain(port: number): Promise<string | undefined> {
  const [value] = fieldValues(
    await echoed(port, '/', { headers: { 'x-forwarded-for': '192.0.2.1' } }),
    'x-forwarded-for',
  );
  return value;
}

test('a Gateway has its own parameters, others keep the defaults, and changes apply at once', async () => {
  expect(await chain(ports[0])).toBe('192.0.2.1, 127.0.0.1');
  expect(await chain(ports[1])).toBe('127.0.0.1');
  await write('settings.yaml', settings('{ forwarded: append }'));
  await eventually(async () => expect(await chain(ports[1])).toBe('192.0.2.1, 127.0.0.1'));
  await write('settings.yaml', settings('{ forwarded: replace }'));
  await eventually(async () => expect(await chain(ports[1])).toBe('127.0.0.1'));
  expect(await chain(ports[0])).toBe('192.0.2.1, 127.0.0.1');
});

test('an invalid parameter is an error of the Gateway', async () => {
  await write('settings.yaml', settings('{ forwarded: sometimes }'));
  await program.printed('InvalidParameters');
  expect(await chain(ports[0])).toBe('192.0.2.1, 127.0.0.1');
});
