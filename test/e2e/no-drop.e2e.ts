import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate, validFor, type Authority } from '../../src/certificates/index.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { conditionOf, gateway, installController, killControllers, leader, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho, scaleEcho } from './support/echo.ts';
import { apply, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { systemNamespace } from './support/sallyport.ts';
import { ask, Traffic, type Destination } from './support/traffic.ts';
import { waitFor } from './support/wait.ts';

// Whatever changes while a Gateway serves 200 requests a second: each of them is answered by a backend.
const namespace = useNamespace('no-drop');
const host = 'shop.example.com';
const versionField = 'x-version';

let authorities: readonly Authority[];
let plain: Destination;
let secure: Destination;

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  authorities = await Promise.all([createAuthority(validFor(1), 'first'), createAuthority(validFor(1), 'second')]);
  await Promise.all([deployEcho('one', namespace), deployEcho('two', namespace)]);
  await storeCertificate(authorities[0]);
  // As much as it needs for this, so that tests can be run beside other work.
  await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace }, data: { cpu: '250m' } });
  await apply(gatewayWith(80), shop({ backend: 'one', version: 0 }));
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  plain = { address: status?.addresses?.[0]?.value ?? '', port: 80, host };
  secure = { ...plain, port: 443, ca: authorities.map(({ certificate }) => certificate).join('\n') };
  await waitUntilServed(0);
});

afterAll(async () => {
  await kubectl(['delete', 'gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

function gatewayWith(...ports: readonly number[]): object {
  const tls = { certificateRefs: [{ name: 'shop' }] };
  const { spec, ...rest } = gateway('web', namespace, ...ports);
  const infrastructure = { parametersRef: { group: '', kind: 'ConfigMap', name: 'settings' } };
  return { ...rest, spec: { ...spec, infrastructure, listeners: [...spec.listeners, { name: 'https', port: 443, protocol: 'HTTPS', tls }] } };
}

interface Version {
  readonly backend: string;
  readonly version: number;
  readonly path?: object;
  readonly filters?: readonly object[];
}

/** The route that serves everything, and says in each answer which version of it did. */
function shop({ backend, version, path = { type: 'PathPrefix', value: '/' }, filters = [] }: Version): object {
  return route('shop', { matches: [{ path }], filters: [...filters, stamp(version)], backendRefs: [{ name: backend, port: 80 }] });
}

function route(name: string, rule: object): object {
  return httpRoute({ name, namespace }, { parentRefs: [{ name: 'web' }], hostnames: [host], rules: [rule] });
}

function stamp(version: number | string): object {
  return { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: versionField, value: String(version) }] } };
}

async function waitUntilServed(version: number | string, path = '/'): Promise<void> {
  await waitFor(`version ${version} serves ${path}`, async () => {
    const { status, headers } = await ask({ ...plain, path });
    return status === 200 && headers[versionField] === String(version) ? true : undefined;
  });
}

/** The certificate of the listener, newly issued. Gives it. */
async function storeCertificate(authority: Authority | undefined): Promise<string> {
  if (authority === undefined) throw new Error('no authority');
  const { certificate, privateKey } = await issueServingCertificate(authority, { dnsNames: [host], ipAddresses: [] });
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop', namespace }, type: 'kubernetes.io/tls', stringData: { 'tls.crt': certificate, 'tls.key': privateKey } });
  return certificate;
}

/** Does something under load, which begins before and goes on after it. Gives what was lost. */
async function underTraffic(destination: Destination, act: (traffic: Traffic) => Promise<void>): Promise<readonly string[]> {
  const traffic = new Traffic(destination);
  try {
    await traffic.goesOn(400);
    await act(traffic);
    await traffic.goesOn(400);
  } finally {
    await traffic.stop();
  }
  return traffic.stop();
}

test('a route is changed: its backend, its match, its filters', async () => {
  const rewrite = { type: 'URLRewrite', urlRewrite: { hostname: 'other.example.com', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/moved' } } };
  const header = { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [{ name: 'x-shop', value: 'cart' }] } };
  const mirror = { type: 'RequestMirror', requestMirror: { backendRef: { name: 'two', port: 80 } } };
  const exact = { type: 'Exact', value: '/' };
  const changes: readonly Omit<Version, 'version'>[] = [
    { backend: 'two' }, { backend: 'one', filters: [rewrite] }, { backend: 'one', path: exact }, { backend: 'two', filters: [header, mirror] }, { backend: 'one', filters: [rewrite, header] },
    { backend: 'two', path: exact, filters: [header] }, { backend: 'one' },
  ];
  const lost = await underTraffic(plain, async (traffic) => {
    for (const [index, change] of changes.entries()) {
      await apply(shop({ ...change, version: index + 1 }));
      await waitUntilServed(index + 1);
      await traffic.goesOn(100);
    }
  });
  expect(lost).toEqual([]);
});

test('50 routes come, and go', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `added-${index}`);
  const lost = await underTraffic(plain, async (traffic) => {
    await apply(...names.map((name) => route(name, { matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }], filters: [stamp(name)], backendRefs: [{ name: 'two', port: 80 }] })));
    for (const name of names) await waitUntilServed(name, `/${name}`);
    await traffic.goesOn(200);
    await kubectlOutput(['delete', 'httproute', '-n', namespace, ...names]);
    for (const name of names) await waitUntilServed(7, `/${name}`);
  });
  expect(lost).toEqual([]);
});

