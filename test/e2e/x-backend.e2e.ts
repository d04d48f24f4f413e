import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate, validFor, type Authority } from '../../src/certificates/index.ts';
import { issueLeaf } from '../support/certificates.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho, scaleEcho } from './support/echo.ts';
import { ask } from './support/http1-client.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { systemNamespace } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// External backends. The cluster has no route to the Internet: the host that is external for the data plane is the node, and the
// cluster's DNS resolves its name.
const namespace = useNamespace('x-backend');
const unknownName = 'api.example.invalid';

let knownName: string;
let node: string;
let address: string;
let plain: Server;
let secure: Server;
/** Rejects clients without a certificate of `partners`, and responds with the serial number of the certificate. */
let demanding: Server;
let partners: Authority;

beforeAll(async () => {
  await installCrds('v1.7.0', 'experimental');
  await installController();
  node = await kubectlOutput([
    'get',
    'nodes',
    '-o',
    'jsonpath={.items[0].status.addresses[?(@.type=="InternalIP")].address}',
  ]);
  knownName = `partner.${node.replaceAll('.', '-')}.external.test`;
  const [authority, stranger] = await Promise.all([
    createAuthority(validFor(1), 'partner'),
    createAuthority(validFor(1), 'stranger'),
  ]);
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: [knownName],
    ipAddresses: [],
  });
  plain = createServer((request, response) => response.end(`plain ${request.headers.host}`));
  secure = createTlsServer({ cert: certificate, key: privateKey }, (request, response) =>
    response.end(`secure ${request.headers.host}`),
  );
  partners = authority;
  demanding = createTlsServer(
    { cert: certificate, key: privateKey, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
    ({ socket }, response) => response.end((socket as TLSSocket).getPeerX509Certificate()?.serialNumber),
  );
  await Promise.all([plain, secure, demanding].map((server) => once(server.listen(0, node), 'listening')));
  await apply(
    authorities('partner', authority.certificate),
    authorities('stranger', stranger.certificate),
    gateway('external', namespace, 80),
  );
  const { status } = await waitForGateway('external', namespace, ['Programmed', 'True']);
  address = status?.addresses?.[0]?.value ?? '';
});

afterAll(async () => {
  plain.close();
  secure.close();
  demanding.close();
  await uninstallController();
  await kubectl(['delete', 'secret', 'sallyport-session-keys', '-n', systemNamespace, '--ignore-not-found']);
  await removeCrds();
});

function authorities(name: string, certificate: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: { 'ca.crt': certificate } };
}

interface Backend {
  readonly status?: {
    readonly ancestors?: readonly {
      readonly conditions: readonly { readonly type: string; readonly reason: string }[];
    }[];
  };
}

function backend(name: string, hostname: string, spec: object): object {
  return {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XBackend',
    metadata: { name, namespace },
    spec: { type: 'ExternalHostname', externalHostname: { hostname }, ...spec },
  };
}

/** An XBackend for one of the servers on the node. */
function partner(name: string, server: Server, spec: object = {}): object {
  return backend(name, knownName, { port: { number: (server.address() as AddressInfo).port }, ...spec });
}

function verifiedBy(configMap: string): object {
  const caCertificateRefs = [{ group: '', kind: 'ConfigMap', name: configMap }];
  return { tls: { mode: 'ServerOnly', validation: { hostname: knownName, caCertificateRefs } } };
}

/** Applies a Secret with a client certificate that the server `demanding` trusts, and returns its serial number. */
async function clientSecret(name: string): Promise<string> {
  const { cert, key } = await issueLeaf(partners, { usages: ['clientAuth'], commonName: name });
  const data = { 'tls.crt': cert, 'tls.key': key };
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'kubernetes.io/tls',
    stringData: data,
  });
  return new X509Certificate(cert).serialNumber;
}

/** An HTTPRoute that forwards `/NAME` to the XBackend of that name. */
function routeTo(...names: readonly string[]): object {
  return httpRoute(
    { name: 'external', namespace },
    {
      parentRefs: [{ name: 'external' }],
      rules: names.map((name) => ({
        matches: [{ path: { value: `/${name}` } }],
        filters: [{ type: 'URLRewrite', urlRewrite: { hostname: knownName } }],
        backendRefs: [{ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name }],
      })),
    },
  );
}

async function accepted(name: string, reason: string): Promise<void> {
  await waitFor(`Accepted of ${name} with reason ${reason}`, async () => {
    const { status } = await getObject<Backend>(['xbackend', name, '-n', namespace]);
    const found = status?.ancestors?.[0]?.conditions.find(({ type }) => type === 'Accepted');
    return found?.reason === reason ? true : undefined;
  });
}

