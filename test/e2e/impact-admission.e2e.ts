import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate } from '../../src/certificates/index.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute, service } from './support/routes.ts';
import { installSallyport, metricSum, uninstallSallyport } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// Warnings about changes of Services, Secrets, ConfigMaps, ClusterTrustBundles and Namespaces, as users of kubectl read them.
const namespace = useNamespace('impact-admission');
const guests = useNamespace('impact-guests');
const component = ['rbac.yaml', 'webhook-configuration.yaml'].map((file) =>
  join(import.meta.dirname, '../../deploy/components/impact', file),
);
const gatewayClass = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'impact-admission' },
  spec: { controllerName: 'sallyport.dev/gateway-controller' },
};
const gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'front', namespace },
  spec: {
    gatewayClassName: 'impact-admission',
    listeners: [
      {
        name: 'web',
        port: 80,
        protocol: 'HTTP',
        allowedRoutes: { namespaces: { from: 'Selector', selector: { matchLabels: { exposure: 'public' } } } },
      },
      {
        name: 'secure',
        port: 443,
        protocol: 'HTTPS',
        hostname: 'shop.example.com',
        tls: { certificateRefs: [{ name: 'shop' }] },
      },
    ],
  },
};
const route = httpRoute(
  { name: 'store', namespace },
  {
    parentRefs: [{ name: 'front', sectionName: 'web' }],
    hostnames: ['shop.example.com'],
    rules: [{ matches: [{ path: { type: 'PathPrefix', value: '/cart' } }], backendRefs: [{ name: 'cart', port: 80 }] }],
  },
);

async function tlsSecret(name: string): Promise<object> {
  const { certificate, privateKey } = await issueServingCertificate(await createAuthority(), {
    dnsNames: ['shop.example.com'],
    ipAddresses: [],
  });
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': privateKey },
  };
}

/** What kubectl prints on stderr. */
async function warnings(...args: readonly string[]): Promise<string> {
  const { stderr, code } = await kubectl(args);
  expect(code).toBe(0);
  return stderr;
}

const leavesRoute = `Warning: [impact] Deleting Service ${namespace}/cart leaves HTTPRoute ${namespace}/store without a backend: requests for shop.example.com/cart will get 500.\n`;
const deleteCart = ['delete', 'service', 'cart', '-n', namespace] as const;

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await kubectlOutput(['label', 'namespace', namespace, 'exposure=public']);
  await apply(gatewayClass, gateway, service(namespace, 'cart'), service(namespace, 'idle'), route);
  await apply(await tlsSecret('shop'), await tlsSecret('unused'), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'password', namespace },
    stringData: { password: 'not for the webhook' },
  });
  for (const file of component) await kubectlOutput(['apply', '-f', file]);
  await installSallyport('enforce', { replicas: 1, args: ['--impact-configuration=sallyport-impact'] });
  await waitFor('the webhook warns', async () =>
    (await warnings(...deleteCart, '--dry-run=server')) === leavesRoute ? true : undefined,
  );
});

afterAll(async () => {
  for (const file of component) await kubectl(['delete', '-f', file, '--ignore-not-found']);
  await uninstallSallyport();
  await removeCrds();
});

test('the configuration trusts the webhook, and only warns', async () => {
  const { webhooks } = await getObject<{
    webhooks: readonly { failurePolicy: string; timeoutSeconds: number; clientConfig: { caBundle?: string } }[];
  }>(['validatingwebhookconfiguration', 'sallyport-impact']);
  expect(webhooks).toHaveLength(5);
  for (const { failurePolicy, timeoutSeconds, clientConfig } of webhooks) {
    expect([failurePolicy, timeoutSeconds]).toEqual(['Ignore', 1]);
    expect(clientConfig.caBundle).toBe(webhooks[0]?.clientConfig.caBundle);
    expect(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString()).toContain('BEGIN CERTIFICATE');
  }
});

test('a change of a Service that takes a port away warns, and another change does not', async () => {
  const patch = ['patch', 'service', 'cart', '-n', namespace, '--dry-run=server', '--type=merge', '-p'] as const;
  expect(await warnings(...patch, JSON.stringify({ spec: { ports: [{ port: 8080 }] } }))).toBe(
    leavesRoute.replace('Deleting', 'This change of'),
  );
  expect(await warnings(...patch, JSON.stringify({ spec: { selector: { app: 'other' } } }))).toBe('');
});

