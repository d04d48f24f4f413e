import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuthority, issueServingCertificate, validFor, type Authority } from '../../src/certificates/index.ts';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import {
  conditionOf,
  gateway,
  installController,
  killControllers,
  leader,
  uninstallController,
  waitForGateway,
} from './support/controller.ts';
import { authoritiesOf, type Destination } from './support/client.ts';
import { deployEcho, scaleEcho } from './support/echo.ts';
import { conversation, echoCall, LastingCall, services } from './support/grpc-calls.ts';
import { ask, Http1Client, paceOfIdle } from './support/http1-client.ts';
import { Http2Channel } from './support/http2-channel.ts';
import { Http2Client, page } from './support/http2-client.ts';
import { apply, kubectlOutput } from './support/kubectl.ts';
import { grpcRoute, httpRoute } from './support/routes.ts';
import { systemNamespace } from './support/sallyport.ts';
import { Traffic } from './support/traffic.ts';
import { waitFor } from './support/wait.ts';

// Whatever changes while a Gateway serves 340 requests a second, of HTTP/1.1, HTTP/2 and gRPC: a backend answers each of them within five
// seconds. Controller and data planes have the resources with which they are shipped.
const namespace = useNamespace('no-drop');
const host = 'shop.example.com';
const callsHost = 'calls.example.com';
const versionField = 'x-version';

let authorities: readonly Authority[];
let plain: Destination;
let secure: Destination;

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  authorities = await Promise.all([createAuthority(validFor(1), 'first'), createAuthority(validFor(1), 'second')]);
  await Promise.all([
    deployEcho('one', namespace),
    deployEcho('two', namespace),
    deployEcho('calls-one', namespace, 'grpc'),
    deployEcho('calls-two', namespace, 'grpc'),
  ]);
  await storeCertificate(authorities[0]);
  await apply(gatewayWith(80), ...routesAt(0, {}));
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  plain = { address: status?.addresses?.[0]?.value ?? '', port: 80, host };
  secure = { ...plain, port: 443, authorities: authoritiesOf(...authorities.map(({ certificate }) => certificate)) };
  await waitUntilServed(0);
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

function gatewayWith(...ports: readonly number[]): object {
  const tls = { certificateRefs: [{ name: 'shop' }] };
  const { spec, ...rest } = gateway('web', namespace, ...ports);
  return {
    ...rest,
    spec: { ...spec, listeners: [...spec.listeners, { name: 'https', port: 443, protocol: 'HTTPS', tls }] },
  };
}

/** How a change leaves the two routes that serve everything. */
interface Change {
  readonly backend?: 'one' | 'two';
  readonly path?: object;
  readonly filters?: readonly object[];
  readonly methods?: readonly object[];
  readonly callFilters?: readonly object[];
}

/** The routes of pages and of calls. Each answer says which version of them served it. */
function routesAt(
  version: number,
  { backend = 'one', path = { type: 'PathPrefix', value: '/' }, filters = [], methods, callFilters = [] }: Change,
): readonly [object, object] {
  const calls = {
    ...(methods && { matches: methods.map((method) => ({ method })) }),
    filters: [...callFilters, stamp(version)],
    backendRefs: [{ name: `calls-${backend}`, port: 80 }],
  };
  return [
    route('shop', {
      matches: [{ path }],
      filters: [...filters, stamp(version)],
      backendRefs: [{ name: backend, port: 80 }],
    }),
    grpcRoute({ name: 'calls', namespace }, { parentRefs: [{ name: 'web' }], hostnames: [callsHost], rules: [calls] }),
  ];
}

function route(name: string, rule: object): object {
  return httpRoute({ name, namespace }, { parentRefs: [{ name: 'web' }], hostnames: [host], rules: [rule] });
}

function stamp(version: number | string): object {
  return {
    type: 'ResponseHeaderModifier',
    responseHeaderModifier: { set: [{ name: versionField, value: String(version) }] },
  };
}

async function waitUntilServed(version: number | string, path = '/'): Promise<void> {
  await waitFor(`version ${version} serves ${path}`, async () => {
    const { status, headers } = await ask({ ...plain, path });
    return status === 200 && headers[versionField] === String(version) ? true : undefined;
  });
}

async function waitUntilCallsServed(version: number): Promise<void> {
  await waitFor(`version ${version} serves calls`, async () =>
    (await callOnce()).headers[versionField] === String(version) ? true : undefined,
  );
}

async function callOnce() {
  const channel = new Http2Channel(forCalls(plain));
  try {
    return await echoCall(channel);
  } finally {
    channel.close();
  }
}

function forCalls(destination: Destination): Destination {
  return { ...destination, host: callsHost };
}

/** The certificate of the listener, newly issued. Gives it. */
async function storeCertificate(authority: Authority | undefined): Promise<string> {
  if (authority === undefined) throw new Error('no authority');
  const { certificate, privateKey } = await issueServingCertificate(authority, {
    dnsNames: [host, callsHost],
    ipAddresses: [],
  });
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'shop', namespace },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': privateKey },
  });
  return certificate;
}

