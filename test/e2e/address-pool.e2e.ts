import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { auditEvents, clusterState, installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import {
  conditionOf,
  gateway,
  installController,
  uninstallController,
  waitForGateway,
  type GatewayObject,
} from './support/controller.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { systemNamespace } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// Addresses where no cloud gives any. Those of this pool lead to the node of our own test cluster.
const pool = '10.80.200.0-10.80.200.1';
const [first, second] = ['10.80.200.0', '10.80.200.1'];
const namespace = useNamespace('address-pool');

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

interface Service {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly loadBalancerClass?: string };
  readonly status: {
    readonly loadBalancer: { readonly ingress?: readonly { readonly ip: string; readonly ipMode?: string }[] };
  };
}

function service(name: string): Promise<Service> {
  return getObject<Service>(['service', name, '-n', namespace]);
}

/** A Gateway that asks for these addresses; none: any. */
async function ask(name: string, ...values: readonly string[]): Promise<void> {
  const wanted = gateway(name, namespace, 80);
  await apply({
    ...wanted,
    spec: { ...wanted.spec, addresses: values.map((value) => ({ type: 'IPAddress', value })) },
  });
}

function addressesOf({ status }: GatewayObject): readonly string[] {
  return (status?.addresses ?? []).map(({ value }) => value);
}

/** Waits until a Gateway is served there, and nowhere else. */
async function waitForAddress(name: string, address: string): Promise<void> {
  const found = await waitFor(`Gateway ${name} is at ${address}`, async () => {
    const programmed = await waitForGateway(name, namespace, ['Programmed', 'True']);
    return addressesOf(programmed).includes(address) ? programmed : undefined;
  });
  expect(addressesOf(found)).toEqual([address]);
  // The addresses of other clusters lead nowhere from here.
  if (clusterState !== undefined)
    await waitFor(`an answer of ${address}`, async () =>
      (await fetch(`http://${address}/`)).status === 404 ? true : undefined,
    );
}

async function waitForProblem(name: string, text: string): Promise<void> {
  await waitFor(`Gateway ${name} says: ${text}`, async () =>
    conditionOf(await waitForGateway(name, namespace, ['Programmed', 'False']), 'Programmed')?.message.includes(
      text,
    ) === true
      ? true
      : undefined,
  );
}

