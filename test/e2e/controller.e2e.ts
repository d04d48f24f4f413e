import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { gateway, installController, leader, uninstallController, waitForGateway, type GatewayObject } from './support/controller.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { systemNamespace } from './support/sallyport.ts';
import { waitFor } from './support/wait.ts';

// What the controller makes of Gateways while replicas, quotas and names of others come and go.
const namespace = useNamespace('controller');

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
});

afterAll(async () => {
  await kubectl(['delete', 'gateway', '--all', '-n', namespace]);
  await uninstallController();
  await removeCrds();
});

function conditionOf(object: GatewayObject, type: string) {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** Steady requests to an address, one after the other, until `stop`; gives what did not get an answer of a proxy. */
function steadyRequests(url: string): { stop(): Promise<readonly string[]> } {
  const failures: string[] = [];
  const stopping = new AbortController();
  const work = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const { status } = await fetch(url);
        // There is no route.
        if (status !== 404) failures.push(`status ${status}`);
      } catch (error) {
        failures.push(String(error));
      }
      await pause(10);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await work;
      return failures;
    },
  };
}

test('a Gateway is served at its address, and people are told', async () => {
  await apply(gateway('web', namespace, 80));
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  // kube-proxy learns of the data plane when the controller does; there is no route yet.
  await waitFor('an answer', async () => ((await fetch(`http://${status?.addresses?.[0]?.value ?? ''}/`)).status === 404 ? true : undefined));
  const events = await waitFor('events', async () => {
    const text = await kubectlOutput(['get', 'events', '-n', namespace, '--field-selector', 'involvedObject.kind=Gateway', '-o', 'jsonpath={range .items[*]}{.type} {.reason}{"\\n"}{end}']);
    return text.includes('Accepted') && text.includes('Programmed') ? text : undefined;
  });
  // The API server lists them by name, and names are made of times.
  expect(events.trimEnd().split('\n').sort()).toEqual(['Normal Accepted', 'Normal Programmed']);
});

test('data planes are programmed, whichever replica they are connected to, and whoever leads', async () => {
  await kubectlOutput(['scale', 'deployment/web-sallyport', '-n', namespace, '--replicas=3']);
  await kubectlOutput(['rollout', 'status', 'deployment/web-sallyport', '-n', namespace, '--timeout=90s']);
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  const load = steadyRequests(`http://${status?.addresses?.[0]?.value ?? ''}/`);
  const former = await leader();
  await kubectlOutput(['delete', 'pod', former, '-n', systemNamespace, '--grace-period=0', '--force']);
  await apply(gateway('web', namespace, 80, 81));
  const programmed = await waitForGateway('web', namespace, ['Programmed', 'True']);
  expect(conditionOf(programmed, 'Programmed')?.message).toBe('');
  expect(await leader()).not.toBe(former);
  expect(await load.stop()).toEqual([]);
  await kubectlOutput(['rollout', 'status', 'deployment/sallyport-controller', '-n', systemNamespace, '--timeout=90s']);
});

test('a Gateway that finds no room says so, until it does', async () => {
  await kubectlOutput(['create', 'quota', 'few', '-n', namespace, '--hard=pods=3']);
  await apply(gateway('late', namespace, 80));
  const refused = await waitForGateway('late', namespace, ['Accepted', 'False']);
  expect(conditionOf(refused, 'Programmed')).toMatchObject({ status: 'False', reason: 'NoResources', message: expect.stringContaining('exceeded quota: few') });
  expect(conditionOf(await waitForGateway('web', namespace, ['Accepted', 'True']), 'Programmed')?.status).toBe('True');
  await kubectlOutput(['delete', 'quota', 'few', '-n', namespace]);
  // Kubernetes itself tries again ever more seldom.
  await kubectlOutput(['rollout', 'restart', 'deployment/late-sallyport', '-n', namespace]);
  await waitForGateway('late', namespace, ['Programmed', 'True']);
});

test('an object of somebody else is never taken', async () => {
  await kubectlOutput(['create', 'service', 'clusterip', 'taken-sallyport', '-n', namespace, '--tcp=80:80']);
  const before = await getObject<object>(['service', 'taken-sallyport', '-n', namespace]);
  await apply(gateway('taken', namespace, 80));
  const refused = await waitForGateway('taken', namespace, ['Accepted', 'False']);
  expect(conditionOf(refused, 'Accepted')).toMatchObject({ reason: 'NameConflict', message: expect.stringContaining(`Service ${namespace}/taken-sallyport`) });
  await kubectlOutput(['delete', 'gateway', 'taken', '-n', namespace]);
  expect(await getObject<object>(['service', 'taken-sallyport', '-n', namespace])).toEqual(before);
});

test('a class in use stays until the last Gateway has gone, and nothing of them is left', async () => {
  await kubectlOutput(['delete', 'gatewayclass', 'sallyport', '--wait=false']);
  expect((await kubectl(['get', 'gatewayclass', 'sallyport'])).code).toBe(0);
  await kubectlOutput(['delete', 'gateway', '--all', '-n', namespace]);
  await waitFor('the class goes', async () => ((await kubectl(['get', 'gatewayclass', 'sallyport'])).code === 0 ? undefined : true));
  await waitFor('everything of the Gateways goes', async () => {
    const left = await kubectlOutput(['get', 'deployment,service,serviceaccount,configmap,poddisruptionbudget', '-n', namespace, '-l', 'app.kubernetes.io/managed-by=sallyport', '-o', 'name']);
    return left === '' ? true : undefined;
  });
});
