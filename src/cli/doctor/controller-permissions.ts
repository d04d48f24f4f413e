import { controllerKinds } from '../../cluster/cluster-state.ts';
import { gatewayGroups, tables, type KindName } from '../../core/schema/index.ts';
import type { ApiClient } from '../../kubernetes/index.ts';
import type { Installation, Permission, Permissions } from './facts.ts';
import { ask } from './permissions.ts';

/** The permissions that the controller needs: exactly those in deploy/controller/controller-rbac.yaml. */
export function neededByController(installation: Installation): readonly Permission[] {
  const { namespace, controllerAccount: account, controllerLease, controllerSecret } = installation;
  const everywhere: readonly Omit<Permission, 'account'>[] = [
    ...controllerKinds.map((kind) => ({ verbs: follow, group: tables[kind].group, resource: tables[kind].plural })),
    ...controllerKinds.filter(hasStatus).map((kind) => ({
      verbs: ['update'],
      group: tables[kind].group,
      resource: tables[kind].plural,
      subresource: 'status',
    })),
    { verbs: ['patch'], group: tables.GatewayClass.group, resource: tables.GatewayClass.plural },
    { verbs: ['get', ...follow], group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
    { verbs: follow, group: '', resource: 'pods' },
    { verbs: follow, group: '', resource: 'serviceaccounts' },
    { verbs: follow, group: 'apps', resource: 'deployments' },
    { verbs: follow, group: 'policy', resource: 'poddisruptionbudgets' },
    { verbs: ['create', 'patch'], group: 'events.k8s.io', resource: 'events' },
    { verbs: ['create'], group: 'authentication.k8s.io', resource: 'tokenreviews' },
  ];
  const own: readonly Omit<Permission, 'account' | 'namespace'>[] = [
    { verbs: ['create'], group: '', resource: 'secrets' },
    ...[controllerSecret, 'sallyport-session-keys'].map((name) => ({
      verbs: ['get', ...follow, 'update'],
      group: '',
      resource: 'secrets',
      name,
    })),
    { verbs: ['get', ...follow], group: '', resource: 'secrets', name: 'sallyport-trace' },
    { verbs: ['get', ...follow, 'create', 'patch'], group: '', resource: 'configmaps' },
    { verbs: ['create'], group: 'coordination.k8s.io', resource: 'leases' },
    { verbs: ['get', 'update'], group: 'coordination.k8s.io', resource: 'leases', name: controllerLease },
    { verbs: ['get'], group: '', resource: 'pods' },
  ];
  return [
    ...everywhere.map((permission) => ({ account, ...permission })),
    ...own.map((permission) => ({ account, namespace, ...permission })),
  ];
}

/** The permissions that the controller needs in a namespace with Gateways: exactly those in deploy/controller/data-plane-rbac.yaml. */
export function neededForDataPlanes(
  { controllerAccount: account }: Installation,
  namespace?: string,
): readonly Permission[] {
  const place = { account, ...(namespace !== undefined && { namespace }) };
  const manage = ['get', 'create', 'patch', 'delete'];
  return [
    { ...place, verbs: manage, group: '', resource: 'serviceaccounts' },
    { ...place, verbs: manage, group: '', resource: 'configmaps' },
    { ...place, verbs: manage, group: '', resource: 'services' },
    { ...place, verbs: manage, group: 'apps', resource: 'deployments' },
    { ...place, verbs: manage, group: 'policy', resource: 'poddisruptionbudgets' },
    {
      ...place,
      verbs: ['update'],
      group: tables.Gateway.group,
      resource: tables.Gateway.plural,
      subresource: 'finalizers',
    },
  ];
}

/** The permission that the controller needs to give addresses of its pool: exactly that in deploy/components/address-pool/rbac.yaml. */
export function neededForAddressPool(
  { controllerAccount: account }: Installation,
  namespace?: string,
): readonly Permission[] {
  const place = { account, ...(namespace !== undefined && { namespace }) };
  return [{ ...place, verbs: ['update'], group: '', resource: 'services', subresource: 'status' }];
}

const follow = ['list', 'watch'];

/** Whether the controller writes the status of a kind. ReferenceGrants and HostnamePolicies have none. */
function hasStatus(kind: KindName): boolean {
  return kind !== 'ReferenceGrant' && gatewayGroups.includes(tables[kind].group);
}

/** Maximum number of namespaces with Gateways whose permissions are checked one by one. */
export const maxNamespaces = 20;

/** The duties of a controller. */
export interface Duties {
  /** The namespaces with Gateways of our classes; `undefined` if the Gateways cannot be read. */
  readonly gatewayNamespaces: readonly string[] | undefined;
  /** Whether it gives addresses of a pool to Gateways (`--address-pool`). */
  readonly hasAddressPool: boolean;
}

/**
 * Determines which permissions the ServiceAccount of the controller lacks. Those for data planes are needed only in namespaces with
 * Gateways: RoleBindings may grant them there instead of everywhere.
 *
 * @throws ApiError, ConnectionError if the review fails: it requires the permission to create SubjectAccessReviews
 */
export async function askControllerPermissions(
  client: ApiClient,
  installation: Installation,
  { gatewayNamespaces, hasAddressPool }: Duties,
): Promise<Permissions> {
  const { namespace } = installation;
  const neededIn = (own?: string): readonly Permission[] => [
    ...neededForDataPlanes(installation, own),
    ...(hasAddressPool ? neededForAddressPool(installation, own) : []),
  ];
  const answers = [await ask(client, namespace, neededByController(installation))];
  const everywhere = await ask(client, namespace, neededIn());
  const isLimited = everywhere.denied.length > 0;
  const limitedTo = isLimited ? gatewayNamespaces?.slice(0, maxNamespaces) : [];
  for (const own of limitedTo ?? []) answers.push(await ask(client, namespace, neededIn(own)));
  return {
    checked: [...answers, everywhere].reduce((sum, { checked }) => sum + checked, 0),
    denied: answers.flatMap(({ denied }) => denied),
    ...(isLimited && uncheckedAmong(gatewayNamespaces)),
  };
}

function uncheckedAmong(namespaces: readonly string[] | undefined): Pick<Permissions, 'unchecked'> {
  if (namespaces === undefined) return { unchecked: 'the namespaces of Gateways, because the Gateways cannot be read' };
  const others = namespaces.length - maxNamespaces;
  return others > 0 ? { unchecked: `${others} of ${namespaces.length} namespaces with Gateways` } : {};
}