/** How long connections of HTTP/1.1 are idle between two requests. */
const idleSeconds = [1, 3, 10];

/** Everybody who asks a Gateway: requests on connections as the destination says, those of HTTP/2 always over TLS. */
function everybody(destination: Destination): readonly Traffic[] {
  const calls = forCalls(destination);
  const questions = 20;
  return [
    new Traffic('HTTP/1.1', new Http1Client(destination), { perSecond: 200, maxUnanswered: 1_000 }),
    // A server may close an idle connection at the moment at which the next request goes over it.
    ...idleSeconds.map(
      (seconds) =>
        new Traffic(`HTTP/1.1, idle for ${seconds} s`, new Http1Client(destination), {
          perSecond: paceOfIdle(seconds),
          maxUnanswered: 200,
        }),
    ),
    new Traffic('HTTP/2', new Http2Client(secure, page), { perSecond: 50, maxUnanswered: 250 }),
    new Traffic('calls', new Http2Client(calls, echoCall), { perSecond: 50, maxUnanswered: 250 }),
    new Traffic('conversations', new Http2Client(calls, (channel) => conversation(channel, questions)), {
      perSecond: 2,
      maxUnanswered: 60,
    }),
  ];
}

/** Does something under load, which begins before and goes on after it; `act` can wait until it has gone on for so many seconds. Gives what was lost. */
async function underTraffic(
  destination: Destination,
  act: (goesOn: (seconds: number) => Promise<void>) => Promise<void>,
): Promise<readonly string[]> {
  const traffic = everybody(destination);
  const goesOn = async (seconds: number): Promise<void> =>
    void (await Promise.all(traffic.map((each) => each.goesOn(seconds))));
  const stop = async () => (await Promise.all(traffic.map((each) => each.stop()))).flat();
  const usesAll = async (): Promise<void> => void (await Promise.all(traffic.map((each) => each.usesAll())));
  try {
    await usesAll();
    await goesOn(2);
    await act(goesOn);
    await goesOn(2);
    await usesAll();
  } finally {
    await stop();
  }
  return stop();
}

/** Does something under a call that lasts, and that must go on. */
async function underCall(destination: Destination, act: (call: LastingCall) => Promise<void>): Promise<void> {
  const channel = new Http2Channel(forCalls(destination));
  const call = new LastingCall(channel);
  try {
    await call.goesOn();
    await act(call);
  } finally {
    call.stop();
    channel.close();
  }
}

test('routes are changed: their backends, their matches, their filters', async () => {
  const rewrite = {
    type: 'URLRewrite',
    urlRewrite: { hostname: 'other.example.com', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/moved' } },
  };
  const header = { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [{ name: 'x-shop', value: 'cart' }] } };
  const mirrorTo = (name: string) => ({ type: 'RequestMirror', requestMirror: { backendRef: { name, port: 80 } } });
  const exact = { type: 'Exact', value: '/' };
  const methods = Object.values(services).map((service) => ({ service }));
  const changes: readonly Change[] = [
    { backend: 'two' },
    { filters: [rewrite], methods, callFilters: [header] },
    { path: exact, callFilters: [mirrorTo('calls-two')] },
    { backend: 'two', filters: [header, mirrorTo('two')], methods },
    { filters: [rewrite, header], callFilters: [header, mirrorTo('calls-two')] },
    { backend: 'two', path: exact, filters: [header] },
    {},
  ];
  const lost = await underTraffic(plain, (goesOn) =>
    underCall(plain, async (call) => {
      for (const [index, change] of changes.entries()) {
        await apply(...routesAt(index + 1, change));
        await waitUntilServed(index + 1);
        await waitUntilCallsServed(index + 1);
        await goesOn(0.5);
      }
      await call.goesOn();
    }),
  );
  expect(lost).toEqual([]);
});

test('50 routes come, and go', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `added-${index}`);
  const lost = await underTraffic(plain, async (goesOn) => {
    await apply(
      ...names.map((name) =>
        route(name, {
          matches: [{ path: { type: 'PathPrefix', value: `/${name}` } }],
          filters: [stamp(name)],
          backendRefs: [{ name: 'two', port: 80 }],
        }),
      ),
    );
    for (const name of names) await waitUntilServed(name, `/${name}`);
    await goesOn(1);
    await kubectlOutput(['delete', 'httproute', '-n', namespace, ...names]);
    for (const name of names) await waitUntilServed(7, `/${name}`);
  });
  expect(lost).toEqual([]);
});

/** Scales the backends of pages and of calls, and waits until all pods of both serve. Gives those of calls. */
async function scale(replicas: number): Promise<readonly string[]> {
  const [pods, calledPods] = await Promise.all(
    ['one', 'calls-one'].map((name) => scaleEcho(name, namespace, replicas)),
  );
  const unseen = new Set([...(pods ?? []), ...(calledPods ?? [])]);
  await waitFor('all of their pods serve', async () => {
    const { pod } = JSON.parse((await ask(plain)).body) as { readonly pod: string };
    for (const seen of [pod, await calledPod()]) unseen.delete(seen);
    return unseen.size === 0 ? true : undefined;
  });
  return calledPods ?? [];
}

