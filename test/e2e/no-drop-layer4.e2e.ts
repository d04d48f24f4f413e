import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate, validFor, type Authority } from '../../src/certificates/index.ts';
import { authoritiesOf, type Client, type Destination } from './support/client.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { installController, killControllers, uninstallController, waitForGateway } from './support/controller.ts';
import { askDatagram, DatagramClient } from './support/datagram-client.ts';
import { scaleEcho } from './support/echo.ts';
import { apply, kubectlOutput } from './support/kubectl.ts';
import { deployLineEcho, lineEchoPorts } from './support/line-echo.ts';
import { askStream, StreamClient } from './support/stream-client.ts';
import { Traffic } from './support/traffic.ts';
import { waitFor } from './support/wait.ts';

// Whatever changes while a Gateway serves connections of TCP, TLS (terminated and passed through) and flows of UDP: none is lost that has
// an endpoint and a data plane. Kept connections last as long as the test; fresh ones serve one line.
const namespace = useNamespace('no-drop-layer4');
const terminatedHost = 'terminated.example.com';
const passedHost = 'passed.example.com';

let authorities: readonly Authority[];
let tcp: Destination;
let terminated: Destination;
let passed: Destination;

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  authorities = await Promise.all([createAuthority(validFor(1), 'first'), createAuthority(validFor(1), 'second')]);
  await Promise.all([storeCertificate('listener', authorities[0]), storeCertificate('backend', authorities[0])]);
  await Promise.all([deployLineEcho('one', namespace, 'backend'), deployLineEcho('two', namespace, 'backend')]);
  await apply(gateway(), ...routesTo('one'));
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  tcp = { address: status?.addresses?.[0]?.value ?? '', port: lineEchoPorts.tcp, host: '' };
  terminated = {
    ...tcp,
    port: 443,
    host: terminatedHost,
    authorities: authoritiesOf(...authorities.map(({ certificate }) => certificate)),
  };
  passed = { ...terminated, host: passedHost };
  await waitUntilServed('one');
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

function gateway(): object {
  const tls = { mode: 'Terminate', certificateRefs: [{ name: 'listener' }] };
  const listeners = [
    { name: 'tcp', port: lineEchoPorts.tcp, protocol: 'TCP' },
    { name: 'udp', port: lineEchoPorts.udp, protocol: 'UDP' },
    { name: 'terminated', port: 443, protocol: 'TLS', hostname: terminatedHost, tls },
    { name: 'passed', port: 443, protocol: 'TLS', hostname: passedHost, tls: { mode: 'Passthrough' } },
  ];
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'web', namespace },
    spec: { gatewayClassName: 'sallyport', listeners },
  };
}

/** The four routes, all of them to one Service. */
function routesTo(service: 'one' | 'two'): readonly object[] {
  const { tcp: plain, tls, udp } = lineEchoPorts;
  return [
    route('TCPRoute', 'tcp', { rules: [{ backendRefs: [{ name: service, port: plain }] }] }),
    route('UDPRoute', 'udp', { rules: [{ backendRefs: [{ name: service, port: udp }] }] }),
    route('TLSRoute', 'terminated', {
      hostnames: [terminatedHost],
      rules: [{ backendRefs: [{ name: service, port: plain }] }],
    }),
    route('TLSRoute', 'passed', { hostnames: [passedHost], rules: [{ backendRefs: [{ name: service, port: tls }] }] }),
  ];
}

function route(kind: string, listener: string, spec: object): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name: listener, namespace },
    spec: { parentRefs: [{ name: 'web', sectionName: listener }], ...spec },
  };
}

/** The answers to one line, or datagram, by each way. */
function askAll(): Promise<readonly string[]> {
  return Promise.all([askStream(tcp), askStream(terminated), askStream(passed), askDatagram(tcp)]);
}

async function waitUntilServed(service: string): Promise<void> {
  await waitFor(`${service} serves all routes`, async () =>
    (await askAll()).every((answer) => answer.startsWith(`${service} `)) ? true : undefined,
  );
}

/** A new certificate in a Secret. Gives it. */
async function storeCertificate(name: string, authority: Authority | undefined): Promise<string> {
  if (authority === undefined) throw new Error('no authority');
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: [terminatedHost, passedHost],
    ipAddresses: [],
  });
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': privateKey },
  });
  return certificate;
}

/** The same client, which keeps no connection. */
function withoutKept(client: Client): Client {
  return {
    cycle: 4,
    fresh: (index) => client.fresh(index),
    kept: (index) => client.fresh(index),
    close: () => client.close(),
  };
}

/** The clients of connections, and those of flows, as a test wants them. */
interface Wishes {
  readonly streams?: (client: Client) => Client;
  readonly flows?: (client: Client) => Client;
}

