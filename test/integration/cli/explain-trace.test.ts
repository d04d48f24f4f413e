import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { traceKeyOf } from '../../../src/channel/trace.ts';
import { filesOnly, policyOf } from '../../../src/cli/settings.ts';
import { configuration } from '../../../src/core/routing/emit.ts';
import type { KubernetesObject, ResourceType } from '../../../src/kubernetes/index.ts';
import { createProxy, type Proxy } from '../../../src/proxy/proxy.ts';
import { clusterDocument } from '../../../src/sources/objects.ts';
import { Workspace } from '../../../src/workspace/workspace.ts';
import { closeBackends, startEcho } from '../../support/backends.ts';
import { defineKind } from '../../support/definitions.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { startProgram } from '../../support/program.ts';
import { portOf } from '../../support/proxy.ts';

const group = 'gateway.networking.k8s.io';
const bundle = { minor: '1.7', channel: 'standard' } as const;
const secret = 'an example of a key for traces, long enough';
const kinds = ['GatewayClass', 'Gateway', 'HTTPRoute', 'GRPCRoute', 'TCPRoute', 'UDPRoute', 'TLSRoute'] as const;
const url = 'http://shop.example.com/cart?a=1';

let stage: KubernetesStage;
let folder: string;
let proxy: Proxy;
let cluster: readonly string[];
let address: string;

type Stored = readonly [plural: string, apiVersion: string, object: KubernetesObject];

