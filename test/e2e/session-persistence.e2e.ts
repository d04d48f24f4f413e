import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { deployEcho, scaleEcho } from './support/echo.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { httpRoute } from './support/routes.ts';
import { systemNamespace } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// Sessions outlive the pods of data planes and of the controller, because the keys are in a Secret.
const namespace = useNamespace('session-persistence');

beforeAll(async () => {
  await installCrds('v1.7.0', 'experimental');
  await installController();
  await deployEcho('echo', namespace);
  await scaleEcho('echo', namespace, 3);
});

afterAll(async () => {
  await uninstallController();
  await kubectl(['delete', 'secret', 'sallyport-session-keys', '-n', systemNamespace, '--ignore-not-found']);
  await removeCrds();
});

interface Answer {
  readonly pod: string;
  readonly cookie: string | undefined;
}

async function ask(cookie?: string): Promise<Answer> {
  const { status } = await waitForGateway('sticky', namespace, ['Programmed', 'True']);
  return waitFor('an answer', async () => {
    const response = await fetch(`http://${status?.addresses?.[0]?.value ?? ''}/`, {
      headers: { connection: 'close', ...(cookie === undefined ? {} : { cookie }) },
    });
    const text = await response.text();
    if (response.status !== 200) return undefined;
    return { pod: (JSON.parse(text) as Answer).pod, cookie: response.headers.getSetCookie()[0] };
  });
}

async function podsOf(cookie: string, count: number): Promise<readonly string[]> {
  const pods: string[] = [];
  for (let turn = 0; turn < count; turn += 1) pods.push((await ask(cookie)).pod);
  return [...new Set(pods)];
}

async function restarted(deployment: string, where: string): Promise<void> {
  await kubectlOutput(['rollout', 'restart', `deployment/${deployment}`, '-n', where]);
  await kubectlOutput(['rollout', 'status', `deployment/${deployment}`, '-n', where, '--timeout=180s']);
}

async function route(sessionPersistence: object): Promise<void> {
  const rules = [{ sessionPersistence, backendRefs: [{ name: 'echo', port: 80 }] }];
  await apply(httpRoute({ name: 'sticky', namespace }, { parentRefs: [{ name: 'sticky' }], rules }));
}

test('a client stays at its pod when the data plane scales and rolls and the controller restarts', async () => {
  await apply(gateway('sticky', namespace, 80));
  await route({ absoluteTimeout: '1h', cookie: { name: 'echo', lifetimeType: 'Permanent' } });
  const first = await waitFor('a session', async () => {
    const answer = await ask();
    return answer.cookie === undefined ? undefined : answer;
  });
  expect(first.cookie).toMatch(/^echo=[\w-]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Strict$/);
  const cookie = first.cookie?.split(';')[0] ?? '';
  expect(await podsOf(cookie, 20)).toEqual([first.pod]);

  await kubectlOutput(['scale', 'deployment/sticky-sallyport', '-n', namespace, '--replicas=3']);
  await kubectlOutput(['rollout', 'status', 'deployment/sticky-sallyport', '-n', namespace, '--timeout=120s']);
  expect(await podsOf(cookie, 20)).toEqual([first.pod]);

  await restarted('sticky-sallyport', namespace);
  await restarted('sallyport-controller', systemNamespace);
  expect(await podsOf(cookie, 20)).toEqual([first.pod]);

  await kubectlOutput(['delete', 'pod', first.pod, '-n', namespace, '--wait=true']);
  const moved = await waitFor('another pod', async () => {
    const answer = await ask(cookie);
    return answer.pod === first.pod ? undefined : answer;
  });
  expect(await podsOf(moved.cookie?.split(';')[0] ?? '', 10)).toEqual([moved.pod]);
});

test('a route to a Service with session affinity is rejected, and works again without it', async () => {
  const affinity = (sessionAffinity: string) =>
    kubectlOutput(['patch', 'service', 'echo', '-n', namespace, '-p', JSON.stringify({ spec: { sessionAffinity } })]);
  const accepted = (reason: string) =>
    waitFor(`Accepted with reason ${reason}`, async () => {
      const { status } = await getObject<{
        readonly status?: {
          readonly parents?: readonly {
            readonly conditions: readonly { readonly type: string; readonly reason: string }[];
          }[];
        };
      }>(['httproute', 'sticky', '-n', namespace]);
      const condition = status?.parents?.[0]?.conditions.find(({ type }) => type === 'Accepted');
      return condition?.reason === reason ? true : undefined;
    });
  await affinity('ClientIP');
  await accepted('UnsupportedValue');
  await affinity('None');
  await accepted('Accepted');
  expect((await ask()).cookie).toMatch(/^echo=/);
});
