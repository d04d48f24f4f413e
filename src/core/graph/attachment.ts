import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { intersectHostnames } from '../text/hostname.ts';
import { selectorMatches } from '../text/selector.ts';
import { isReadable, type Resource } from '../resources/resource.ts';
import { addressedListeners, type AddressedListener } from './addressed-listeners.ts';
import { gatewayClassName, isOurGateway, listenerNames } from './gateway.ts';
import { gatewayGroup, readObject } from './inputs.ts';
import type { ServedRouteKind } from './protocols.ts';
import { strata } from './strata.ts';

/** A parentRef with its defaults filled in. */
export interface ParentNode {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** What became of one parentRef. */
export interface Attachment {
  /** Position in spec.parentRefs. */
  readonly index: number;
  readonly parent: ParentNode;
  readonly outcome: AttachmentOutcome;
}

export type AttachmentOutcome =
  /** A kind of parent, or a Gateway of a class, that somebody else serves. */
  | { readonly type: 'foreign' }
  | { readonly type: 'absent' }
  /** Part of the parentRef or of the hostnames could not be read: narrowing it may have asked for must not be lost. */
  | { readonly type: 'unreadable' }
  /** The Gateway is ours; no listener has this name and port. */
  | { readonly type: 'noListener'; readonly listeners: readonly string[] }
  | { readonly type: 'notAllowed'; readonly listeners: readonly string[]; readonly by: 'kind' | 'namespace' }
  | { readonly type: 'noHostname'; readonly listeners: readonly { readonly name: string; readonly hostname: string }[] }
  | { readonly type: 'attached'; readonly listeners: readonly AttachedListener[] };

export interface AttachedListener {
  readonly name: string;
  /** The route's own hostnames that intersect the listener's; `['']` for a route without hostnames. */
  readonly hostnames: readonly string[];
}

/** Labels of a namespace, the one that Kubernetes always sets included; known even where no Namespace object is. */
export const namespaceLabels = defineQuery({
  name: 'namespaceLabels',
  stratum: strata.links,
  compute: (read, namespace: string): Readonly<Record<string, string>> => ({
    ...readObject(read, 'Namespace', '', namespace)?.meta.labels,
    'kubernetes.io/metadata.name': namespace,
  }),
});

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

function attach(read: Reader, route: Resource<ServedRouteKind>, parent: ParentNode & { readonly index: number }): AttachmentOutcome {
  if (parent.group !== gatewayGroup || parent.kind !== 'Gateway') return { type: 'foreign' };
  if (read.query(gatewayClassName, parent.namespace, parent.name) === undefined) return { type: 'absent' };
  if (!read.query(isOurGateway, parent.namespace, parent.name)) return { type: 'foreign' };
  if (!isReadable(route, ['spec', 'parentRefs', parent.index]) || !isReadable(route, ['spec', 'hostnames'])) return { type: 'unreadable' };

  const { namespace, name, port, sectionName } = parent;
  const addressed = read.query(addressedListeners, namespace, name, port === undefined ? '' : String(port), ...(sectionName === undefined ? [] : [sectionName]));
  if (addressed.length === 0) return { type: 'noListener', listeners: read.query(listenerNames, parent.namespace, parent.name) };

  const names = addressed.map((listener) => listener.name);
  const sameKind = addressed.filter((listener) => listener.routeKinds.some((one) => one.group === route.ref.group && one.kind === route.kind));
  if (sameKind.length === 0) return { type: 'notAllowed', listeners: names, by: 'kind' };
  const allowing = sameKind.filter((listener) => allowsNamespace(read, listener, parent.namespace, route.ref.namespace));
  if (allowing.length === 0) return { type: 'notAllowed', listeners: names, by: 'namespace' };

  const attached = allowing.map((listener) => ({ name: listener.name, hostnames: servedHostnames(route, listener) })).filter((one) => one.hostnames.length > 0);
  if (attached.length > 0) return { type: 'attached', listeners: attached };
  return { type: 'noHostname', listeners: allowing.map((listener) => ({ name: listener.name, hostname: listener.hostname ?? '' })) };
}

function allowsNamespace(read: Reader, listener: AddressedListener, gatewayNamespace: string, routeNamespace: string): boolean {
  const { namespaces } = listener;
  if (namespaces.from === 'Selector') return selectorMatches(namespaces.selector, read.query(namespaceLabels, routeNamespace));
  return namespaces.from === 'All' || (namespaces.from === 'Same' && gatewayNamespace === routeNamespace);
}

function servedHostnames(route: Resource<ServedRouteKind>, listener: AddressedListener): readonly string[] {
  const own = route.spec?.hostnames ?? [];
  if (own.length === 0) return [''];
  return [...new Set(own.map((hostname) => hostname.toLowerCase()))].filter(
    (hostname) => listener.hostname === undefined || intersectHostnames(listener.hostname, hostname) !== undefined,
  );
}
