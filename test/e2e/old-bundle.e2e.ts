import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { conditionOf, gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, getObject, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { waitFor } from './support/wait.ts';
import type { GatewayObject } from './support/controller.ts';

// A bundle of 2024, without TCPRoutes, TLSRoutes, UDPRoutes, ListenerSets and the policy that refuses older bundles.
const namespace = useNamespace('old-bundle');

beforeAll(async () => {
  await installCrds('v1.2.1', 'standard');
  await installController();
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

/** Waits until the condition SupportedVersion of the class has this message. Gives its status. */
async function waitForSupportedVersion(message: string): Promise<string> {
  return waitFor(`SupportedVersion has the message "${message}"`, async () => {
    const found = conditionOf(await getObject<GatewayObject>(['gatewayclass', 'sallyport']), 'SupportedVersion');
    return found?.message === message ? found.status : undefined;
  });
}

test('the controller serves HTTPRoutes of bundle v1.2.1, and reports a supported version', async () => {
  await apply(
    gateway('old', namespace, 80),
    httpRoute(
      { name: 'moved', namespace },
      {
        parentRefs: [{ name: 'old' }],
        rules: [{ filters: [{ type: 'RequestRedirect', requestRedirect: { hostname: 'new.example.com' } }] }],
      },
    ),
  );
  expect(await waitForSupportedVersion('')).toBe('True');
  const { status } = await waitForGateway('old', namespace, ['Programmed', 'True']);
  const address = status?.addresses?.[0]?.value ?? '';
  const answer = await waitFor('a redirect', async () => {
    const response = await fetch(`http://${address}/cart`, { redirect: 'manual' });
    return response.status === 302 ? response : undefined;
  });
  expect(answer.headers.get('location')).toBe('http://new.example.com/cart');
});

test('a CRD of the bundle that is not found is named until it is installed again', async () => {
  await kubectlOutput(['delete', 'crd/grpcroutes.gateway.networking.k8s.io']);
  const message =
    'The bundle v1.2.1 standard is incomplete. CRDs not found: grpcroutes. Objects of these kinds cannot be stored. Install the complete bundle.';
  expect(await waitForSupportedVersion(message)).toBe('True');
  await installCrds('v1.2.1', 'standard');
  expect(await waitForSupportedVersion('')).toBe('True');
});

test('the controller logs an older bundle that replaces a newer one', async () => {
  await installCrds('v1.3.0', 'standard');
  await installCrds('v1.2.1', 'standard');
  await waitFor('the log of the controller', async () => {
    const log = await kubectlOutput([
      'logs',
      '-n',
      'sallyport-system',
      '-l',
      'app.kubernetes.io/component=controller',
      '--tail=-1',
    ]);
    return log.includes('an older CRD replaced a newer one') ? true : undefined;
  });
  const { status } = await waitForGateway('old', namespace, ['Programmed', 'True']);
  expect((await fetch(`http://${status?.addresses?.[0]?.value}/cart`, { redirect: 'manual' })).status).toBe(302);
});