test('a ClusterTrustBundle that a policy needs warns', async () => {
  const bundleName = `${namespace}-backends`;
  const { certificate } = await createAuthority();
  await apply(
    service(namespace, 'vault'),
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'BackendTLSPolicy',
      metadata: { name: 'vault', namespace },
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: 'vault' }],
        validation: {
          hostname: 'vault.example.com',
          caCertificateRefs: [{ group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: bundleName }],
        },
      },
    },
    httpRoute(
      { name: 'vault', namespace },
      { parentRefs: [{ name: 'front', sectionName: 'web' }], rules: [{ backendRefs: [{ name: 'vault', port: 443 }] }] },
    ),
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'ClusterTrustBundle',
      metadata: { name: bundleName },
      spec: { trustBundle: certificate },
    },
  );
  const text = new RegExp(
    `^Warning: \\[impact\\] Deleting ClusterTrustBundle ${bundleName} breaks .*${namespace}/vault`,
  );
  await waitFor('the webhook warns', async () =>
    text.test(await warnings('delete', 'clustertrustbundle', bundleName, '--dry-run=server')) ? true : undefined,
  );
  const patch = ['patch', 'clustertrustbundle', bundleName, '--dry-run=server', '--type=merge', '-p'] as const;
  expect(await warnings(...patch, JSON.stringify({ metadata: { labels: { reviewed: 'yes' } } }))).toBe('');
  await kubectlOutput(['delete', 'clustertrustbundle', bundleName]);
  await kubectlOutput(['delete', 'httproute,backendtlspolicy,service', 'vault', '-n', namespace]);
  await waitFor('the webhook has noticed that the route is gone', async () =>
    (await warnings('label', 'namespace', namespace, 'exposure-', '--dry-run=server')).includes('vault')
      ? undefined
      : true,
  );
});

test('a Secret that a listener needs warns', async () => {
  expect(await warnings('delete', 'secret', 'shop', '-n', namespace, '--dry-run=server')).toBe(
    `Warning: [impact] Deleting Secret ${namespace}/shop leaves listener secure of Gateway ${namespace}/front without a certificate: TLS connections for shop.example.com will be closed.\n`,
  );
});

test('labels of a Namespace that a listener selects warn', async () => {
  expect(await warnings('label', 'namespace', namespace, 'exposure-', '--dry-run=server')).toBe(
    `Warning: [impact] This change of Namespace ${namespace} detaches HTTPRoute ${namespace}/store from Gateway ${namespace}/front: requests for shop.example.com/cart will get 404.\n`,
  );
  expect(await warnings('annotate', 'namespace', namespace, 'note=unrelated', '--dry-run=server')).toBe('');
});

test('the deletion of a Namespace warns about what others lose, and a dry run keeps it', async () => {
  const guest = httpRoute(
    { name: 'guest', namespace: guests },
    {
      parentRefs: [{ name: 'front', namespace, sectionName: 'web' }],
      hostnames: ['guest.example.com'],
      rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }],
    },
  );
  await kubectlOutput(['label', 'namespace', guests, 'exposure=public']);
  await apply(service(guests, 'cart'), guest);
  const deletesRoute = `Warning: [impact] Deleting Namespace ${guests} deletes HTTPRoute ${guests}/guest of Gateway ${namespace}/front: requests for guest.example.com/ will get 404.\n`;
  await waitFor('the webhook knows the route', async () =>
    (await warnings('delete', 'namespace', guests, '--dry-run=server')).includes(deletesRoute) ? true : undefined,
  );
  expect(await warnings('delete', 'namespace', namespace, '--dry-run=server')).toContain(
    `Warning: [impact] Deleting Namespace ${namespace} detaches HTTPRoute ${guests}/guest from Gateway ${namespace}/front: requests for guest.example.com/ will not be accepted.\n`,
  );
  await kubectlOutput(['delete', 'httproute', 'guest', '-n', guests]);
  await waitFor('the webhook has noticed that the route is gone', async () =>
    (await warnings('delete', 'namespace', guests, '--dry-run=server')).includes('[impact]') ? undefined : true,
  );
});

test('objects that nothing refers to warn of nothing, and most do not reach the webhook', async () => {
  const reviews = (): Promise<number> => metricSum('sallyport_admission_requests_total{kind="Secret"');
  const before = await reviews();
  expect(await warnings('delete', 'secret', 'password', '-n', namespace)).toBe('');
  expect(await reviews()).toBe(before);
  expect(await warnings('delete', 'secret', 'unused', '-n', namespace)).toBe('');
  expect(await reviews()).toBe(before + 1);
  expect(await warnings('delete', 'service', 'idle', '-n', namespace)).toBe('');
});

test('a deletion warns and goes through, also of a collection', async () => {
  expect(await warnings('delete', 'service', '--all', '-n', namespace, '--dry-run=server')).toBe(leavesRoute);
  expect(await warnings(...deleteCart)).toBe(leavesRoute);
  expect((await kubectl(['get', 'service', 'cart', '-n', namespace])).code).toBe(1);
});