/** An XBackend for the pods with this label. */
function selecting(name: string, app: string, spec: object = {}): object {
  return {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XBackend',
    metadata: { name, namespace },
    spec: { type: 'EndpointSelector', endpointSelector: { matchLabels: { app } }, port: { number: 3000 }, ...spec },
  };
}

/** Status and body of the response to a request for a path. */
async function answer(path: string): Promise<string> {
  const { status, body } = await ask({ address, port: 80, host: 'shop.example.com', path: `/${path}` });
  return `${status} ${body}`;
}

async function waitForAnswer(path: string, wanted: RegExp): Promise<void> {
  await waitFor(`/${path} is answered with ${wanted}`, async () =>
    wanted.test(await answer(path)) ? true : undefined,
  );
}

test('XBackends report whether they are accepted, and get requests only if they are', async () => {
  const tls = { mode: 'ServerOnly', validation: { hostname: unknownName, wellKnownCACertificates: 'System' } };
  await apply(
    backend('usable', unknownName, { port: { number: 443 }, tls }),
    backend('unsupported', unknownName, { port: { number: 443 }, tls, protocol: 'MCP' }),
    routeTo('usable', 'unsupported'),
  );
  await accepted('usable', 'Accepted');
  await accepted('unsupported', 'UnsupportedValue');
  await waitForAnswer('usable', /^503/);
  expect(await answer('unsupported')).toMatch(/^500/);
});

test('an internal address is refused until the parameters of the class permit its network', async () => {
  await apply(partner('plain', plain), routeTo('plain'));
  await accepted('plain', 'Accepted');
  await waitForAnswer('plain', /^503 .*not permitted/s);
  const parameters = { name: 'internal', namespace };
  await apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: parameters,
    data: { internalBackendNetworks: `${node}/32` },
  });
  await kubectlOutput([
    'patch',
    'gatewayclass',
    'sallyport',
    '--type=merge',
    '-p',
    JSON.stringify({ spec: { parametersRef: { group: '', kind: 'ConfigMap', ...parameters } } }),
  ]);
  await waitForAnswer('plain', /^200 /);
  // The pods of the former parameters still refuse it.
  await kubectlOutput(['rollout', 'status', 'deployment/external-sallyport', '-n', namespace, '--timeout=120s']);
  await waitFor('the former pod is gone', async () => {
    const pods = await kubectlOutput([
      'get',
      'pods',
      '-n',
      namespace,
      '-l',
      'gateway.networking.k8s.io/gateway-name=external',
      '-o',
      'name',
    ]);
    return pods.trimEnd().split('\n').length === 1 ? true : undefined;
  });
  expect(await answer('plain')).toBe(`200 plain ${knownName}`);
});

test('TLS with mode ServerOnly forwards requests if the certificate is verified, and none otherwise', async () => {
  await apply(
    partner('verified', secure, verifiedBy('partner')),
    partner('unverified', secure, verifiedBy('stranger')),
    partner('untold', secure),
    routeTo('verified', 'unverified', 'untold'),
  );
  await waitForAnswer('verified', /^200 /);
  expect(await answer('verified')).toBe(`200 secure ${knownName}`);
  expect(await answer('unverified')).toMatch(/^503 /);
  // Without tls, the server gets a request in plain text, and closes the connection.
  expect(await answer('untold')).toMatch(/^50[23] /);
});

test('TLS with mode ClientAndServer presents the client certificate of the XBackend, and the next after its Secret changes', async () => {
  const mutual = (name: string, ref: object): object => {
    const { tls } = verifiedBy('partner') as { readonly tls: object };
    return partner(name, demanding, { tls: { ...tls, mode: 'ClientAndServer', clientCertificateRef: ref } });
  };
  const first = await clientSecret('client');
  await apply(
    mutual('mutual', { name: 'client' }),
    mutual('lacking', { name: 'absent' }),
    routeTo('mutual', 'lacking'),
  );
  await accepted('mutual', 'Accepted');
  await accepted('lacking', 'InvalidClientCertificateRef');
  await waitForAnswer('mutual', new RegExp(`^200 ${first}$`));
  expect(await answer('lacking')).toMatch(/^500 /);
  const second = await clientSecret('client');
  await waitForAnswer('mutual', new RegExp(`^200 ${second}$`));
  // Without its certificate, nothing is sent there.
  await kubectlOutput(['delete', 'secret', 'client', '-n', namespace]);
  await accepted('mutual', 'InvalidClientCertificateRef');
  await waitForAnswer('mutual', /^500 /);
});

