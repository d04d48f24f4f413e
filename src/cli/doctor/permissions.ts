import { admissionKinds } from '../../cluster/cluster-state.ts';
import { tables } from '../../core/schema/index.ts';
import type { ApiClient } from '../../kubernetes/index.ts';
import type { Installation, Permission, Permissions } from './facts.ts';

/** The permissions that webhook and watchdog need: exactly those in deploy/base/webhook-rbac.yaml and watchdog-rbac.yaml. */
export function neededPermissions(installation: Installation): readonly Permission[] {
  return [...neededByWebhook(installation), ...neededByWatchdog(installation)];
}

/** The further permissions for warnings about objects that others refer to: exactly those in deploy/components/impact/rbac.yaml. */
export function neededForImpact({ webhookAccount: account, impactConfiguration }: Installation): readonly Permission[] {
  return [{ account, verbs: ['get', 'list', 'watch', 'patch'], ...configurationOf(impactConfiguration) }];
}

function neededByWebhook({
  namespace,
  webhookAccount: account,
  configuration,
  secret,
  lease,
}: Installation): readonly Permission[] {
  return [
    ...admissionKinds.map((kind) => ({
      account,
      verbs: ['list', 'watch'],
      group: tables[kind].group,
      resource: tables[kind].plural,
    })),
    { account, verbs: ['get', 'list', 'watch'], group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    { account, verbs: ['get', 'list', 'watch', 'patch'], ...configurationOf(configuration) },
    { account, verbs: ['create'], group: tables.GatewayClass.group, resource: tables.GatewayClass.plural },
    { account, verbs: ['create'], group: '', resource: 'secrets', namespace },
    { account, verbs: ['get', 'list', 'watch', 'update'], group: '', resource: 'secrets', namespace, name: secret },
    { account, verbs: ['create'], group: 'coordination.k8s.io', resource: 'leases', namespace },
    { account, verbs: ['get', 'update'], group: 'coordination.k8s.io', resource: 'leases', namespace, name: lease },
    { account, ...events },
  ];
}

function neededByWatchdog({ namespace, watchdogAccount: account, configuration }: Installation): readonly Permission[] {
  return [
    { account, verbs: ['get', 'patch'], ...configurationOf(configuration) },
    { account, verbs: ['list', 'watch'], group: 'discovery.k8s.io', resource: 'endpointslices', namespace },
    { account, ...events },
  ];
}

function configurationOf(name: string): Pick<Permission, 'group' | 'resource' | 'name'> {
  return { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations', name };
}

/** Events about cluster-scoped objects are in this namespace. */
const events = { verbs: ['create', 'patch'], group: 'events.k8s.io', resource: 'events', namespace: 'default' };

/**
 * Determines which permissions the ServiceAccounts of webhook and watchdog lack.
 *
 * @throws ApiError, ConnectionError if the review fails: it requires the permission to create SubjectAccessReviews
 */
export function askPermissions(client: ApiClient, installation: Installation): Promise<Permissions> {
  return ask(client, installation.namespace, [...neededPermissions(installation), ...neededForImpact(installation)]);
}

/**
 * Determines which permissions ServiceAccounts of a namespace lack.
 *
 * @throws as `askPermissions`
 */
export async function ask(
  client: ApiClient,
  accountNamespace: string,
  needed: readonly Permission[],
): Promise<Permissions> {
  const denied = await Promise.all(
    needed.map(async (permission) => ({
      ...permission,
      verbs: await deniedVerbs(client, accountNamespace, permission),
    })),
  );
  return {
    checked: needed.reduce((sum, { verbs }) => sum + verbs.length, 0),
    denied: denied.filter(({ verbs }) => verbs.length > 0),
  };
}

async function deniedVerbs(
  client: ApiClient,
  accountNamespace: string,
  { account, verbs, ...resource }: Permission,
): Promise<readonly string[]> {
  const user = `system:serviceaccount:${accountNamespace}:${account}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${accountNamespace}`, 'system:authenticated'];
  const answers = await Promise.all(
    verbs.map((verb) => isAllowed(client, { user, groups, resourceAttributes: { ...resource, verb } })),
  );
  return verbs.filter((_, position) => answers[position] === false);
}

async function isAllowed(client: ApiClient, spec: object): Promise<boolean> {
  const apiVersion = 'authorization.k8s.io/v1';
  const answer = await client.request({
    method: 'POST',
    path: `/apis/${apiVersion}/subjectaccessreviews`,
    body: { apiVersion, kind: 'SubjectAccessReview', spec },
  });
  const { status } = answer as { readonly status?: { readonly allowed?: unknown } };
  return status?.allowed === true;
}
