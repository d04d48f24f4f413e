import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import {
  conditionOf,
  gateway,
  installController,
  leader,
  uninstallController,
  waitForGateway,
} from './support/controller.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { podNames, scale, systemNamespace } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// CRDs that come, change and go under a controller whose Gateway serves, and permissions for some namespaces only. The tests are one
// story and build on each other.
const namespace = useNamespace('surroundings');
const elsewhere = useNamespace('elsewhere');
const gatewayClass = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'sallyport' },
  spec: { controllerName: 'sallyport.dev/gateway-controller' },
};
/** It needs no backend. */
const route = httpRoute(
  { name: 'moved', namespace },
  {
    parentRefs: [{ name: 'web' }],
    rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: 'new.example.com' } }] }],
  },
);
const [served, unrouted] = [302, 404];

let address: string;

beforeAll(async () => {
  await installCrds('v1.6.3', 'standard');
  await installController();
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

function crd(plural: string): string {
  return `crd/${plural}.gateway.networking.k8s.io`;
}

async function exists(...args: readonly string[]): Promise<boolean> {
  return (await kubectl(['get', ...args])).code === 0;
}

async function ask(): Promise<number> {
  return (await fetch(`http://${address}/`, { redirect: 'manual' })).status;
}

async function waitForAnswer(status: number): Promise<void> {
  await waitFor(`the answer ${status}`, async () => ((await ask()) === status ? true : undefined));
}

/** Does something while requests are sent. Gives the answers that were not as they must be. */
async function underRequests(act: () => Promise<void>): Promise<readonly string[]> {
  const wrong: string[] = [];
  const ended = new AbortController();
  const requests = (async () => {
    while (!ended.signal.aborted) {
      const answer = await ask().catch(String);
      if (answer !== served) wrong.push(String(answer));
      await pause(20);
    }
  })();
  try {
    await act();
  } finally {
    ended.abort();
    await requests;
  }
  return wrong;
}

/** Every container of controller and data plane, with how often it was started anew. */
async function restarts(): Promise<string> {
  const lists = [systemNamespace, namespace].map((one) =>
    kubectlOutput([
      'get',
      'pods',
      '-n',
      one,
      '-o',
      'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].restartCount}{"\\n"}{end}',
    ]),
  );
  return (await Promise.all(lists)).join('');
}

async function features(): Promise<readonly string[]> {
  const { status } = await getObject<{
    readonly status?: { readonly supportedFeatures?: readonly { readonly name: string }[] };
  }>(['gatewayclass', 'sallyport']);
  return (status?.supportedFeatures ?? []).map(({ name }) => name);
}

test('a controller lives without CRDs, begins without them, and serves when they come', async () => {
  const former = await restarts();
  await removeCrds();
  expect(await restarts()).toBe(former);
  await kubectlOutput(['rollout', 'restart', 'deployment/sallyport-controller', '-n', systemNamespace]);
  await kubectlOutput([
    'rollout',
    'status',
    'deployment/sallyport-controller',
    '-n',
    systemNamespace,
    '--timeout=120s',
  ]);
  await waitFor('the former replicas are gone', async () =>
    (await restarts()).trimEnd().split('\n').length === 2 ? true : undefined,
  );
  const before = await restarts();
  await installCrds('v1.6.3', 'standard');
  await apply(gatewayClass, gateway('web', namespace, 80), route);
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  address = status?.addresses?.[0]?.value ?? '';
  await waitForAnswer(served);
  expect(await restarts()).toContain(before);
});

test('a newer bundle is in force at once, and no request notices', async () => {
  expect(await features()).not.toContain('HTTPRouteRetryCodes');
  const wrong = await underRequests(async () => {
    await installCrds('v1.7.0', 'standard');
    await waitFor('the class claims more', async () =>
      (await features()).includes('HTTPRouteRetryCodes') ? true : undefined,
    );
  });
  expect(wrong).toEqual([]);
});

test('a replica that leads again records the bundle of each CRD again, whatever another leader recorded', async () => {
  const record = ['configmap', 'sallyport-installed-crds', '-n', systemNamespace];
  const patch = (object: readonly string[], change: object): Promise<string> =>
    kubectlOutput(['patch', ...object, '--type=merge', '-p', JSON.stringify(change)]);
  const isRecorded = (bundle: string): Promise<true> =>
    waitFor(`the record says ${bundle}`, async () => {
      const { data } = await getObject<{ readonly data: Readonly<Record<string, string>> }>(record);
      return Object.values(data).every((one) => one === bundle) || undefined;
    });
  await scale('controller', 1);
  await waitFor('the other replica is gone', async () => (await podNames('controller')).length === 1 || undefined);
  const [pod] = await podNames('controller');
  await waitFor('it leads', async () => (await leader()) === pod || undefined);
  await isRecorded('v1.7.0 standard');
  await patch(record, { data: { 'httproutes.gateway.networking.k8s.io': 'v1.6.3 standard' } });
  // As if another replica led for a while.
  await patch(['lease', 'sallyport-controller', '-n', systemNamespace], {
    spec: { holderIdentity: 'another', leaseDurationSeconds: 1 },
  });
  await isRecorded('v1.7.0 standard');
  expect(await leader()).toBe(pod);
  await scale('controller', 2);
  await kubectlOutput([
    'rollout',
    'status',
    'deployment/sallyport-controller',
    '-n',
    systemNamespace,
    '--timeout=120s',
  ]);
});

test('a kind that goes for a while is served again when it comes back', async () => {
  const before = await restarts();
  await kubectlOutput(['delete', crd('httproutes')]);
  await waitForAnswer(unrouted);
  await installCrds('v1.7.0', 'standard');
  await apply(route);
  await waitForAnswer(served);
  expect(await restarts()).toBe(before);
});

test('GatewayClasses in use keep their CRD, and traffic goes on until the last Gateway has gone', async () => {
  const before = await restarts();
  const wrong = await underRequests(async () => {
    await kubectlOutput(['delete', crd('gatewayclasses'), '--wait=false']);
    await waitFor('the class is to be deleted', async () =>
      (await getObject<{ readonly metadata: { readonly deletionTimestamp?: string } }>(['gatewayclass', 'sallyport']))
        .metadata.deletionTimestamp === undefined
        ? undefined
        : true,
    );
    // Whatever would follow from that has followed once a change of the Gateway was served.
    await apply(gateway('web', namespace, 80, 81));
    await waitForGateway('web', namespace, ['Programmed', 'True']);
  });
  expect(wrong).toEqual([]);
  expect(await restarts()).toBe(before);
  await kubectlOutput(['delete', 'gateway', 'web', '-n', namespace]);
  await waitFor('the CRD goes', async () => ((await exists(crd('gatewayclasses'))) ? undefined : true));
  await waitFor('the data plane goes', async () =>
    (await exists('deployment', 'web-sallyport', '-n', namespace)) ? undefined : true,
  );
});

test('data planes are made where that is permitted, and a Gateway elsewhere says what is forbidden', async () => {
  await installCrds('v1.7.0', 'standard');
  await apply(gatewayClass);
  await kubectlOutput(['delete', 'clusterrolebinding', 'sallyport-data-planes']);
  await kubectlOutput([
    'create',
    'rolebinding',
    'sallyport-data-planes',
    '-n',
    namespace,
    '--clusterrole=sallyport-data-planes',
    `--serviceaccount=${systemNamespace}:sallyport-controller`,
  ]);
  await apply(gateway('web', namespace, 80), gateway('web', elsewhere, 80));
  await waitForGateway('web', namespace, ['Programmed', 'True']);
  const refused = await waitForGateway('web', elsewhere, ['Accepted', 'False']);
  expect(conditionOf(refused, 'Accepted')).toMatchObject({
    reason: 'NoResources',
    message: expect.stringContaining(
      `is forbidden: User "system:serviceaccount:${systemNamespace}:sallyport-controller"`,
    ),
  });
  expect(await exists('service', 'web-sallyport', '-n', elsewhere)).toBe(false);
});
