import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installCrds, removeCrds, useNamespace } from './support/cluster.ts';
import { conditionOf, gateway, installController, uninstallController, waitForGateway } from './support/controller.ts';
import { apply, getObject, kubectl, kubectlOutput } from './support/kubectl.ts';
import { waitFor } from './support/wait.ts';

// What the controller makes of Gateways while replicas, quotas and names of others come and go.
const namespace = useNamespace('controller');

beforeAll(async () => {
  await installCrds('v1.7.0', 'standard');
  await installController();
});

afterAll(async () => {
  await uninstallController();
  await removeCrds();
});

test('a Gateway is served at its address, and people are told', async () => {
  await apply(gateway('web', namespace, 80));
  const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
  // kube-proxy learns of the data plane when the controller does; there is no route yet.
  await waitFor('an answer', async () =>
    (await fetch(`http://${status?.addresses?.[0]?.value ?? ''}/`)).status === 404 ? true : undefined,
  );
  const events = await waitFor('events', async () => {
    const text = await kubectlOutput([
      'get',
      'events',
      '-n',
      namespace,
      '--field-selector',
      'involvedObject.kind=Gateway',
      '-o',
      'jsonpath={range .items[*]}{.type} {.reason}{"\\n"}{end}',
    ]);
    return text.includes('Accepted') && text.includes('Programmed') ? text : undefined;
  });
  // The API server lists them by name, and names are made of times.
  expect(events.trimEnd().split('\n').sort()).toEqual(['Normal Accepted', 'Normal Programmed']);
});

interface Owned {
  readonly metadata: { readonly uid: string; readonly labels: Readonly<Record<string, string>> };
  readonly data?: object;
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: object;
    readonly template?: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
}

function owned(kind: string): Promise<Owned> {
  return getObject<Owned>([kind, 'web-sallyport', '-n', namespace]);
}

async function change(kind: string, patch: object): Promise<void> {
  await kubectlOutput(['patch', kind, 'web-sallyport', '-n', namespace, '--type=merge', '-p', JSON.stringify(patch)]);
}

test('what somebody changes in the objects of a Gateway is undone, and what is theirs stays', async () => {
  const before = {
    deployment: await owned('deployment'),
    service: await owned('service'),
    configMap: await owned('configmap'),
  };
  await kubectlOutput(['scale', 'deployment/web-sallyport', '-n', namespace, '--replicas=2']);
  await change('deployment', { metadata: { labels: { team: 'shop' } }, spec: { paused: true } });
  await kubectlOutput(['set', 'image', 'deployment/web-sallyport', 'proxy=localhost/other', '-n', namespace]);
  const image = ({ spec }: Owned) => spec?.template?.spec.containers[0]?.image;
  const after = await waitFor('the image is ours', async () => {
    const deployment = await owned('deployment');
    return image(deployment) === image(before.deployment) ? deployment : undefined;
  });
  expect(after).toMatchObject({ metadata: { labels: { team: 'shop' } }, spec: { replicas: 2, paused: true } });
  await change('deployment', { spec: { paused: false, replicas: 1 } });
  await change('service', { spec: { selector: { 'app.kubernetes.io/managed-by': 'nobody' } } });
  await waitFor('the selector is ours', async () =>
    JSON.stringify((await owned('service')).spec?.selector) === JSON.stringify(before.service.spec?.selector)
      ? true
      : undefined,
  );
  await change('configmap', { data: { 'ca.crt': 'theirs' } });
  await waitFor('the authority is ours', async () =>
    JSON.stringify((await owned('configmap')).data) === JSON.stringify(before.configMap.data) ? true : undefined,
  );
});

