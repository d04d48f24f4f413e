import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import type { Destination } from './support/client.ts';
import { deployEcho, scaleEcho } from './support/echo.ts';
import { ask } from './support/http1-client.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { waitFor } from './support/wait.ts';

// Filters ExternalAuth of routes and of listeners in a cluster. The authorization server is an echo, which answers a request for /status/N with that status.
const namespace = useNamespace('external-auth');
const host = 'shop.example.com';

let destination: Destination;

beforeAll(async () => {
  await installCrds('v1.7.0', 'experimental');
  await installController();
  await Promise.all([deployEcho('shop', namespace), deployEcho('authorizer', namespace)]);
  await apply(gateway('web', namespace, 80), routeAskedOf('authorizer'));
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  destination = { address: status?.addresses?.[0]?.value ?? '', port: 80, host };
  await waitFor('the route is served', async () => ((await statusOf('/')) === 200 ? true : undefined));
});

afterAll(async () => {
  await kubectl(['delete', 'httproute,gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

function askingOf(name: string): object {
  return { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name, port: 80 } } };
}

function routeAskedOf(name: string): object {
  return httpRoute(
    { name: 'shop', namespace },
    {
      parentRefs: [{ name: 'web' }],
      hostnames: [host],
      rules: [
        { filters: [askingOf(name)], backendRefs: [{ name: 'shop', port: 80 }] },
        // The backend responds with 200 to the new path, so any other status is that of the authorization server.
        {
          matches: [{ path: { value: '/status' } }],
          filters: [
            askingOf(name),
            { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '/served' } } },
          ],
          backendRefs: [{ name: 'shop', port: 80 }],
        },
      ],
    },
  );
}

async function statusOf(path: string): Promise<number> {
  return (await ask({ ...destination, path })).status;
}

async function resolvedRefs(): Promise<string | undefined> {
  const { status } = await getObject<{
    readonly status?: {
      readonly parents?: readonly {
        readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
      }[];
    };
  }>(['httproute', 'shop', '-n', namespace]);
  const condition = status?.parents?.[0]?.conditions.find(({ type }) => type === 'ResolvedRefs');
  return condition && `${condition.status} ${condition.reason}`;
}

test('the backend serves a request that the server permits', async () => {
  const { status, body } = await ask({ ...destination, path: '/cart' });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({ path: '/cart', service: 'shop' });
});

test('the client gets the status of the server, and the backend gets no request', async () => {
  expect(await statusOf('/status/200')).toBe(200);
  for (const status of [401, 403, 429]) expect(await statusOf(`/status/${status}`)).toBe(status);
});

test('the server is not called for a rule whose backend has no endpoints', async () => {
  await kubectlOutput(['scale', 'deployment/shop', '-n', namespace, '--replicas=0']);
  await waitFor('the client gets the error of the rule instead of the status of the server', async () =>
    (await statusOf('/status/403')) === 503 ? true : undefined,
  );
  await scaleEcho('shop', namespace, 1);
  await waitFor('permitted requests succeed', async () => ((await statusOf('/cart')) === 200 ? true : undefined));
  expect(await statusOf('/status/403')).toBe(403);
});

test('requests fail while the server has no pod, and succeed when it is back', async () => {
  await kubectlOutput(['scale', 'deployment/authorizer', '-n', namespace, '--replicas=0']);
  const failed = await waitFor('requests fail', async () => {
    const status = await statusOf('/gone');
    return status === 200 ? undefined : status;
  });
  expect(failed).toBe(503);
  await scaleEcho('authorizer', namespace, 1);
  await waitFor('requests succeed', async () => ((await statusOf('/back')) === 200 ? true : undefined));
});

test('a server that does not exist shows in the status, and requests get a 500', async () => {
  await apply(routeAskedOf('nobody'));
  const condition = await waitFor('the status says so', async () => {
    const current = await resolvedRefs();
    return current?.startsWith('False') ? current : undefined;
  });
  expect(condition).toBe('False BackendNotFound');
  await waitFor('requests get a 500', async () => ((await statusOf('/')) === 500 ? true : undefined));
});

test('a filter of a listener runs before routing, also for requests that match no route', async () => {
  await apply(guardedBy('authorizer'), routeOfGuarded());
  const { status } = await waitForGateway('guarded', namespace, ['Programmed', 'True']);
  const guarded = { address: status?.addresses?.[0]?.value ?? '', port: 80, host };
  const answer = async (path: string): Promise<number> => (await ask({ ...guarded, path })).status;
  await waitFor('the route is served', async () => ((await answer('/shop')) === 200 ? true : undefined));
  expect(await answer('/elsewhere')).toBe(404);
  for (const denied of [401, 403]) expect(await answer(`/status/${denied}`)).toBe(denied);

  await apply(guardedBy('nobody'));
  const refused = await waitFor('the status says so', async () => {
    const { status: current } = await getObject<ListenersWithStatus>(['gateway', 'guarded', '-n', namespace]);
    const condition = current?.listeners?.[0]?.conditions.find(({ type }) => type === 'ResolvedRefs');
    return condition?.status === 'False' ? condition : undefined;
  });
  expect(refused).toMatchObject({ reason: 'InvalidListenerFilterRef' });
  expect(refused.message).toContain('filters.requests[0]');
  // Fails closed.
  await waitFor('requests get a 500', async () => ((await answer('/shop')) === 500 ? true : undefined));

  await apply(guardedBy('authorizer'));
  await waitFor('the route is served again', async () => ((await answer('/shop')) === 200 ? true : undefined));
});

interface ListenersWithStatus {
  readonly status?: {
    readonly listeners?: readonly {
      readonly conditions: readonly {
        readonly type: string;
        readonly status: string;
        readonly reason: string;
        readonly message: string;
      }[];
    }[];
  };
}

function guardedBy(name: string): object {
  const { spec, ...rest } = gateway('guarded', namespace, 80);
  const listeners = spec.listeners.map((listener) => ({ ...listener, filters: { requests: [askingOf(name)] } }));
  return { ...rest, spec: { ...spec, listeners } };
}

function routeOfGuarded(): object {
  return httpRoute(
    { name: 'guarded', namespace },
    {
      parentRefs: [{ name: 'guarded' }],
      rules: [{ matches: [{ path: { value: '/shop' } }], backendRefs: [{ name: 'shop', port: 80 }] }],
    },
  );
}
