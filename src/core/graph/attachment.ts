import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { fitted } from '../text/fitted.ts';
import { hostnameKey, intersectHostnames } from '../text/hostname.ts';
import { isReadable, type Resource } from '../resources/resource.ts';
import { gatewayGroup } from '../schema/index.ts';
import { parentNode, type ParentNode } from '../semantics/parent-reference.ts';
import { addressedListeners, type AddressedListener } from './listeners/addressed-listeners.ts';
import { readObject } from './inputs.ts';
import { hasHostnamePolicies, hostnamePermission, type HostnameRefusal } from './matches/hostname-policies.ts';
import { isOwnerKind, ownerStanding, servingGateway, type ListenerOwner } from './listeners/listener-sets.ts';
import { listenerNames } from './listeners/listeners.ts';
import { allowsNamespace, mayAllowNamespace } from './namespaces.ts';
import { routePermission } from './matches/path-owners.ts';
import { isLayer4, servesHostnames, type ServedRouteKind } from './protocols.ts';
import { hostnamesOf } from './route-views.ts';
import { strata } from './strata.ts';
import { qualifiedName } from '../resources/reference.ts';

/** The outcome of one parentRef. */
export interface Attachment {
  /** Position in spec.parentRefs. */
  readonly index: number;
  readonly parent: ParentNode;
  readonly outcome: AttachmentOutcome;
}

export type AttachmentOutcome =
  /** A parent of another kind, or a Gateway of a class of another controller. */
  | { readonly type: 'foreign' }
  | { readonly type: 'absent' }
  /** Part of the parentRef or of the hostnames is unreadable. Ignoring it could attach the route to more than its owner intended. */
  | { readonly type: 'unreadable' }
  /** The parent is ours, but no listener has this name and port. `listeners` is empty if the parent has no served listener. */
  | { readonly type: 'noListener'; readonly listeners: readonly string[] }
  | { readonly type: 'notAllowed'; readonly listeners: readonly string[]; readonly by: 'kind' | 'namespace' }
  /** It is unknown here whether the listeners allow the route. */
  | { readonly type: 'unobserved' }
  /** The route attaches to so many listeners through earlier parentRefs that there is no room for the `count` ones of this parentRef. */
  | { readonly type: 'tooManyListeners'; readonly count: number; readonly attached: number }
  | { readonly type: 'noHostname'; readonly listeners: readonly { readonly name: string; readonly hostname: string }[] }
  /** HostnamePolicies permit none of the hostnames. */
  | { readonly type: 'notPermitted'; readonly refused: readonly RefusedHostname[] }
  | {
      readonly type: 'attached';
      readonly listeners: readonly AttachedListener[];
      /** Hostnames that HostnamePolicies do not permit; absent if there are none. */
      readonly refused?: readonly RefusedHostname[];
      /** Where HostnamePolicies define owners of paths; absent if they define none. */
      readonly byPath?: HostnamesByPath;
    };

/** Hostnames of which some paths have owners. */
export interface HostnamesByPath {
  /** Our Gateway, `namespace/name`. */
  readonly gateway: string;
  /** The hostnames that the route serves: its own, intersected with those of the listeners; `''`: every hostname. */
  readonly hostnames: readonly string[];
}

/** A hostname that the namespace of the route may not serve. */
export interface RefusedHostname extends Omit<HostnameRefusal, 'type'> {
  /** Our Gateway, `namespace/name`. */
  readonly gateway: string;
  /** The hostname of the route, `''` if it has none. */
  readonly own: string;
  /** The hostname that the route would serve: its intersection with the listener's. */
  readonly served: string;
}

export interface AttachedListener {
  readonly name: string;
  /** The route's own hostnames that intersect the hostname of the listener; `['']` for a route without hostnames. */
  readonly hostnames: readonly string[];
}

/**
 * The maximum number of listeners that one route attaches to, counted once for each parentRef: those of two Gateways of the maximum
 * size. Each takes about 2 KiB in the controller and in the webhook, and without a limit it would be 2,048.
 */
export const maxListenersOfRoute = 128;

/**
 * Every parentRef of a route with its outcome, in the order of the specification. A parentRef attaches to all of its listeners, or to
 * none of them if they exceed the maximum. Then it takes no room from the ones after it.
 */
export const attachments = defineQuery({
  name: 'attachments',
  stratum: strata.links,
  compute(read, kind: string, namespace: string, name: string): readonly Attachment[] {
    const route = readObject(read, kind as ServedRouteKind, namespace, name);
    if (route === undefined) return [];
    let attached = 0;
    return (route.spec?.parentRefs ?? []).map((ref, index) => {
      const parent = parentNode(ref, namespace);
      const outcome = attach(read, route, { ...parent, index, attached });
      if (outcome.type === 'attached') attached += outcome.listeners.length;
      return { index, parent, outcome };
    });
  },
});

/** Returns the Gateways and ListenerSets that a route is attached to, in the order of its parentRefs. */
export function attachedOwners(read: Reader, kind: string, namespace: string, name: string): readonly ListenerOwner[] {
  return read
    .query(attachments, kind, namespace, name)
    .flatMap(({ parent, outcome }) =>
      outcome.type === 'attached' && isOwnerKind(parent.kind)
        ? [{ kind: parent.kind, namespace: parent.namespace, name: parent.name }]
        : [],
    );
}