function objects(backendPort: number, path: string): readonly Stored[] {
  const at = (kind: string, name: string, rest: object): KubernetesObject => ({
    kind,
    metadata: { name, namespace: 'default', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    ...rest,
  });
  return [
    [
      'gatewayclasses',
      `${group}/v1`,
      {
        kind: 'GatewayClass',
        metadata: { name: 'ours' },
        spec: { controllerName: 'sallyport.dev/gateway-controller' },
      },
    ],
    [
      'gateways',
      `${group}/v1`,
      at('Gateway', 'web', {
        spec: {
          gatewayClassName: 'ours',
          listeners: [
            { name: 'http', port: 80, protocol: 'HTTP' },
            { name: 'tcp', port: 5432, protocol: 'TCP' },
            { name: 'udp', port: 53, protocol: 'UDP' },
            { name: 'tls', port: 443, protocol: 'TLS', hostname: 'db.example.com', tls: { mode: 'Passthrough' } },
          ],
        },
      }),
    ],
    ...(['TCPRoute', 'UDPRoute', 'TLSRoute'] as const).map((kind): Stored => [
      `${kind.toLowerCase()}s`,
      `${group}/v1`,
      at(kind, 'db', {
        spec: {
          parentRefs: [{ name: 'web', sectionName: kind.slice(0, 3).toLowerCase() }],
          ...(kind === 'TLSRoute' && { hostnames: ['db.example.com'] }),
          rules: [{ backendRefs: [{ name: 'cart', port: kind === 'UDPRoute' ? 53 : 80 }] }],
        },
      }),
    ]),
    [
      'grpcroutes',
      `${group}/v1`,
      at('GRPCRoute', 'calls', {
        spec: {
          parentRefs: [{ name: 'web', sectionName: 'http' }],
          hostnames: ['grpc.example.com'],
          rules: [{ matches: [{ method: { service: 'shop.Cart' } }], backendRefs: [{ name: 'cart', port: 80 }] }],
        },
      }),
    ],
    [
      'httproutes',
      `${group}/v1`,
      at('HTTPRoute', 'shop', {
        spec: {
          parentRefs: [{ name: 'web' }],
          rules: [
            { matches: [{ path: { type: 'PathPrefix', value: path } }], backendRefs: [{ name: 'cart', port: 80 }] },
          ],
        },
      }),
    ],
    [
      'services',
      'v1',
      at('Service', 'cart', {
        spec: {
          ports: [
            { name: 'tcp', port: 80 },
            { name: 'udp', port: 53, protocol: 'UDP' },
          ],
        },
      }),
    ],
    [
      'endpointslices',
      'discovery.k8s.io/v1',
      {
        kind: 'EndpointSlice',
        metadata: { name: 'cart-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'cart' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
        ports: [
          { name: 'tcp', port: backendPort },
          { name: 'udp', port: backendPort, protocol: 'UDP' },
        ],
      },
    ],
  ];
}

/** Where the data plane binds a port of the Gateway. */
function hostOf(port: number): string {
  return `127.0.${port >> 8}.${port & 0xff}`;
}

function addressOf(listener: string, port: number): string {
  return `${hostOf(port)}:${portOf(proxy, `listener/default/web/${listener}`)}`;
}

/** The configuration that the controller would send for these objects. */
function resourcesOf(stored: readonly Stored[]) {
  const workspace = new Workspace(filesOnly(bundle), policyOf('standard', bundle), [configuration]);
  workspace.update(stored.map(([, apiVersion, object], index) => clusterDocument({ ...object, apiVersion }, index)));
  return [...workspace.kernel.emitted(configuration).values()];
}

beforeAll(async () => {
  stage = await kubernetesStage();
  for (const kind of kinds) defineKind(stage, kind, 'v1');
  const backend = await startEcho();
  const stored = objects(backend.port, '/cart');
  for (const [plural, apiVersion, object] of stored) {
    const type: ResourceType = { apiVersion, kind: '', plural, namespaced: plural !== 'gatewayclasses' };
    seed(stage, type, object);
  }
  proxy = createProxy({ bind: ({ port }) => [{ host: hostOf(port), port: 0 }], certificates: () => undefined });
  await proxy.apply({ upserts: resourcesOf(stored), removals: [] });
  address = addressOf('http', 80);
  folder = await mkdtemp(join(tmpdir(), 'sallyport-trace-'));
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(
    kubeconfig,
    JSON.stringify({
      clusters: [{ name: 'fake', cluster: { server: stage.server.url, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'nobody' } }],
      users: [{ name: 'nobody', user: {} }],
      'current-context': 'fake',
    }),
  );
  cluster = ['--cluster', '--kubeconfig', kubeconfig];
});

afterAll(async () => {
  await proxy.close({ graceMs: 0 });
  await closeBackends();
  await stage.close();
  await rm(folder, { recursive: true });
});

async function explain(...args: readonly string[]) {
  const program = startProgram('explain', ...cluster, ...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

describe('explain --trace', () => {
  test('says how to create the key', async () => {
    const { code, errors } = await explain(url, '--trace');
    expect(errors).toContain('kubectl create secret generic sallyport-trace -n sallyport-system');
    expect(code).not.toBe(0);
  });

  test('sends the request through a data plane, and compares', async () => {
    seed(
      stage,
      { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
      {
        kind: 'Secret',
        metadata: { namespace: 'sallyport-system', name: 'sallyport-trace' },
        data: { key: Buffer.from(secret).toString('base64') },
      },
    );
    expect((await explain(url, '--trace')).output).toContain('trace: The Gateway has no address. Use --address.');
    const unkeyed = await explain(url, '--address', address);
    expect(unkeyed.output).toContain('trace: Status 200 without a trace');
    expect(unkeyed.code).toBe(1);
    proxy.setTraceKey(traceKeyOf(secret, 'default/web'));
    const { code, output } = await explain(url, '--address', address, '-H', 'x-version: next');
    expect(output).toMatch(
      /trace: status 200, HTTPRoute\/default\/shop rule 0 match 0, backend default\/cart\/80, endpoint 127\.0\.0\.1:\d+: as predicted/,
    );
    expect(code).toBe(0);
  });

  test.each([
    ['tcp://web:5432', 'tcp', 5432, 'TCPRoute/default/db rule 0, backend default/cart/80'],
    ['udp://web:53', 'udp', 53, 'UDPRoute/default/db rule 0, backend default/cart/53/UDP'],
    ['tls://db.example.com:443', 'tls', 443, 'TLSRoute/default/db rule 0, backend default/cart/80'],
  ])('sends a trace of a connection: %s', async (of, name, port, told) => {
    proxy.setTraceKey(traceKeyOf(secret, 'default/web'));
    const { code, output } = await explain(of, '--address', addressOf(name, port));
    expect(output).toMatch(new RegExp(`trace: ${told}, endpoint 127\\.0\\.0\\.1:\\d+: as predicted`));
    expect(code).toBe(0);
  });

  test('sends a gRPC call', async () => {
    const call = ['-X', 'POST', '-H', 'content-type: application/grpc'];
    const { output } = await explain('http://grpc.example.com/shop.Cart/Add', ...call, '--address', address);
    expect(output).toMatch(/trace: status \d+, GRPCRoute\/default\/calls rule 0 match 0, backend default\/cart\/80/);
    expect(output).not.toContain('trace differs: route');
  });

  test('finds a data plane that decides otherwise about a connection, or tells nothing', async () => {
    await proxy.apply({ upserts: [], removals: ['route/TCPRoute/default/db'] });
    const { code, output } = await explain('tcp://web:5432', '--address', addressOf('tcp', 5432), '-o', 'json');
    const { outcomes } = JSON.parse(output) as { readonly outcomes: readonly { readonly trace: object }[] };
    expect(outcomes[0]?.trace).toEqual({
      report: { listener: 'listener/default/web/tcp', listenerGeneration: 1, reason: 'no-route' },
      differences: [
        'route none, predicted TCPRoute/default/db',
        'generation of the route none, predicted 1',
        'rule none, predicted 0',
        'backend none, predicted default/cart/80',
        'reason no-route, predicted none',
      ],
    });
    expect(code).toBe(1);
    proxy.setTraceKey(undefined);
    for (const [of, name, port] of [
      ['tcp://web:5432', 'tcp', 5432],
      ['tls://db.example.com:443', 'tls', 443],
    ] as const) {
      const silent = await explain(of, '--address', addressOf(name, port));
      expect(silent.output).toContain('trace: No trace in the answer: the data plane does not have the key yet');
      expect(silent.code).toBe(1);
    }
    proxy.setTraceKey(traceKeyOf(secret, 'default/web'));
  });

  test('finds a data plane that decides otherwise', async () => {
    const old = resourcesOf(objects(1, '/basket')).filter(({ kind }) => kind === 'route');
    await proxy.apply({ upserts: old, removals: [] });
    const { code, output } = await explain(url, '--address', address, '-o', 'json');
    const { outcomes } = JSON.parse(output) as { readonly outcomes: readonly { readonly trace: object }[] };
    expect(outcomes[0]?.trace).toMatchObject({
      status: 404,
      report: { reason: 'no-route' },
      differences: [
        'route none, predicted HTTPRoute/default/shop',
        expect.stringContaining('generation of the route none'),
        'rule none, predicted 0',
        'match none, predicted 0',
        'backend none, predicted default/cart/80',
        'reason no-route, predicted none',
      ],
    });
    expect(code).toBe(1);
  });

  test('needs a cluster, and a request', async () => {
    expect((await explain(url, '--trace', '-H', 'host: a b')).errors).toContain('--trace requires a valid request.');
    expect((await explain(url, '-f', folder, '--trace')).errors).toContain('--trace requires --cluster without files');
  });
});
