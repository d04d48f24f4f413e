import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { intersectHostnames } from '../text/hostname.ts';
import { isReadable, type Resource } from '../resources/resource.ts';
import { addressedListeners, type AddressedListener } from './addressed-listeners.ts';
import { gatewayGroup, readObject } from './inputs.ts';
import { isOwnerKind, ownerStanding } from './listener-sets.ts';
import { listenerNames } from './listeners.ts';
import { allowsNamespace, mayAllowNamespace } from './namespaces.ts';
import type { ServedRouteKind } from './protocols.ts';
import { hostnamesOf } from './route-views.ts';
import { strata } from './strata.ts';

/** A parentRef with defaults. */
export interface ParentNode {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

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
  | { readonly type: 'noHostname'; readonly listeners: readonly { readonly name: string; readonly hostname: string }[] }
  | { readonly type: 'attached'; readonly listeners: readonly AttachedListener[] };

export interface AttachedListener {
  readonly name: string;
  /** The route's own hostnames that intersect the hostname of the listener; `['']` for a route without hostnames. */
  readonly hostnames: readonly string[];
}

/** Every parentRef of a route with its outcome, in the order of the specification. */
export const attachments = defineQuery({
  name: 'attachments',
  stratum: strata.links,
  compute(read, kind: string, namespace: string, name: string): readonly Attachment[] {
    const route = readObject(read, kind as ServedRouteKind, namespace, name);
    if (route === undefined) return [];
    return (route.spec?.parentRefs ?? []).map((ref, index) => {
      const parent: ParentNode = {
        group: ref.group ?? gatewayGroup,
        kind: ref.kind ?? 'Gateway',
        namespace: ref.namespace ?? namespace,
        name: ref.name ?? '',
        ...(ref.sectionName === undefined ? {} : { sectionName: ref.sectionName }),
        ...(ref.port === undefined ? {} : { port: ref.port }),
      };
      return { index, parent, outcome: attach(read, route, { ...parent, index }) };
    });
  },
});

function attach(
  read: Reader,
  route: Resource<ServedRouteKind>,
  parent: ParentNode & { readonly index: number },
): AttachmentOutcome {
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

  const attached = allowing
    .map((listener) => ({ name: listener.name, hostnames: servedHostnames(route, listener) }))
    .filter((one) => one.hostnames.length > 0);
  if (attached.length > 0) return { type: 'attached', listeners: attached };
  return {
    type: 'noHostname',
    listeners: allowing.map((listener) => ({ name: listener.name, hostname: listener.hostname ?? '' })),
  };
}

function servedHostnames(route: Resource<ServedRouteKind>, listener: AddressedListener): readonly string[] {
  const own = hostnamesOf(route);
  if (own.length === 0) return [''];
  return [...new Set(own.map((hostname) => hostname.toLowerCase()))].filter(
    (hostname) => listener.hostname === undefined || intersectHostnames(listener.hostname, hostname) !== undefined,
  );
}