interface ParentRef extends ParentNode {
  /** Position in spec.parentRefs. */
  readonly index: number;
  /** The number of listeners that the route attaches to through the parentRefs before. */
  readonly attached: number;
}

function attach(read: Reader, route: Resource<ServedRouteKind>, parent: ParentRef): AttachmentOutcome {
  if (parent.group !== gatewayGroup || !isOwnerKind(parent.kind)) return { type: 'foreign' };
  const owner = { kind: parent.kind, namespace: parent.namespace, name: parent.name };
  const standing = ownerStanding(read, owner);
  if (standing === 'detached') return { type: 'noListener', listeners: [] };
  if (standing !== 'ours') return { type: standing };
  if (!isReadable(route, ['spec', 'parentRefs', parent.index]) || !isReadable(route, ['spec', 'hostnames']))
    return { type: 'unreadable' };

  const { kind, namespace, name } = owner;
  const { port, sectionName } = parent;
  const addressed = read.query(
    addressedListeners,
    kind,
    namespace,
    name,
    port === undefined ? '' : String(port),
    ...(sectionName === undefined ? [] : [sectionName]),
  );
  if (addressed.length === 0)
    return { type: 'noListener', listeners: read.query(listenerNames, kind, namespace, name) };

  const names = addressed.map((listener) => listener.name);
  const sameKind = addressed.filter((listener) =>
    listener.routeKinds.some((one) => one.group === route.ref.group && one.kind === route.kind),
  );
  if (sameKind.length === 0) return { type: 'notAllowed', listeners: names, by: 'kind' };
  const allowing = sameKind.filter((listener) =>
    allowsNamespace(read, listener.namespaces, namespace, route.ref.namespace),
  );
  if (allowing.length === 0) {
    const isUncertain = sameKind.some((listener) => mayAllowNamespace(read, listener.namespaces, route.ref.namespace));
    return isUncertain ? { type: 'unobserved' } : { type: 'notAllowed', listeners: names, by: 'namespace' };
  }

  return attachTo(read, route, { owner, before: parent.attached }, allowing);
}

/** Returns the outcome for listeners that allow the route. */
function attachTo(
  read: Reader,
  route: Resource<ServedRouteKind>,
  { owner, before }: { readonly owner: ListenerOwner; readonly before: number },
  allowing: readonly AddressedListener[],
): AttachmentOutcome {
  const hostnameOf = new Map(allowing.map(({ name, hostname = '' }) => [name, hostname]));
  const attached = fitted(
    allowing
      .map((listener) => ({ name: listener.name, hostnames: servedHostnames(route, listener) }))
      .filter((one) => one.hostnames.length > 0),
  );
  if (attached.length === 0)
    return { type: 'noHostname', listeners: [...hostnameOf].map(([name, hostname]) => ({ name, hostname })) };
  if (before + attached.length > maxListenersOfRoute)
    return { type: 'tooManyListeners', count: attached.length, attached: before };
  const hasOwners = servesHostnames(route.kind) && read.query(hasHostnamePolicies);
  const gateway = hasOwners ? servingGateway(read, owner) : undefined;
  if (gateway === undefined) return { type: 'attached', listeners: attached };
  return permittedAmong(read, attached, {
    gateway: qualifiedName(gateway),
    namespace: route.ref.namespace,
    permission: isLayer4(route.kind) ? hostnamePermission : routePermission,
    hostnameOf,
  });
}

interface HostnameUse {
  readonly gateway: string;
  /** The namespace of the route. */
  readonly namespace: string;
  /** Only routes with matches can leave paths to others. */
  readonly permission: typeof hostnamePermission | typeof routePermission;
  /** The hostnames of the listeners, `''` for every hostname. */
  readonly hostnameOf: ReadonlyMap<string, string>;
}

/** Leaves out the hostnames that HostnamePolicies do not permit, and those for which that is unknown here. */
function permittedAmong(
  read: Reader,
  attached: readonly AttachedListener[],
  { gateway, namespace, permission, hostnameOf }: HostnameUse,
): AttachmentOutcome {
  const refused: RefusedHostname[] = [];
  const byPath: string[] = [];
  const listeners = attached.map(({ name, hostnames }) => ({
    name,
    hostnames: hostnames.filter((own) => {
      const served = intersectHostnames(hostnameOf.get(name) ?? '', own) ?? own;
      const { type, ...rest } = read.query(permission, served, gateway, namespace);
      if ('owned' in rest) refused.push({ ...rest, gateway, own, served });
      if ('byPath' in rest) byPath.push(served);
      return type === 'permitted';
    }),
  }));
  const permitted = listeners.filter(({ hostnames }) => hostnames.length > 0);
  if (permitted.length > 0)
    return {
      type: 'attached',
      listeners: permitted,
      ...(refused.length === 0 ? {} : { refused }),
      ...(byPath.length === 0 ? {} : { byPath: { gateway, hostnames: byPath } }),
    };
  return refused.length === 0 ? { type: 'unobserved' } : { type: 'notPermitted', refused };
}

function servedHostnames(route: Resource<ServedRouteKind>, listener: AddressedListener): readonly string[] {
  const own = hostnamesOf(route);
  if (own.length === 0) return [''];
  return fitted(
    [...new Set(own.map(hostnameKey))].filter(
      (hostname) => listener.hostname === undefined || intersectHostnames(listener.hostname, hostname) !== undefined,
    ),
  );
}
