import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, kubectl, kubectlOutput } from './support/kubectl.ts';
import { grpcRoute, httpRoute, service } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// `kubectl describe` of an object with a problem shows an Event with the first finding.
const namespace = useNamespace('events');
const className = `broken-${namespace}`;
const group = 'gateway.networking.k8s.io';

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  await apply(gateway('web', namespace, 80), service(namespace));
  await waitForGateway('web', namespace, ['Programmed', 'True']);
});

afterAll(async () => {
  await kubectl(['delete', 'gatewayclass', className, '--ignore-not-found']);
  await kubectl(['delete', 'httproute,gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

const parentRefs = [{ name: 'web' }];
const missing = { parentRefs, rules: [{ backendRefs: [{ name: 'missing', port: 80 }] }] };

/** The warnings that `kubectl describe` shows under Events. */
async function warnings(kind: string, name: string): Promise<string> {
  const text = await kubectlOutput(['describe', kind, name, ...(kind === 'gatewayclass' ? [] : ['-n', namespace])]);
  return (text.split(/^Events:/m)[1] ?? '')
    .split('\n')
    .filter((line) => line.includes('Warning'))
    .join('\n');
}

function object(kind: string, name: string, spec: object): object {
  return { apiVersion: `${group}/v1`, kind, metadata: { name, namespace }, spec };
}

const broken: readonly (readonly [kind: string, name: string, manifest: object, message: string])[] = [
  [
    'gatewayclass',
    className,
    {
      apiVersion: `${group}/v1`,
      kind: 'GatewayClass',
      metadata: { name: className },
      spec: {
        controllerName: 'sallyport.dev/gateway-controller',
        parametersRef: { group: '', kind: 'ConfigMap', namespace, name: 'missing' },
      },
    },
    'missing',
  ],
  [
    'gateway',
    'broken',
    object('Gateway', 'broken', {
      gatewayClassName: 'sallyport',
      listeners: [{ name: 'odd', port: 81, protocol: 'example.com/odd' }],
    }),
    'Listener odd',
  ],
  [
    'listenerset',
    'extra',
    object('ListenerSet', 'extra', {
      parentRef: { name: 'web' },
      listeners: [{ name: 'more', port: 8080, protocol: 'HTTP' }],
    }),
    'Accepted is False',
  ],
  ['httproute', 'web', httpRoute({ name: 'web', namespace }, missing), 'missing'],
  ['grpcroute', 'calls', grpcRoute({ name: 'calls', namespace }, missing), 'missing'],
  [
    'tlsroute',
    'tls',
    object('TLSRoute', 'tls', { ...missing, hostnames: ['tls.example.com'] }),
    'Gateway ' /* names the parent */,
  ],
  ['tcproute', 'tcp', object('TCPRoute', 'tcp', missing), 'Gateway '],
  ['udproute', 'udp', object('UDPRoute', 'udp', missing), 'Gateway '],
];

test.each(broken)('%s %s with a problem has a Warning', async (kind, name, manifest, message) => {
  await apply(manifest);
  expect(await waitFor('a Warning', async () => (await warnings(kind, name)) || undefined)).toContain(message);
});

test('BackendTLSPolicy without authorities has a Warning', async () => {
  await apply(
    httpRoute(
      { name: 'secured', namespace },
      { parentRefs, rules: [{ backendRefs: [{ name: 'backend', port: 80 }] }] },
    ),
    object('BackendTLSPolicy', 'secured', {
      targetRefs: [{ group: '', kind: 'Service', name: 'backend' }],
      validation: {
        hostname: 'backend.example.com',
        caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'missing' }],
      },
    }),
  );
  const told = await waitFor('a Warning', async () => (await warnings('backendtlspolicy', 'secured')) || undefined);
  expect(told).toContain('missing');
});

test('a generation with the same kind of problem has a Warning of its own', async () => {
  await apply(
    httpRoute({ name: 'web', namespace }, { parentRefs, rules: [{ backendRefs: [{ name: 'other', port: 80 }] }] }),
  );
  const told = await waitFor('a Warning about the new backend', async () => {
    const text = await warnings('httproute', 'web');
    return text.includes(`${namespace}/other`) ? text : undefined;
  });
  expect(told).toContain('BackendNotFound');
});

test('a new leader does not repeat Events', async () => {
  const count = async () =>
    (
      await kubectlOutput([
        'get',
        'events',
        '-n',
        namespace,
        '--field-selector',
        'type=Warning,involvedObject.kind=HTTPRoute',
        '-o',
        'name',
      ])
    )
      .split('\n')
      .filter(Boolean).length;
  const before = await count();
  await kubectlOutput(['rollout', 'restart', 'deployment/sallyport-controller', '-n', 'sallyport-system']);
  await kubectlOutput(['rollout', 'status', 'deployment/sallyport-controller', '-n', 'sallyport-system']);
  // The new leader has written a status, so it has seen all objects.
  await apply(gateway('after', namespace, 82));
  await waitForGateway('after', namespace, ['Programmed', 'True']);
  expect(await count()).toBe(before);
});