test('a backend is scaled up and down', async () => {
  const lost = await underTraffic(plain, async (traffic) => {
    for (const replicas of [4, 1, 3, 2]) {
      const pods = await scaleEcho('one', namespace, replicas);
      const unseen = new Set(pods);
      await waitFor('all of its pods serve', async () => {
        unseen.delete((JSON.parse((await ask(plain)).body) as { readonly pod: string }).pod);
        return unseen.size === 0 ? true : undefined;
      });
      await traffic.goesOn(200);
    }
  });
  expect(lost).toEqual([]);
});

/** The certificate that a new connection is shown, PEM without line ends. */
function shownCertificate(): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: secure.address, port: secure.port, servername: host, ca: secure.ca });
    socket.once('error', reject).once('secureConnect', () => {
      resolve(socket.getPeerCertificate().raw);
      socket.destroy();
    });
  });
}

test('the certificate of a listener is replaced', async () => {
  const lost = await underTraffic(secure, async (traffic) => {
    for (let round = 0; round < 4; round += 1) {
      const certificate = await storeCertificate(authorities[(round + 1) % 2]);
      await waitFor('it is shown', async () => (certificate.replaceAll('\n', '').includes((await shownCertificate()).toString('base64')) ? true : undefined));
      await traffic.goesOn(200);
    }
  });
  expect(lost).toEqual([]);
});

test('all replicas of the controller are killed', async () => {
  const lost = await underTraffic(plain, async (traffic) => {
    await killControllers();
    await traffic.goesOn(400);
    await apply(shop({ backend: 'two', version: 8 }));
    await waitUntilServed(8);
  });
  expect(lost).toEqual([]);
});

test('the leader changes, and data planes are programmed, whichever replica they are connected to', async () => {
  await kubectlOutput(['scale', 'deployment/web-sallyport', '-n', namespace, '--replicas=3']);
  await rolledOut();
  const lost = await underTraffic(plain, async () => {
    const former = await leader();
    await kubectlOutput(['delete', 'pod', former, '-n', systemNamespace, '--wait=false']);
    await waitFor('somebody else leads', async () => ((await leader()) === former ? undefined : true));
    await apply(gatewayWith(80, 81));
    // A message would name those that are late.
    await waitFor('all data planes are programmed', async () => conditionOf(await waitForGateway('web', namespace, ['Programmed', 'True']), 'Programmed')?.message === '' || undefined);
    await kubectlOutput(['rollout', 'status', 'deployment/sallyport-controller', '-n', systemNamespace, '--timeout=120s']);
  });
  expect(lost).toEqual([]);
});

async function rolledOut(): Promise<void> {
  await kubectlOutput(['rollout', 'status', 'deployment/web-sallyport', '-n', namespace, '--timeout=120s']);
}

async function dataPlanePods(): Promise<readonly string[]> {
  return (await kubectlOutput(['get', 'pods', '-n', namespace, '-l', 'gateway.networking.k8s.io/gateway-name=web', '-o', 'name'])).trimEnd().split('\n');
}

test.each([['plain', 3], ['plain', 1], ['secure', 1]] as const)('data planes are rolled, %s connections, %d replicas', async (kind, replicas) => {
  await kubectlOutput(['scale', 'deployment/web-sallyport', '-n', namespace, `--replicas=${replicas}`]);
  await rolledOut();
  const lost = await underTraffic(kind === 'plain' ? plain : secure, async () => {
    const former = await dataPlanePods();
    await kubectlOutput(['rollout', 'restart', 'deployment/web-sallyport', '-n', namespace]);
    await rolledOut();
    await waitFor('the former pods are gone', async () => ((await dataPlanePods()).some((pod) => former.includes(pod)) ? undefined : true), 120);
  });
  expect(lost).toEqual([]);
});
