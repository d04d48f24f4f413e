import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { auditEvents, clusterState, installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, getObject } from './support/kubectl.ts';
import { waitFor } from './support/wait.ts';

// Routability of addresses: a Gateway for the cluster has no load balancer at any time.
const namespace = useNamespace('routability');

beforeAll(async () => {
  await installCrds('v1.7.0', 'experimental');
  await installController();
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

interface Services {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly type: string; readonly clusterIP: string };
  }[];
}

async function services(): Promise<Services['items']> {
  return (await getObject<Services>(['services', '-n', namespace])).items;
}

function asking(name: string, ...addresses: readonly object[]): object {
  const { spec, ...rest } = gateway(name, namespace, 80);
  return { ...rest, spec: { ...spec, addresses } };
}

async function serviceTypes(...types: readonly string[]): Promise<void> {
  await waitFor(`Services of the types ${types.join(', ')}`, async () => {
    const found = (await services()).map(({ spec }) => spec.type).toSorted();
    return JSON.stringify(found) === JSON.stringify(types) ? true : undefined;
  });
}

const cluster = { type: 'IPAddress', routability: 'Cluster' };
const open = { type: 'IPAddress' };

test('routability Cluster gives a ClusterIP, mixed requests give both, and there and back', async () => {
  await apply(asking('web', cluster));
  const first = await waitForGateway('web', namespace, ['AddressesAssigned', 'True']);
  const [service] = await services();
  expect(first.status?.addresses).toEqual([{ ...cluster, value: service?.spec.clusterIP }]);
  expect(service).toMatchObject({ metadata: { name: 'web-sallyport-cluster' }, spec: { type: 'ClusterIP' } });
  // The audit log knows every Service that there ever was.
  const created = ((await auditEvents()) ?? []).filter(
    ({ verb, objectRef, requestURI }) =>
      verb !== 'get' && verb !== 'delete' && objectRef?.resource === 'services' && requestURI.includes(namespace),
  );
  if (clusterState !== undefined)
    expect(created.filter(({ objectRef }) => objectRef?.name === 'web-sallyport')).toEqual([]);

  await apply(asking('web', open, cluster));
  await serviceTypes('ClusterIP', 'LoadBalancer');
  const both = await waitForGateway('web', namespace, ['AddressesAssigned', 'True']);
  expect(both.status?.addresses).toMatchObject([{ routability: '' }, { ...cluster, value: service?.spec.clusterIP }]);

  await apply(asking('web', open));
  await serviceTypes('LoadBalancer');
  await apply(asking('web', cluster));
  await serviceTypes('ClusterIP');
  await waitForGateway('web', namespace, ['Programmed', 'True']);
});

test('the sentinel is reported, and addresses that nobody can give are not replaced', async () => {
  const sentinel = { type: 'IPAddress', routability: 'testing.x-k8s.io/sentinel' };
  await apply(asking('sentinel', sentinel));
  const { status } = await waitForGateway('sentinel', namespace, ['AddressesAssigned', 'True']);
  expect(status?.addresses).toMatchObject([sentinel]);

  await apply(asking('outside', { ...cluster, value: '203.0.113.1' }));
  const outside = await waitForGateway('outside', namespace, ['AddressesAssigned', 'False']);
  expect(outside.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'AddressesAssigned', reason: 'NotAssigned' }),
  );
  expect(outside.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Programmed', status: 'False', reason: 'AddressNotAssigned' }),
  );

  await apply(asking('partly', open, { ...cluster, value: '203.0.113.1' }));
  const partly = await waitFor('the other address', async () => {
    const found = await waitForGateway('partly', namespace, ['AddressesAssigned', 'False']);
    return (found.status?.addresses ?? []).length > 0 ? found : undefined;
  });
  expect(partly.status?.addresses).toHaveLength(1);
  expect(partly.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'AddressesAssigned', reason: 'PartiallyAssigned' }),
  );
});