/** The pod that answers a call. */
async function calledPod(): Promise<string> {
  return /calls-(?:one|two)-[a-z0-9]+-[a-z0-9]+/.exec((await callOnce()).body.toString('latin1'))?.[0] ?? '';
}

test('backends are scaled up and down, and a call that lasts goes on as long as its pod does', async () => {
  const lost = await underTraffic(plain, async (goesOn) => {
    await scale(4);
    await goesOn(1);
    const [only = ''] = await scale(1);
    await underCall(plain, async (call) => {
      await scale(3);
      await kubectlOutput(['delete', 'pod', '-n', namespace, '--wait=false', only]);
      await waitFor('new calls go elsewhere', async () =>
        (await Promise.all(Array.from({ length: 10 }, calledPod))).includes(only) ? undefined : true,
      );
      await call.goesOn();
      await scale(2);
      // The connection to the client serves others: nobody has announced its end.
      expect(await call.end).toEqual({
        cause: expect.stringContaining('stream broken off'),
        afterAnnouncement: undefined,
      });
    });
    await goesOn(1);
  });
  expect(lost).toEqual([]);
});

/** The certificate that a new connection is shown, PEM without line ends. */
function shownCertificate(): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: secure.address,
      port: secure.port,
      servername: host,
      secureContext: secure.authorities,
    });
    socket.once('error', reject).once('secureConnect', () => {
      resolve(socket.getPeerCertificate().raw);
      socket.destroy();
    });
  });
}

test('the certificate of a listener is replaced', async () => {
  const lost = await underTraffic(secure, (goesOn) =>
    underCall(secure, async (call) => {
      for (let round = 0; round < 4; round += 1) {
        const certificate = await storeCertificate(authorities[(round + 1) % 2]);
        await waitFor('it is shown', async () =>
          certificate.replaceAll('\n', '').includes((await shownCertificate()).toString('base64')) ? true : undefined,
        );
        await goesOn(1);
      }
      await call.goesOn();
    }),
  );
  expect(lost).toEqual([]);
});

test('all replicas of the controller are killed', async () => {
  const lost = await underTraffic(plain, (goesOn) =>
    underCall(plain, async (call) => {
      await killControllers();
      await goesOn(2);
      await apply(...routesAt(8, { backend: 'two' }));
      await waitUntilServed(8);
      await waitUntilCallsServed(8);
      await call.goesOn();
    }),
  );
  expect(lost).toEqual([]);
});

test('the leader changes, and data planes are programmed, whichever replica they are connected to', async () => {
  await scaleDataPlanes(3);
  const lost = await underTraffic(plain, async () => {
    const former = await leader();
    await kubectlOutput(['delete', 'pod', former, '-n', systemNamespace, '--wait=false']);
    await waitFor('somebody else leads', async () => ((await leader()) === former ? undefined : true));
    await apply(gatewayWith(80, 81));
    // A message would name those that are late.
    await waitFor(
      'all data planes are programmed',
      async () =>
        conditionOf(await waitForGateway('web', namespace, ['Programmed', 'True']), 'Programmed')?.message === '' ||
        undefined,
    );
    await kubectlOutput([
      'rollout',
      'status',
      'deployment/sallyport-controller',
      '-n',
      systemNamespace,
      '--timeout=120s',
    ]);
  });
  expect(lost).toEqual([]);
});

async function rolledOut(): Promise<void> {
  await kubectlOutput(['rollout', 'status', 'deployment/web-sallyport', '-n', namespace, '--timeout=120s']);
}

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

async function scaleDataPlanes(replicas: number): Promise<void> {
  await kubectlOutput(['scale', 'deployment/web-sallyport', '-n', namespace, `--replicas=${replicas}`]);
  await rolledOut();
}

/** Replaces all pods of data planes by new ones, and waits until the former ones are gone. */
async function rollDataPlanes(): Promise<void> {
  const former = await dataPlanePods();
  await kubectlOutput(['rollout', 'restart', 'deployment/web-sallyport', '-n', namespace]);
  await rolledOut();
  await waitFor('the former pods are gone', async () =>
    (await dataPlanePods()).some((pod) => former.includes(pod)) ? undefined : true,
  );
}

test.each([3, 1])('data planes are rolled, %d replicas', async (replicas) => {
  await scaleDataPlanes(replicas);
  expect(await underTraffic(plain, rollDataPlanes)).toEqual([]);
});

test('data planes are rolled, secure connections, and a call that lasts goes on for a while after it was told', async () => {
  const lost = await underTraffic(secure, () =>
    underCall(secure, async (call) => {
      await rollDataPlanes();
      const { cause, afterAnnouncement } = await call.end;
      expect(cause).toContain('stream broken off');
      expect(afterAnnouncement).toBeGreaterThan(0);
    }),
  );
  expect(lost).toEqual([]);
});
