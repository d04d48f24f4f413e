import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { customResourceDefinitions, type KubernetesObject, type ResourceType } from '../../../src/kubernetes/index.ts';
import { defineKind } from '../../support/definitions.ts';
import type { FakeOptions } from '../../support/fake-api-server.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { startProgram } from '../../support/program.ts';

const group = 'gateway.networking.k8s.io';
const typeOf = (kind: string, plural: string, version = `${group}/v1`): ResourceType => ({
  apiVersion: version,
  kind,
  plural,
  namespaced: true,
});
const routes = typeOf('HTTPRoute', 'httproutes');
const services = typeOf('Service', 'services', 'v1');
const slices = typeOf('EndpointSlice', 'endpointslices', 'discovery.k8s.io/v1');

const route = (name: string, path: string, backend: object): KubernetesObject => ({
  kind: 'HTTPRoute',
  metadata: { name, namespace: 'team' },
  spec: {
    parentRefs: [{ name: 'web' }],
    rules: [{ matches: [{ path: { type: 'PathPrefix', value: path } }], backendRefs: [{ port: 80, ...backend }] }],
  },
});
const cart: KubernetesObject = {
  kind: 'Service',
  metadata: { name: 'cart', namespace: 'team' },
  spec: { ports: [{ port: 80 }] },
};
const objects: readonly (readonly [ResourceType, KubernetesObject])[] = [
  [
    typeOf('Gateway', 'gateways'),
    {
      kind: 'Gateway',
      metadata: { name: 'web', namespace: 'team' },
      spec: {
        gatewayClassName: 'ours',
        listeners: [
          { name: 'http', port: 80, protocol: 'HTTP' },
          { name: 'tcp', port: 5432, protocol: 'TCP' },
        ],
      },
    },
  ],
  [routes, route('shop', '/', { name: 'cart' })],
  [routes, route('lost', '/lost', { name: 'lost' })],
  [routes, route('far', '/far', { name: 'api', namespace: 'other' })],
  [services, cart],
  [
    slices,
    {
      kind: 'EndpointSlice',
      metadata: { name: 'cart-1', namespace: 'team', labels: { 'kubernetes.io/service-name': 'cart' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
      ports: [{ port: 8080 }],
    },
  ],
  [services, { kind: 'Service', metadata: { name: 'api', namespace: 'other' }, spec: { ports: [{ port: 80 }] } }],
];

/** Discovery, and everything in the namespace of the user except for the named resources. */
const permits =
  (...without: readonly string[]) =>
  (path: string): boolean =>
    /^\/(?:version|api(?:\/v1)?|apis(?:\/[^/]+){0,2})$/.test(path) ||
    (path.includes('/namespaces/team/') && !without.some((plural) => path.endsWith(`/${plural}`)));

const options: FakeOptions = {};
let stage: KubernetesStage;
let folder: string;
let cluster: readonly string[];

beforeAll(async () => {
  stage = await kubernetesStage(options);
  for (const kind of [
    'GatewayClass',
    'Gateway',
    'HTTPRoute',
    'TCPRoute',
    'ReferenceGrant',
    'BackendTLSPolicy',
  ] as const)
    defineKind(stage, kind, 'v1');
  const plural = 'xtelemetrypolicies';
  seed(stage, customResourceDefinitions, {
    metadata: { name: `${plural}.gateway.networking.x-k8s.io` },
    spec: {
      group: 'gateway.networking.x-k8s.io',
      scope: 'Namespaced',
      names: { kind: 'XTelemetryPolicy', plural },
      versions: [{ name: 'v1alpha1', served: true, storage: true }],
    },
    status: { conditions: [{ type: 'Established', status: 'True' }], storedVersions: ['v1alpha1'] },
  });
  for (const [resource, object] of objects) seed(stage, resource, object);
  folder = await mkdtemp(join(tmpdir(), 'sallyport-limited-'));
  const kubeconfig = await file(
    'kubeconfig',
    JSON.stringify({
      clusters: [{ name: 'fake', cluster: { server: stage.server.url, 'insecure-skip-tls-verify': true } }],
      contexts: [{ name: 'fake', context: { cluster: 'fake', user: 'dev' } }],
      users: [{ name: 'dev', user: {} }],
      'current-context': 'fake',
    }),
  );
  cluster = ['--cluster', '--kubeconfig', kubeconfig, '-n', 'team'];
});
beforeEach(() => {
  options.permits = permits();
});
afterAll(async () => {
  await stage.close();
  await rm(folder, { recursive: true });
});

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

async function outcome(command: string, ...args: readonly string[]): Promise<Outcome> {
  const program = startProgram(command, ...cluster, ...args);
  const code = await program.ended();
  return { code, output: program.output(), errors: program.errors() };
}

const notFound = 'Service "team/lost" not found';

describe('a user who may list everything in one namespace', () => {
  test('explain answers for objects of the namespace', async () => {
    const served = await outcome('explain', 'http://any.example/');
    expect(served.output).toContain('1 of 1 to team/cart/80: 10.0.0.1:8080');
    expect(served.code).toBe(0);
    const lost = await outcome('explain', 'http://any.example/lost');
    expect(lost.output).toContain('1 of 1 answered 500: BackendNotFound');
    expect(lost.code).toBe(1);
  });

  test('explain does not answer for references into other namespaces', async () => {
    const { code, output } = await outcome('explain', 'http://any.example/far');
    expect(output).toContain(
      '1 of 1 unknown: objects of kind ReferenceGrant in namespace "other" are not observed (no permission)',
    );
    expect(output).not.toContain('500');
    expect(code).toBe(1);
  });

  test('explain says which routes of connections may exist although they are not observed', async () => {
    const sentence =
      /^unknown: an object of kind TCPRoute may match, and they are observed only in namespace "team" \(no permission\)$/;
    const { output } = await outcome('explain', 'tcp://web.team:5432');
    expect(output.split('\n').map((line) => line.trim())).toContainEqual(expect.stringMatching(sentence));
    expect(output).not.toContain('No route matches');
    const json = await outcome('explain', 'tcp://web.team:5432', '-o', 'json');
    const [found] = (
      JSON.parse(json.output) as { readonly outcomes: readonly { readonly unobserved?: readonly string[] }[] }
    ).outcomes;
    expect(found?.unobserved).toEqual([expect.stringMatching(sentence)]);
  });

  test.each([['check'], ['audit']])('%s reports a backend of the namespace that is not found', async (command) => {
    const { output, errors } = await outcome(command);
    expect(output).toContain(notFound);
    expect(output).not.toContain('other');
    expect(errors).toMatch(/ are observed only in namespace "team"\. For example: /);
  });

  test('preflight and audit report missing permissions in one sentence for each extent, and preflight does not say to upgrade', async () => {
    const extents = (errors: string): readonly string[] =>
      errors.split('\n').flatMap((line) => /^Objects of .* are (.*?)[.:] /.exec(line)?.[1] ?? []);
    const expected = ['not observed', 'observed only in namespace "team"'];
    const { code, output, errors } = await outcome('preflight', '--to', 'v1.7.0');
    expect(extents(errors).toSorted()).toEqual(expected);
    expect(errors).toMatch(/^Objects of the kinds .*HTTPRoute.*XTelemetryPolicy.* are observed only/m);
    expect(output).not.toMatch(/then upgrade|kubectl apply/);
    expect(output).toContain('run preflight with permission to list the CRDs and all objects before you upgrade.');
    expect(code).toBe(0);
    expect(extents((await outcome('audit')).errors).toSorted()).toEqual(expected);
  });

  test('impact reports what breaks in the namespace', async () => {
    const { code, output } = await outcome('impact', '--delete', 'service/cart');
    expect(output).toContain('Breaks\n');
    expect(output).toContain('HTTPRoute team/shop rule 0 match 0: 500');
    expect(code).toBe(1);
  });

  test('impact does not judge references into other namespaces', async () => {
    const change = await file(
      'far.yaml',
      JSON.stringify({ apiVersion: `${group}/v1`, ...route('far', '/far', { name: 'cart' }) }),
    );
    const { code, output } = await outcome('impact', '--change', change);
    expect(output).toContain(
      'before: HTTPRoute team/far rule 0 match 0: unknown: objects of kind ReferenceGrant in namespace "other" are not observed (no permission)',
    );
    expect(output).toMatch(/\n0 broken, 0 recovered, \d+ changed\n$/);
    expect(code).toBe(0);
  });
});

describe('a user who may not list Services', () => {
  const unknown = 'unknown: objects of kind Service in namespace "team" are not observed (no permission)';
  beforeEach(() => {
    options.permits = permits('services');
  });

  test('explain does not know the answer', async () => {
    const { code, output } = await outcome('explain', 'http://any.example/');
    expect(output).toContain(`1 of 1 ${unknown}`);
    expect(output).not.toMatch(/500|unobserved/);
    expect(code).toBe(1);
  });

  test.each([['check'], ['audit']])('%s does not report backends', async (command) => {
    const { output } = await outcome(command);
    expect(output).not.toContain('not found');
  });

  test('impact claims no response', async () => {
    const { code, output } = await outcome('impact', '--delete', 'httproute/shop');
    expect(output).toContain(`before: HTTPRoute team/shop rule 0 match 0: ${unknown}`);
    expect(output).not.toMatch(/before: .*500/);
    expect(code).toBe(0);
  });

  test('impact tells why it does not find the object to delete', async () => {
    const { code, errors } = await outcome('impact', '--delete', 'service/cart');
    expect(errors).toContain(
      'Service "team/cart" not found: objects of kind Service in namespace "team" are not observed (no permission).',
    );
    expect(code).toBe(2);
  });
});

test('explain does not claim that there are no endpoints if EndpointSlices may not be listed', async () => {
  options.permits = permits('endpointslices');
  const { output } = await outcome('explain', 'http://any.example/');
  expect(output).toContain(
    '1 of 1 unknown (team/cart/80): objects of kind EndpointSlice in namespace "team" are not observed (no permission)',
  );
  expect(output).not.toContain('503');
});

test('explain does not claim that no route matches if HTTPRoutes may not be listed', async () => {
  options.permits = permits('httproutes');
  const { code, output } = await outcome('explain', 'http://any.example/');
  expect(output).toContain('unknown: an object of kind HTTPRoute may match, and they are not observed (no permission)');
  expect(output).not.toContain('404');
  expect(code).toBe(1);
});

test('explain does not claim that there is no listener if Gateways may not be listed', async () => {
  options.permits = permits('gateways');
  const { code, output } = await outcome('explain', 'http://any.example/');
  expect(output).toContain('Unknown: objects of kind Gateway in namespace "team" are not observed (no permission).');
  expect(output).not.toContain('No listener');
  expect(code).toBe(1);
});

describe('a user who may not read the discovery documents either', () => {
  beforeEach(() => {
    options.permits = (path) => path.includes('/namespaces/team/');
  });

  test('explain answers for objects of the namespace', async () => {
    const { code, output, errors } = await outcome('explain', 'http://any.example/');
    expect(output).toContain('1 of 1 to team/cart/80: 10.0.0.1:8080');
    expect(code).toBe(0);
    // The kinds that the API server serves are unknown: those without a CRD here are not observed.
    expect(errors).toMatch(/^Objects of the kinds .*XBackend.* are not observed\. For example: .*forbidden/m);
    expect(errors.match(/^Objects of .* are observed only in namespace "team"/gm)).toHaveLength(1);
    expect(errors.match(/^CustomResourceDefinitions are not observed/gm)).toHaveLength(1);
  });

  test('check judges the namespace', async () => {
    const { output } = await outcome('check');
    expect(output).toContain(notFound);
    expect(output).not.toContain('other');
  });

  test('preflight reports it, and does not say to upgrade', async () => {
    const { code, output, errors } = await outcome('preflight', '--to', 'v1.7.0', '-o', 'json');
    expect(errors.match(/^The version of Kubernetes is not observed: /gm)).toHaveLength(1);
    expect(JSON.parse(output)).not.toHaveProperty('upgrade');
    expect(code).toBe(0);
  });
});
