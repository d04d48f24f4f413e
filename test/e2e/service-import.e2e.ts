import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho } from './support/echo.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { serviceImportCrd, serviceImportDefinition } from './support/service-import-crd.ts';
import { waitFor } from './support/wait.ts';

// A Service of another cluster: its CustomResourceDefinition comes and goes at run time.
const namespace = useNamespace('service-import');

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
  await deployEcho('echo', namespace);
});

afterAll(async () => {
  await kubectl(['delete', 'customresourcedefinition', serviceImportCrd, '--ignore-not-found']);
  await uninstallController();
  await removeCrds();
});

interface Route {
  readonly status?: {
    readonly parents?: readonly {
      readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
    }[];
  };
}

async function resolved(reason: string): Promise<void> {
  await waitFor(`ResolvedRefs with reason ${reason}`, async () => {
    const { status } = await getObject<Route>(['httproute', 'store', '-n', namespace]);
    const found = status?.parents?.[0]?.conditions.find(({ type }) => type === 'ResolvedRefs');
    return found?.reason === reason ? true : undefined;
  });
}

async function answers(code: number): Promise<void> {
  const { status } = await waitForGateway('store', namespace, ['Programmed', 'True']);
  await waitFor(`status ${code}`, async () =>
    (await fetch(`http://${status?.addresses?.[0]?.value ?? ''}/`)).status === code ? true : undefined,
  );
}

/** The definition with the fields that matter here, in the two versions of mcs-api v0.5.0. */

test('a ServiceImport is a backend while its CustomResourceDefinition is installed', async () => {
  await apply(
    gateway('store', namespace, 80),
    httpRoute(
      { name: 'store', namespace },
      {
        parentRefs: [{ name: 'store' }],
        rules: [
          { backendRefs: [{ group: 'multicluster.x-k8s.io', kind: 'ServiceImport', name: 'echo-global', port: 80 }] },
        ],
      },
    ),
  );
  await resolved('InvalidKind');
  await answers(500);

  await apply(serviceImportDefinition());
  await resolved('BackendNotFound');
  await kubectlOutput([
    'wait',
    '--for=condition=Established',
    `customresourcedefinition/${serviceImportCrd}`,
    '--timeout=60s',
  ]);

  const service = await getObject<{ readonly spec: { readonly clusterIP: string } }>([
    'service',
    'echo',
    '-n',
    namespace,
  ]);
  const imported = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ServiceImport',
    metadata: { name: 'echo-global', namespace },
    spec: { type: 'ClusterSetIP', ips: [service.spec.clusterIP], ports: [{ name: 'http', port: 80 }] },
  };
  await apply(imported);
  await resolved('ResolvedRefs');
  await answers(200);

  // EndpointSlices replace the ClusterSet IP: this one has no endpoints.
  await apply({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'echo-global', namespace, labels: { 'multicluster.kubernetes.io/service-name': 'echo-global' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 3000 }],
    endpoints: [],
  });
  await answers(503);
  const pod = await kubectlOutput([
    'get',
    'pods',
    '-n',
    namespace,
    '-l',
    'app=echo',
    '-o',
    'jsonpath={.items[0].status.podIP}',
  ]);
  await kubectlOutput([
    'patch',
    'endpointslice',
    'echo-global',
    '-n',
    namespace,
    '--type=merge',
    '-p',
    JSON.stringify({ endpoints: [{ addresses: [pod], conditions: { ready: true } }] }),
  ]);
  await answers(200);

  await kubectlOutput(['delete', 'customresourcedefinition', serviceImportCrd, '--timeout=60s']);
  await resolved('InvalidKind');
  await answers(500);
  expect((await kubectl(['get', serviceImportCrd, '-n', namespace])).code).not.toBe(0);
});