test('an XBackend of type EndpointSelector forwards to the selected pods, and its Service is deleted after the last use', async () => {
  const services = (): Promise<string> =>
    kubectlOutput(['get', 'services', '-n', namespace, '-l', 'sallyport.dev/x-backend=pods', '-o', 'name']);
  await deployEcho('selected', namespace);
  await apply(selecting('pods', 'absent'), routeTo('pods'));
  await accepted('pods', 'Accepted');
  await waitForAnswer('pods', /^503 /);
  await apply(selecting('pods', 'selected'));
  await waitForAnswer('pods', /^200 /);
  expect(await services()).toMatch(/^service\/sallyport-backend-[0-9a-f]{10}\n$/);
  await apply(routeTo('plain'));
  // The controller keeps it for a minute.
  await waitFor('the Service is gone', async () => ((await services()) === '' ? true : undefined), 180);
});

test('an XBackend has no endpoints of a deleted one with the same name, whose Service remains', async () => {
  const podOf = async (): Promise<string | undefined> => {
    const { status, body } = await ask({ address, port: 80, host: 'shop.example.com', path: '/again' });
    return status === 200 ? (JSON.parse(body) as { readonly pod: string }).pod : undefined;
  };
  await deployEcho('former', namespace);
  await apply(selecting('again', 'former'), routeTo('again'));
  expect(await waitFor('a response', podOf)).toMatch(/^former-/);
  await kubectlOutput(['delete', 'xbackend', 'again', '-n', namespace, '--cascade=orphan']);
  // The pods of the test before.
  await apply(selecting('again', 'selected'));
  await waitFor('a response of the other pods', async () =>
    (await podOf())?.startsWith('selected-') === true ? true : undefined,
  );
  const services = await kubectlOutput([
    'get',
    'services',
    '-n',
    namespace,
    '-l',
    'sallyport.dev/x-backend=again',
    '-o',
    'name',
  ]);
  expect(services.trimEnd().split('\n')).toHaveLength(2);
  for (let turn = 0; turn < 20; turn += 1) expect(await podOf()).toMatch(/^selected-/);
});

test('sessionPersistence of an XBackend keeps a client at one pod, also after a restart of the data plane', async () => {
  const sessionPersistence = { absoluteTimeout: '1h', cookie: { name: 'sticky', lifetimeType: 'Permanent' } };
  await deployEcho('sticky', namespace);
  await scaleEcho('sticky', namespace, 3);
  await apply(selecting('sticky', 'sticky', { sessionPersistence }), routeTo('sticky'));
  await accepted('sticky', 'Accepted');
  const first = await waitFor('a session', async () => {
    const found = await askSticky();
    return found?.cookie === undefined ? undefined : found;
  });
  expect(first.cookie).toMatch(/^sticky=[\w-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/);
  const cookie = first.cookie?.split(';')[0] ?? '';
  expect(await podsOf(20, cookie)).toEqual([first.pod]);
  // Other clients reach other pods.
  expect((await podsOf(40)).length).toBeGreaterThan(1);

  await kubectlOutput(['rollout', 'restart', 'deployment/external-sallyport', '-n', namespace]);
  await kubectlOutput(['rollout', 'status', 'deployment/external-sallyport', '-n', namespace, '--timeout=180s']);
  expect(await podsOf(20, cookie)).toEqual([first.pod]);
});

/** The pod that serves a request with this cookie, and the cookie that it sets. `undefined` if there is no 200. */
async function askSticky(cookie?: string): Promise<{ readonly pod: string; readonly cookie?: string } | undefined> {
  const response = await fetch(`http://${address}/sticky`, {
    headers: { connection: 'close', ...(cookie === undefined ? {} : { cookie }) },
  });
  const text = await response.text();
  if (response.status !== 200) return undefined;
  const [set] = response.headers.getSetCookie();
  return { pod: (JSON.parse(text) as { readonly pod: string }).pod, ...(set !== undefined && { cookie: set }) };
}

/** The pods that serve so many requests. */
async function podsOf(count: number, cookie?: string): Promise<readonly string[]> {
  const pods: string[] = [];
  for (let turn = 0; turn < count; turn += 1) pods.push((await waitFor('a response', () => askSticky(cookie))).pod);
  return [...new Set(pods)];
}
