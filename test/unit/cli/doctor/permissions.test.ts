import { expect, test } from '@jest/globals';
import { askControllerPermissions, maxNamespaces } from '../../../../src/cli/doctor/controller-permissions.ts';
import { askPermissions, neededForImpact, neededPermissions } from '../../../../src/cli/doctor/permissions.ts';
import type { ApiClient } from '../../../../src/kubernetes/index.ts';
import { healthy } from '../../../support/doctor.ts';

interface Asked {
  readonly path: string;
  readonly body: {
    readonly spec: {
      readonly user: string;
      readonly groups: readonly string[];
      readonly resourceAttributes: {
        readonly verb: string;
        readonly resource: string;
        readonly subresource?: string;
        readonly namespace?: string;
      };
    };
  };
}

function clientThat(answer: (checked: Asked) => unknown): ApiClient {
  return { request: (checked: Asked) => Promise.resolve(checked).then(answer) } as unknown as ApiClient;
}

test('asks what the ServiceAccounts may do, and names the verbs that they lack', async () => {
  const checked: Asked[] = [];
  const client = clientThat((request) => {
    checked.push(request);
    const {
      user,
      resourceAttributes: { verb, resource },
    } = request.body.spec;
    return { status: { allowed: resource !== 'secrets' && !(user.endsWith('watchdog') && verb === 'patch') } };
  });
  const { denied, checked: count } = await askPermissions(client, healthy.installation);
  expect(denied.map(({ account, verbs, resource, name }) => [account, resource, name, verbs])).toEqual([
    ['sallyport-webhook', 'secrets', undefined, ['create']],
    ['sallyport-webhook', 'secrets', 'sallyport-authority', ['get', 'list', 'watch', 'update']],
    ['sallyport-watchdog', 'validatingwebhookconfigurations', 'sallyport-webhook', ['patch']],
    ['sallyport-watchdog', 'events', undefined, ['patch']],
  ]);
  expect(checked).toHaveLength(count);
  const needed = [...neededPermissions(healthy.installation), ...neededForImpact(healthy.installation)];
  expect(count).toBe(needed.flatMap(({ verbs }) => verbs).length);
  expect(new Set(checked.map(({ path }) => path))).toEqual(
    new Set(['/apis/authorization.k8s.io/v1/subjectaccessreviews']),
  );
  expect(checked[0]?.body.spec).toEqual({
    user: 'system:serviceaccount:sallyport-system:sallyport-webhook',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:sallyport-system', 'system:authenticated'],
    resourceAttributes: { verb: 'list', group: 'gateway.networking.k8s.io', resource: 'gatewayclasses' },
  });
});

test('asks what the controller may do with data planes where Gateways are, unless it may do it everywhere', async () => {
  const checked: string[] = [];
  const limitedTo = (...namespaces: readonly string[]): ApiClient =>
    clientThat(({ body: { spec } }) => {
      const { verb, resource, subresource = '', namespace = '*' } = spec.resourceAttributes;
      checked.push(`${spec.user.split(':').at(-1)} ${verb} ${resource}/${subresource} ${namespace}`);
      const isOfDataPlane = resource === 'deployments' && verb === 'create';
      return { status: { allowed: !isOfDataPlane || namespaces.includes(namespace) } };
    });
  const ask = (client: ApiClient) =>
    askControllerPermissions(client, healthy.installation, {
      gatewayNamespaces: ['infra', 'shop'],
      hasAddressPool: false,
    });
  expect((await ask(limitedTo('*'))).denied).toEqual([]);
  expect(checked).toContain('sallyport-controller update gateways/status *');
  expect(checked).toContain('sallyport-controller get pods/ sallyport-system');
  expect(checked.filter((one) => one.endsWith(' shop'))).toEqual([]);
  expect((await ask(limitedTo('infra', 'shop'))).denied).toEqual([]);
  expect((await ask(limitedTo('infra'))).denied).toMatchObject([
    { verbs: ['create'], resource: 'deployments', namespace: 'shop' },
  ]);
});

test('asks whether the controller may follow HostnamePolicies and ClusterTrustBundles', async () => {
  const others: readonly string[] = ['hostnamepolicies', 'clustertrustbundles'];
  const client = clientThat(({ body: { spec } }) => ({
    status: { allowed: !others.includes(spec.resourceAttributes.resource) },
  }));
  const { denied } = await askControllerPermissions(client, healthy.installation, {
    gatewayNamespaces: [],
    hasAddressPool: false,
  });
  expect(denied.map(({ resource, verbs }) => [resource, verbs])).toEqual(others.map((one) => [one, ['list', 'watch']]));
});

test('says in which namespaces the permissions of the controller are not checked', async () => {
  const limited = clientThat(({ body: { spec } }) => {
    const { verb, resource, namespace = '*' } = spec.resourceAttributes;
    return { status: { allowed: resource !== 'deployments' || verb !== 'create' || namespace !== '*' } };
  });
  const ask = (namespaces?: readonly string[]) =>
    askControllerPermissions(limited, healthy.installation, { gatewayNamespaces: namespaces, hasAddressPool: false });
  const many = Array.from({ length: maxNamespaces + 2 }, (_, index) => `team-${index}`);
  expect(await ask(many)).toMatchObject({ denied: [], unchecked: '2 of 22 namespaces with Gateways' });
  expect(await ask()).toMatchObject({ denied: [], unchecked: expect.stringContaining('the Gateways cannot be read') });
  expect(await ask(['shop'])).not.toHaveProperty('unchecked');
});

test('asks for addresses of a pool only if the controller has one', async () => {
  const client = clientThat(({ body: { spec } }) => ({
    status: {
      allowed: spec.resourceAttributes.subresource !== 'status' || spec.resourceAttributes.resource !== 'services',
    },
  }));
  const ask = (hasAddressPool: boolean) =>
    askControllerPermissions(client, healthy.installation, { gatewayNamespaces: ['shop'], hasAddressPool });
  expect((await ask(true)).denied).toMatchObject([
    { verbs: ['update'], resource: 'services', subresource: 'status', namespace: 'shop' },
  ]);
  expect((await ask(false)).denied).toEqual([]);
});

test('does not take a refusal to answer for an answer', async () => {
  const client = clientThat(() => {
    throw new Error('jane may not create subjectaccessreviews');
  });
  await expect(askPermissions(client, healthy.installation)).rejects.toThrow('jane may not');
});
