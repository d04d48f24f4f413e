import { once } from 'node:events';
import { get } from 'node:http';
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../src/certificates/index.ts';
import type { CertificatePair } from '../../src/proxy/listen/identities.ts';
import { issueLeaf } from '../support/certificates.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { installController, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho } from './support/echo.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// CA certificates for clients and for backends in a ClusterTrustBundle: used while it exists, and dropped with it.
const namespace = useNamespace('trust-bundle');
// Without a signer, the name must not contain colons.
const bundleName = `${namespace}-clients`;
const backendBundleName = `${namespace}-backends`;
const host = 'shop.example.com';
const encoded = (text: CertificatePair['cert']): string => Buffer.from(text as string).toString('base64');

let authority: Authority;
let client: CertificatePair;

beforeAll(async () => {
  authority = await createAuthority();
  client = await issueLeaf(authority, { commonName: 'client' });
  const server = await issueLeaf(authority, { dnsNames: [host] });
  await installCrds('v1.7.0', 'standard');
  await installController();
  await deployEcho('echo', namespace);
  await apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'shop', namespace },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': encoded(server.cert), 'tls.key': encoded(server.key) },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'shop', namespace },
      spec: {
        gatewayClassName: 'sallyport',
        tls: {
          frontend: {
            default: {
              validation: {
                caCertificateRefs: [{ group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: bundleName }],
              },
            },
          },
        },
        listeners: [
          { name: 'http', port: 80, protocol: 'HTTP' },
          { name: 'https', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'shop' }] } },
        ],
      },
    },
    httpRoute(
      { name: 'shop', namespace },
      { parentRefs: [{ name: 'shop' }], rules: [{ backendRefs: [{ name: 'echo', port: 80 }] }] },
    ),
  );
});

afterAll(async () => {
  await kubectl(['delete', 'clustertrustbundle', bundleName, backendBundleName, '--ignore-not-found']);
  await uninstallController();
  await removeCrds();
});

interface Listeners {
  readonly status?: {
    readonly listeners?: readonly {
      readonly name: string;
      readonly conditions: readonly { readonly type: string; readonly reason: string }[];
    }[];
  };
}

async function resolved(reason: string): Promise<void> {
  await waitFor(`ResolvedRefs with reason ${reason}`, async () => {
    const { status } = await getObject<Listeners>(['gateway', 'shop', '-n', namespace]);
    const listener = status?.listeners?.find(({ name }) => name === 'https');
    return listener?.conditions.find(({ type }) => type === 'ResolvedRefs')?.reason === reason ? true : undefined;
  });
}

/** The status of a request with the client certificate; `refused` if there is no connection. */
async function answer(address: string): Promise<number | 'refused'> {
  const sent = request({
    host: address,
    port: 443,
    servername: host,
    agent: false,
    ca: authority.certificate,
    ...client,
  });
  sent.end();
  try {
    const [response] = (await once(sent, 'response')) as [{ readonly statusCode: number; resume(): void }];
    response.resume();
    return response.statusCode;
  } catch {
    return 'refused';
  }
}

test('clients are verified with a ClusterTrustBundle while it exists', async () => {
  await waitFor('the class has the feature ClusterTrustBundle', async () => {
    const { status } = await getObject<{ readonly status?: { readonly supportedFeatures?: readonly object[] } }>([
      'gatewayclass',
      'sallyport',
    ]);
    expect(status?.supportedFeatures).toContainEqual({ name: 'ClusterTrustBundle' });
    return true;
  });
  const gateway = await waitForGateway('shop', namespace, ['Programmed', 'True']);
  const address = gateway.status?.addresses?.[0]?.value ?? '';
  await resolved('InvalidCACertificateRef');
  expect(await answer(address)).toBe('refused');

  await apply({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name: bundleName },
    spec: { trustBundle: authority.certificate },
  });
  await resolved('ResolvedRefs');
  await waitFor('clients are served', async () => ((await answer(address)) === 200 ? true : undefined));

  await kubectlOutput(['delete', 'clustertrustbundle', bundleName]);
  await resolved('InvalidCACertificateRef');
  await waitFor('clients are refused', async () => ((await answer(address)) === 'refused' ? true : undefined));
});

test('a backend is verified with a ClusterTrustBundle while it exists', async () => {
  // The backend with TLS is another Gateway, which needs no certificates of its clients.
  await apply(
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'inner', namespace },
      spec: {
        gatewayClassName: 'sallyport',
        listeners: [{ name: 'https', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'shop' }] } }],
      },
    },
    httpRoute(
      { name: 'inner', namespace },
      { parentRefs: [{ name: 'inner' }], rules: [{ backendRefs: [{ name: 'echo', port: 80 }] }] },
    ),
  );
  await waitForGateway('inner', namespace, ['Programmed', 'True']);
  const service = await kubectlOutput([
    'get',
    'service',
    '-n',
    namespace,
    '-l',
    'gateway.networking.k8s.io/gateway-name=inner',
    '-o',
    'jsonpath={.items[0].metadata.name}',
  ]);
  await apply(
    httpRoute(
      { name: 'outer', namespace },
      {
        parentRefs: [{ name: 'shop', sectionName: 'http' }],
        hostnames: ['outer.example.com'],
        rules: [
          {
            filters: [{ type: 'URLRewrite', urlRewrite: { hostname: host } }],
            backendRefs: [{ name: service, port: 443 }],
          },
        ],
      },
    ),
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'BackendTLSPolicy',
      metadata: { name: 'inner', namespace },
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name: service }],
        validation: {
          hostname: host,
          caCertificateRefs: [{ group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: backendBundleName }],
        },
      },
    },
  );
  const gateway = await waitForGateway('shop', namespace, ['Programmed', 'True']);
  const address = gateway.status?.addresses?.[0]?.value ?? '';
  expect(service).not.toBe('');
  await answers(address, 500);
  await policyResolved('InvalidCACertificateRef');

  await apply({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name: backendBundleName },
    spec: { trustBundle: authority.certificate },
  });
  await policyResolved('ResolvedRefs');
  await answers(address, 200);

  // A bundle that does not contain the authority of the backend.
  const other = await createAuthority();
  await apply({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'ClusterTrustBundle',
    metadata: { name: backendBundleName },
    spec: { trustBundle: other.certificate },
  });
  await answers(address, 503);

  await kubectlOutput(['delete', 'clustertrustbundle', backendBundleName]);
  await policyResolved('InvalidCACertificateRef');
  await answers(address, 500);
});

interface Ancestors {
  readonly status?: {
    readonly ancestors?: readonly {
      readonly conditions: readonly { readonly type: string; readonly reason: string }[];
    }[];
  };
}

async function policyResolved(reason: string): Promise<void> {
  await waitFor(`ResolvedRefs of the policy with reason ${reason}`, async () => {
    const { status } = await getObject<Ancestors>(['backendtlspolicy', 'inner', '-n', namespace]);
    const conditions = status?.ancestors?.[0]?.conditions ?? [];
    return conditions.find(({ type }) => type === 'ResolvedRefs')?.reason === reason ? true : undefined;
  });
}

/** Waits for a status of the route whose backend needs TLS. */
async function answers(address: string, status: number): Promise<void> {
  await waitFor(`the backend with TLS gives ${status}`, async () => {
    const sent = get({ host: address, path: '/', agent: false, headers: { host: 'outer.example.com' } });
    const [response] = (await once(sent, 'response')) as [{ readonly statusCode: number; resume(): void }];
    response.resume();
    expect(response.statusCode).toBe(status);
    return true;
  });
}
