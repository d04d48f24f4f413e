import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho } from './support/echo.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { systemNamespace } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// XBackendTrafficPolicies: the controller follows them, writes their status, and their sessions apply to traffic. XTelemetryPolicies
// have no effect, and their status says so.
const namespace = useNamespace('traffic-policy');

beforeAll(async () => {
  await installCrds('v1.7.0', 'experimental');
  await installController();
  await deployEcho('echo', namespace);
  await apply(
    gateway('policy', namespace, 80),
    httpRoute(
      { name: 'policy', namespace },
      { parentRefs: [{ name: 'policy' }], rules: [{ backendRefs: [{ name: 'echo', port: 80 }] }] },
    ),
  );
});

afterAll(async () => {
  await uninstallController();
  await kubectl(['delete', 'secret', 'sallyport-session-keys', '-n', systemNamespace, '--ignore-not-found']);
  await removeCrds();
});

function policy(name: string, spec: object): object {
  return {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XBackendTrafficPolicy',
    metadata: { name, namespace },
    spec: { targetRefs: [{ group: '', kind: 'Service', name: 'echo' }], ...spec },
  };
}

interface PolicyWithStatus {
  readonly status?: {
    readonly ancestors?: readonly {
      readonly ancestorRef: { readonly name: string };
      readonly conditions: readonly { readonly type: string; readonly reason: string }[];
    }[];
  };
}

/** Waits until the entry for the Gateway has the condition Accepted with this reason. */
async function accepted(name: string, reason: string, resource = 'xbackendtrafficpolicy'): Promise<void> {
  await waitFor(`${name}: Accepted with reason ${reason}`, async () => {
    const { status } = await getObject<PolicyWithStatus>([resource, name, '-n', namespace]);
    const entry = status?.ancestors?.find(({ ancestorRef }) => ancestorRef.name === 'policy');
    return entry?.conditions.find(({ type }) => type === 'Accepted')?.reason === reason ? true : undefined;
  });
}

/** The cookie of a first response; `''` if there is none. */
async function cookie(): Promise<string> {
  const { status } = await waitForGateway('policy', namespace, ['Programmed', 'True']);
  return waitFor('a response', async () => {
    const response = await fetch(`http://${status?.addresses?.[0]?.value ?? ''}/`, {
      headers: { connection: 'close' },
    });
    await response.arrayBuffer();
    return response.status === 200 ? (response.headers.getSetCookie()[0] ?? '') : undefined;
  });
}

test('the oldest policy of a Service is accepted, others conflict, and its sessions apply to traffic', async () => {
  await apply(policy('first', { retryConstraint: {}, sessionPersistence: { cookie: { name: 'of-policy' } } }));
  await accepted('first', 'Accepted');
  await waitFor('a session', async () => ((await cookie()).startsWith('of-policy=') ? true : undefined));
  await apply(policy('second', { sessionPersistence: { cookie: { name: 'other' } } }));
  // Timestamps have seconds: of policies of the same second, the first by name takes precedence.
  await accepted('second', 'Conflicted');
  expect(await cookie()).toMatch(/^of-policy=[\w-]+; Path=\/; HttpOnly; SameSite=Strict$/);
  await kubectl(['delete', 'xbackendtrafficpolicy', 'first', '-n', namespace]);
  await accepted('second', 'Accepted');
  await waitFor('a session of the other policy', async () =>
    (await cookie()).startsWith('other=') ? true : undefined,
  );
});

test('a budget limits the retries of a rule', async () => {
  await kubectl(['delete', 'xbackendtrafficpolicy', '--all', '-n', namespace]);
  await apply(
    policy('budget', {
      retryConstraint: { budget: { percent: 0, interval: '10s' }, minRetryRate: { count: 1, interval: '1h' } },
    }),
    httpRoute(
      { name: 'policy', namespace },
      {
        parentRefs: [{ name: 'policy' }],
        rules: [{ retry: { codes: [503], attempts: 1 }, backendRefs: [{ name: 'echo', port: 80 }] }],
      },
    ),
  );
  await accepted('budget', 'Accepted');
  const { status } = await waitForGateway('policy', namespace, ['Programmed', 'True']);
  const address = status?.addresses?.[0]?.value ?? '';
  // The backend itself answers without the field, also after a retry.
  const refused = await waitFor('a retry is refused', async () => {
    const response = await fetch(`http://${address}/status/503`, { headers: { connection: 'close' } });
    const text = await response.text();
    return response.headers.get('retry-after') === null ? undefined : { status: response.status, text };
  });
  expect(refused.status).toBe(503);
  expect(refused.text).toContain('retr');
  expect((await fetch(`http://${address}/`, { headers: { connection: 'close' } })).status).toBe(200);
});

test('an XTelemetryPolicy is not accepted, and the entries of other controllers stay', async () => {
  const telemetry = {
    apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    kind: 'XTelemetryPolicy',
    metadata: { name: 'traces', namespace },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'policy' }],
      tracing: { mode: 'Disabled' },
    },
  };
  await apply(telemetry);
  await accepted('traces', 'Invalid', 'xtelemetrypolicy');

  const foreign = {
    ancestorRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace, name: 'other' },
    controllerName: 'example.com/controller',
    conditions: [
      {
        type: 'Accepted',
        status: 'True',
        reason: 'Accepted',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  };
  await kubectlOutput([
    ...patchOf('traces', '--subresource=status', '--type=json'),
    JSON.stringify([{ op: 'add', path: '/status/ancestors/-', value: foreign }]),
  ]);
  // The policy targets another Gateway now: our entry goes, and the other one stays.
  const elsewhere = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'elsewhere' }];
  await kubectlOutput([...patchOf('traces', '--type=merge'), JSON.stringify({ spec: { targetRefs: elsewhere } })]);
  const controllers = await waitFor('our entry is removed', async () => {
    const { status } = await getObject<{
      readonly status?: { readonly ancestors?: readonly { readonly controllerName: string }[] };
    }>(['xtelemetrypolicy', 'traces', '-n', namespace]);
    const names = (status?.ancestors ?? []).map(({ controllerName }) => controllerName);
    return names.includes('sallyport.dev/gateway-controller') ? undefined : names;
  });
  expect(controllers).toEqual(['example.com/controller']);
});

/** Arguments of kubectl up to the patch. */
function patchOf(name: string, ...flags: readonly string[]): readonly string[] {
  return ['patch', 'xtelemetrypolicy', name, '-n', namespace, ...flags, '-p'];
}