function unchanged(client: Client): Client {
  return client;
}

/** Does something under load, which begins before and goes on after it. Gives the losses. */
async function underTraffic(
  { streams = unchanged, flows = unchanged }: Wishes,
  act: (goesOn: (seconds: number) => Promise<void>) => Promise<void>,
): Promise<readonly string[]> {
  const pace = { perSecond: 30, maxUnanswered: 150 };
  const traffic = [
    new Traffic('TCP', streams(new StreamClient(tcp)), pace),
    new Traffic('TLS, terminated', streams(new StreamClient(terminated)), pace),
    new Traffic('TLS, passed through', streams(new StreamClient(passed)), pace),
    new Traffic('UDP', flows(new DatagramClient(tcp)), pace),
  ];
  const goesOn = async (seconds: number): Promise<void> =>
    void (await Promise.all(traffic.map((each) => each.goesOn(seconds))));
  const usesAll = async (): Promise<void> => void (await Promise.all(traffic.map((each) => each.usesAll())));
  try {
    await usesAll();
    await act(goesOn);
    await goesOn(1);
    await usesAll();
  } finally {
    await Promise.all(traffic.map((each) => each.stop()));
  }
  return (await Promise.all(traffic.map((each) => each.stop()))).flat();
}

test('routes are changed: new connections and flows go to the other Service, and those that stand go on', async () => {
  const lost = await underTraffic({}, async (goesOn) => {
    for (const service of ['two', 'one', 'two', 'one'] as const) {
      await apply(...routesTo(service));
      await waitUntilServed(service);
      await goesOn(0.5);
    }
  });
  expect(lost).toEqual([]);
});

test('endpoints are added: connections and flows that stand go on', async () => {
  const lost = await underTraffic({}, async (goesOn) => {
    const unseen = new Set(await scaleEcho('one', namespace, 3));
    await waitFor('all pods serve', async () => {
      for (const answer of await askAll()) unseen.delete(answer.split(' ')[1] ?? '');
      return unseen.size === 0 ? true : undefined;
    });
    await goesOn(1);
  });
  expect(lost).toEqual([]);
});

test('endpoints are removed: flows that stand get other ones, and new connections do', async () => {
  const lost = await underTraffic({ streams: withoutKept }, async (goesOn) => {
    await scaleEcho('one', namespace, 1);
    await goesOn(1);
    await scaleEcho('one', namespace, 2);
  });
  expect(lost).toEqual([]);
});

/** The certificate that a new connection is shown. */
function shownCertificate(): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: terminated.address,
      port: terminated.port,
      servername: terminated.host,
      secureContext: terminated.authorities,
    });
    socket.once('error', reject).once('secureConnect', () => {
      resolve(socket.getPeerCertificate().raw);
      socket.destroy();
    });
  });
}

test('the certificate of a listener is replaced', async () => {
  const lost = await underTraffic({}, async (goesOn) => {
    for (const authority of authorities.toReversed()) {
      const certificate = await storeCertificate('listener', authority);
      await waitFor('it is shown', async () =>
        certificate.replaceAll('\n', '').includes((await shownCertificate()).toString('base64')) ? true : undefined,
      );
      await goesOn(0.5);
    }
  });
  expect(lost).toEqual([]);
});

test('all replicas of the controller are killed', async () => {
  const lost = await underTraffic({}, async (goesOn) => {
    await killControllers();
    await goesOn(1);
    await apply(...routesTo('two'));
    await waitUntilServed('two');
  });
  expect(lost).toEqual([]);
});

async function dataPlanePods(): Promise<readonly string[]> {
  return (
    await kubectlOutput([
      'get',
      'pods',
      '-n',
      namespace,
      '-l',
      'gateway.networking.k8s.io/gateway-name=web',
      '-o',
      'name',
    ])
  )
    .trimEnd()
    .split('\n');
}

test('data planes are rolled: new connections and flows are served, and flows of the pods that end get an answer again', async () => {
  const lasting = new DatagramClient(tcp);
  const lost = await underTraffic({ streams: withoutKept, flows: withoutKept }, async () => {
    const former = await dataPlanePods();
    await lasting.kept(0);
    await kubectlOutput(['rollout', 'restart', 'deployment/web-sallyport', '-n', namespace]);
    await kubectlOutput(['rollout', 'status', 'deployment/web-sallyport', '-n', namespace, '--timeout=120s']);
    await waitFor('the former pods are gone', async () =>
      (await dataPlanePods()).some((pod) => former.includes(pod)) ? undefined : true,
    );
    await waitFor('the flow is served again', async () => {
      await lasting.kept(0);
      return true;
    });
  });
  lasting.close();
  expect(lost).toEqual([]);
});
