import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, getObject } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// External backends. The cluster has no route to the Internet, so that the name cannot be resolved: integration tests show the traffic.
const namespace = useNamespace('x-backend');

beforeAll(async () => {
  await installCrds('v1.7.0', 'experimental');
  await installController();
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

interface Backend {
  readonly status?: {
    readonly ancestors?: readonly {
      readonly conditions: readonly { readonly type: string; readonly reason: string }[];
    }[];
  };
}

function backend(name: string, spec: object): object {
  return {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XBackend',
    metadata: { name, namespace },
    spec: { type: 'ExternalHostname', externalHostname: { hostname: 'api.example.invalid' }, ...spec },
  };
}

async function accepted(name: string, reason: string): Promise<void> {
  await waitFor(`Accepted of ${name} with reason ${reason}`, async () => {
    const { status } = await getObject<Backend>(['xbackend', name, '-n', namespace]);
    const found = status?.ancestors?.[0]?.conditions.find(({ type }) => type === 'Accepted');
    return found?.reason === reason ? true : undefined;
  });
}

test('XBackends report whether they are accepted, and get requests only if they are', async () => {
  const rule = (name: string): object => ({
    matches: [{ path: { value: `/${name}` } }],
    backendRefs: [{ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name }],
  });
  const tls = {
    mode: 'ServerOnly',
    validation: { hostname: 'api.example.invalid', wellKnownCACertificates: 'System' },
  };
  await apply(
    gateway('external', namespace, 80),
    backend('usable', { port: { number: 443 }, tls }),
    backend('unsupported', { port: { number: 443 }, tls, protocol: 'MCP' }),
    httpRoute(
      { name: 'external', namespace },
      { parentRefs: [{ name: 'external' }], rules: [rule('usable'), rule('unsupported')] },
    ),
  );
  await accepted('usable', 'Accepted');
  await accepted('unsupported', 'UnsupportedValue');
  const { status } = await waitForGateway('external', namespace, ['Programmed', 'True']);
  const address = status?.addresses?.[0]?.value ?? '';
  const statusOf = async (path: string): Promise<number> => (await fetch(`http://${address}/${path}`)).status;
  await waitFor('an answer of the route', async () => ((await statusOf('usable')) === 503 ? true : undefined));
  expect(await statusOf('usable')).toBe(503);
  expect(await statusOf('unsupported')).toBe(500);
});