test.each(['poddisruptionbudget', 'serviceaccount', 'configmap', 'deployment', 'service'])(
  'a %s that somebody deletes is made anew, and serves',
  async (kind) => {
    const {
      metadata: { uid },
    } = await owned(kind);
    await kubectlOutput(['delete', kind, 'web-sallyport', '-n', namespace, '--wait=false']);
    await waitFor('there is another one', async () => ((await owned(kind)).metadata.uid === uid ? undefined : true));
    await waitFor('an answer', async () => {
      const { status } = await waitForGateway('web', namespace, ['Programmed', 'True']);
      return (await fetch(`http://${status?.addresses?.[0]?.value ?? ''}/`)).status === 404 ? true : undefined;
    });
    const told = `${kind} "${namespace}/web-sallyport" was changed or deleted`;
    const events = await waitFor('an event', async () => {
      const messages = await kubectlOutput([
        'get',
        'events',
        '-n',
        namespace,
        '--field-selector',
        'involvedObject.kind=Gateway,reason=DataPlaneChanged',
        '-o',
        'jsonpath={.items[*].message}',
      ]);
      return messages.toLowerCase().includes(told) ? messages : undefined;
    });
    expect(events).toContain('was changed or deleted. The controller restores it.');
  },
);

test('a Gateway that finds no room says so, until it does', async () => {
  await kubectlOutput(['create', 'quota', 'few', '-n', namespace, '--hard=pods=1']);
  await apply(gateway('late', namespace, 80));
  const refused = await waitForGateway('late', namespace, ['Accepted', 'False']);
  expect(conditionOf(refused, 'Programmed')).toMatchObject({
    status: 'False',
    reason: 'NoResources',
    message: expect.stringContaining('exceeded quota: few'),
  });
  expect(conditionOf(await waitForGateway('web', namespace, ['Accepted', 'True']), 'Programmed')?.status).toBe('True');
  await kubectlOutput(['delete', 'quota', 'few', '-n', namespace]);
  // Kubernetes itself tries again ever more seldom.
  await kubectlOutput(['rollout', 'restart', 'deployment/late-sallyport', '-n', namespace]);
  await waitForGateway('late', namespace, ['Programmed', 'True']);
});

test('status writes leave labels and annotations to their owners', async () => {
  const owner = gateway('owned', namespace, 80);
  const metadata = { name: 'owned', namespace };
  await apply({
    ...owner,
    metadata: { ...metadata, labels: { team: 'shop' }, annotations: { 'example.com/note': 'x' } },
  });
  await waitForGateway('owned', namespace, ['Programmed', 'True']);
  // Server-side apply removes only fields that their manager owns.
  await apply({ ...owner, metadata });
  const after = await getObject<{ readonly metadata: object }>(['gateway', 'owned', '-n', namespace]);
  expect(after.metadata).not.toHaveProperty('annotations');
  expect(after.metadata).not.toHaveProperty('labels');
  await kubectlOutput(['delete', 'gateway', 'owned', '-n', namespace]);
});

test('an object of somebody else is never taken', async () => {
  await kubectlOutput(['create', 'service', 'clusterip', 'taken-sallyport', '-n', namespace, '--tcp=80:80']);
  const before = await getObject<object>(['service', 'taken-sallyport', '-n', namespace]);
  await apply(gateway('taken', namespace, 80));
  const refused = await waitForGateway('taken', namespace, ['Accepted', 'False']);
  expect(conditionOf(refused, 'Accepted')).toMatchObject({
    reason: 'NameConflict',
    message: expect.stringContaining(`Service "${namespace}/taken-sallyport"`),
  });
  await kubectlOutput(['delete', 'gateway', 'taken', '-n', namespace]);
  expect(await getObject<object>(['service', 'taken-sallyport', '-n', namespace])).toEqual(before);
});

test('a class in use stays until the last Gateway has gone, and nothing of them is left', async () => {
  await kubectlOutput(['delete', 'gatewayclass', 'sallyport', '--wait=false']);
  expect((await kubectl(['get', 'gatewayclass', 'sallyport'])).code).toBe(0);
  await kubectlOutput(['delete', 'gateway', '--all', '-n', namespace]);
  await waitFor('the class goes', async () =>
    (await kubectl(['get', 'gatewayclass', 'sallyport'])).code === 0 ? undefined : true,
  );
  await waitFor('everything of the Gateways goes', async () => {
    const left = await kubectlOutput([
      'get',
      'deployment,service,serviceaccount,configmap,poddisruptionbudget',
      '-n',
      namespace,
      '-l',
      'app.kubernetes.io/managed-by=sallyport',
      '-o',
      'name',
    ]);
    return left === '' ? true : undefined;
  });
});