describe('a pool of addresses', () => {
  test('changes nothing for Services that are there already', async () => {
    await installController();
    await ask('before');
    await waitFor('its Service', async () =>
      (await kubectl(['get', 'service', 'before-sallyport', '-n', namespace])).code === 0 ? true : undefined,
    );
    const before = await service('before-sallyport');
    expect(before.spec.loadBalancerClass).toBeUndefined();
    await installController([pool]);
    // What comes later is served, so the pool is in force.
    await ask('web');
    await waitForAddress('web', first);
    expect(await service('before-sallyport')).toMatchObject({
      metadata: { uid: before.metadata.uid },
      spec: { ...before.spec, ports: expect.anything() },
    });
    expect(conditionOf(await waitForGateway('before', namespace, ['Accepted', 'True']), 'Accepted')).toMatchObject({
      reason: 'Accepted',
    });
    await kubectlOutput(['delete', 'gateway', 'before', '-n', namespace]);
  });

  test('gives addresses to Services of its class only, which a Gateway has', async () => {
    expect(await service('web-sallyport')).toMatchObject({
      spec: { loadBalancerClass: 'sallyport.dev/address-pool' },
      status: { loadBalancer: { ingress: [{ ip: first }] } },
    });
    await apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'theirs', namespace },
      spec: { type: 'LoadBalancer', loadBalancerClass: 'sallyport.dev/address-pool', ports: [{ port: 80 }] },
    });
    await ask('static', second);
    await waitForAddress('static', second);
    expect((await service('theirs')).status.loadBalancer).toEqual({});
  });

  test('writes one address, however often the Gateway and its Service change meanwhile', async () => {
    await kubectlOutput(['delete', 'gateway', 'static', '-n', namespace]);
    for (let count = 0; count < 5; count += 1) {
      await apply(gateway('changed', namespace, 80, 8080 + count));
      await kubectl(['label', 'service', 'changed-sallyport', '-n', namespace, `count=${count}`]);
    }
    await waitForAddress('changed', second);
    const written = ((await auditEvents()) ?? []).filter(
      ({ stage, verb, objectRef, responseStatus }) =>
        stage === 'ResponseComplete' &&
        verb === 'update' &&
        responseStatus?.code === 200 &&
        objectRef?.resource === 'services' &&
        objectRef.subresource === 'status' &&
        objectRef.namespace === namespace &&
        objectRef.name === 'changed-sallyport',
    );
    // Writes that came too late are conflicts: they change nothing.
    expect(written).toHaveLength(clusterState === undefined ? 0 : 1);
    await kubectlOutput(['delete', 'gateway', 'changed', '-n', namespace]);
    await ask('static', second);
    await waitForAddress('static', second);
  });

  test('says what cannot be had, and who has it', async () => {
    await ask('late', '192.0.2.1');
    await waitForProblem('late', '192.0.2.1 is not in the address pool (10.80.200.0/31).');
    expect(conditionOf(await waitForGateway('late', namespace, ['Accepted', 'True']), 'Programmed')).toMatchObject({
      reason: 'AddressNotUsable',
    });
    await ask('late', first);
    await waitForProblem('late', `${first} is already assigned to Gateway "${namespace}/web".`);
  });

  test('that is exhausted says so, also by an Event, and gives what becomes free', async () => {
    await ask('late');
    await waitForProblem('late', 'The address pool (10.80.200.0/31) has no free IPv4 address.');
    expect(conditionOf(await waitForGateway('late', namespace, ['Accepted', 'True']), 'Programmed')).toMatchObject({
      reason: 'AddressNotAssigned',
    });
    await waitFor('an Event', async () =>
      (
        await kubectlOutput([
          'get',
          'events',
          '-n',
          namespace,
          '--field-selector',
          'reason=AddressNotAssigned',
          '-o',
          'jsonpath={.items[*].message}',
        ])
      ).includes('has no free IPv4 address')
        ? true
        : undefined,
    );
    await kubectlOutput(['delete', 'gateway', 'static', '-n', namespace]);
    await waitForAddress('late', second);
  });

  test('takes nothing away when another controller leads, and gives another address to who asks for it', async () => {
    await kubectlOutput(['rollout', 'restart', 'deployment/sallyport-controller', '-n', systemNamespace]);
    await kubectlOutput([
      'rollout',
      'status',
      'deployment/sallyport-controller',
      '-n',
      systemNamespace,
      '--timeout=120s',
    ]);
    await ask('fresh');
    await waitForProblem('fresh', 'has no free IPv4 address');
    await waitForAddress('web', first);
    await waitForAddress('late', second);
    await kubectlOutput(['delete', 'gateway', 'fresh', 'web', '-n', namespace]);
    await ask('late', first);
    await waitForAddress('late', first);
    expect((await service('late-sallyport')).status.loadBalancer.ingress).toEqual([
      expect.objectContaining({ ip: first }),
    ]);
  });

  test('is written by the permission for it, and nothing else is', async () => {
    const events = (await auditEvents()) ?? [];
    const writes = events.filter(
      ({ user, verb, objectRef }) =>
        user.username === `system:serviceaccount:${systemNamespace}:sallyport-controller` &&
        verb !== 'watch' &&
        objectRef?.resource === 'services' &&
        objectRef.subresource === 'status' &&
        objectRef.namespace === namespace,
    );
    expect(writes.filter(({ verb, responseStatus }) => verb !== 'update' || responseStatus?.code === 403)).toEqual([]);
    // Nobody can look into the audit log of a cluster of somebody else.
    if (clusterState !== undefined)
      expect(new Set(writes.map(({ objectRef }) => objectRef?.name))).toEqual(
        new Set(['web-sallyport', 'static-sallyport', 'changed-sallyport', 'late-sallyport']),
      );
  });
});
