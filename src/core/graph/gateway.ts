import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { addressedListener, allowedKinds, type AddressedListener } from './addressed-listeners.ts';
import { certificateCell, gatewayGroup, installationCell, readObject, type CertificateFacts } from './inputs.ts';
import { granted } from './grants.ts';
import { canSharePort, routeKindsOf, terminatesTls, type RouteKind } from './protocols.ts';
import { isReadable, type KindName } from '../resources/resource.ts';
import { intersectHostnames } from '../text/hostname.ts';
import { strata } from './strata.ts';

/** Whether objects of a kind are followed here, so that not seeing one means that there is none. */
export const isObserved = defineQuery({
  name: 'isObserved',
  stratum: strata.links,
  compute: (read, kind: KindName): boolean => read.input(installationCell)?.unobserved.includes(kind) !== true,
});

/** What a Gateway's class says about who serves it. */
export interface GatewayClassNode {
  readonly exists: boolean;
  /** The class names our controller and can be accepted: its Gateways are ours. */
  readonly ours: boolean;
}

export const gatewayClassNode = defineQuery({
  name: 'gatewayClass',
  stratum: strata.links,
  compute(read, name: string): GatewayClassNode {
    const resource = readObject(read, 'GatewayClass', '', name);
    const controllerName = read.input(installationCell)?.controllerName;
    if (resource === undefined) return { exists: false, ours: false };
    const { spec } = resource;
    // Parameters of a class are not supported yet: such a class is not accepted, and its Gateways are left alone.
    const acceptable = isReadable(resource, ['spec']) && spec?.parametersRef === undefined;
    return { exists: true, ours: acceptable && controllerName !== undefined && spec?.controllerName === controllerName };
  },
});

/**
 * The class that a Gateway names, `''` where it names none; `undefined` where there is no such Gateway. Stands between
 * a Gateway and its routes, so that other changes of it wake none of them.
 */
export const gatewayClassName = defineQuery({
  name: 'gatewayClassName',
  stratum: strata.links,
  compute(read, namespace: string, name: string): string | undefined {
    const gateway = readObject(read, 'Gateway', namespace, name);
    return gateway === undefined ? undefined : (gateway.spec?.gatewayClassName ?? '');
  },
});

/** Whether the Gateway exists and is ours to serve. */
export const isOurGateway = defineQuery({
  name: 'isOurGateway',
  stratum: strata.links,
  compute(read, namespace: string, name: string): boolean {
    const className = read.query(gatewayClassName, namespace, name);
    return className !== undefined && read.query(gatewayClassNode, className).ours;
  },
});

/** Names of a Gateway's listeners in the order of the specification, repetitions left out. */
export const listenerNames = defineQuery({
  name: 'listenerNames',
  stratum: strata.links,
  compute(read, namespace: string, name: string): readonly string[] {
    const listeners = readObject(read, 'Gateway', namespace, name)?.spec?.listeners ?? [];
    return [...new Set(listeners.map((listener) => listener.name ?? ''))];
  },
});

/** One listener with what it allows, freed of everything that does not concern it. */
export interface ListenerNode extends AddressedListener {
  /** Position in spec.listeners. */
  readonly index: number;
  readonly port: number;
  readonly protocol: string;
  /** Kinds of allowedRoutes that the protocol cannot carry or that are not served. */
  readonly invalidKinds: readonly RouteKind[];
  readonly certificates: readonly CertificateNode[];
}

/** A certificateRef, resolved. `index` is its position in tls.certificateRefs. */
export type CertificateNode = { readonly index: number } & (
  | { readonly type: 'usable'; readonly secret: string }
  | { readonly type: 'unsupportedKind'; readonly kind: string }
  | { readonly type: 'notPermitted'; readonly secret: string }
  | { readonly type: 'absent'; readonly secret: string }
  /** Whether the Secret exists is not known here. */
  | { readonly type: 'unobserved'; readonly secret: string }
  | { readonly type: 'unusable'; readonly secret: string; readonly problem: string }
);

/** The listener of that name, the first one where a name is repeated; `undefined` where there is none. */
export const listenerNode = defineQuery({
  name: 'listener',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string, name: string): ListenerNode | undefined {
    const listeners = readObject(read, 'Gateway', namespace, gateway)?.spec?.listeners ?? [];
    const index = listeners.findIndex((listener) => (listener.name ?? '') === name);
    const listener = listeners[index];
    if (listener === undefined) return undefined;
    const protocol = listener.protocol ?? '';
    return {
      ...addressedListener(listener),
      index,
      port: listener.port ?? 0,
      protocol,
      invalidKinds: allowedKinds(protocol, listener.allowedRoutes?.kinds ?? []).invalidKinds,
      certificates: (listener.tls?.certificateRefs ?? []).map((ref, position) => resolveCertificate(read, namespace, ref, position)),
    };
  },
});

interface SecretRef {
  readonly group?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

function resolveCertificate(read: Reader, gatewayNamespace: string, ref: SecretRef, index: number): CertificateNode {
  const group = ref.group ?? '';
  const kind = ref.kind ?? 'Secret';
  const namespace = ref.namespace ?? gatewayNamespace;
  const name = ref.name ?? '';
  if (group !== '' || kind !== 'Secret') return { index, type: 'unsupportedKind', kind: group === '' ? kind : `${group}/${kind}` };
  const secret = `${namespace}/${name}`;
  // The grant comes before existence, so that nobody can probe for Secrets of another namespace.
  if (!read.query(granted, gatewayGroup, 'Gateway', gatewayNamespace, '', 'Secret', namespace, name)) return { index, type: 'notPermitted', secret };
  const facts: CertificateFacts | undefined = read.input(certificateCell, namespace, name);
  if (facts === undefined) return { index, type: read.query(isObserved, 'Secret') ? 'absent' : 'unobserved', secret };
  return facts.type === 'certificate' ? { index, type: 'usable', secret } : { index, type: 'unusable', secret, problem: facts.problem };
}

/** Why a listener cannot be told apart from others of its Gateway. */
export interface ListenerConflict {
  readonly reason: 'ProtocolConflict' | 'HostnameConflict';
  /** Names of the first few of those others. */
  readonly others: readonly string[];
}

/**
 * The listeners of a Gateway that are not distinct, by name. There is no winner: none of them may be accepted
 * (Gateway.spec.listeners, "Handling indistinct Listeners"). Protocols that are not served take no part: they get no
 * port anyway.
 */
export const listenerConflicts = defineQuery({
  name: 'listenerConflicts',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): Readonly<Record<string, ListenerConflict>> {
    const listeners = listenersOf(read, namespace, gateway).filter((listener) => routeKindsOf(listener.protocol) !== undefined);
    const conflicts = Map.groupBy(listeners, (listener) => listener.port).values().flatMap(conflictsOnPort);
    return Object.fromEntries(conflicts);
  },
});

function* conflictsOnPort(listeners: readonly ListenerNode[]): Iterable<[string, ListenerConflict]> {
  const byHostname = Map.groupBy(listeners, (listener) => listener.hostname ?? '');
  const byProtocol = Map.groupBy(listeners, (listener) => listener.protocol);
  for (const listener of listeners) {
    const rivals = [...byProtocol].filter(([protocol]) => !canSharePort(protocol, listener.protocol)).flatMap(([, others]) => others);
    const twins = byHostname.get(listener.hostname ?? '')?.slice(0, namedAtMost + 1).filter((other) => other !== listener) ?? [];
    if (rivals.length > 0) yield [listener.name, { reason: 'ProtocolConflict', others: namesOf(rivals) }];
    else if (twins.length > 0) yield [listener.name, { reason: 'HostnameConflict', others: namesOf(twins) }];
  }
}

/**
 * The listeners that terminate TLS on one port for hostnames that overlap, by name, with the first few others: a client may reuse a connection
 * that it opened for one of them for the other (ListenerConditionOverlappingTLSConfig). Equal hostnames conflict and
 * are not among them.
 */
export const tlsOverlaps = defineQuery({
  name: 'tlsOverlaps',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): Readonly<Record<string, readonly string[]>> {
    const listeners = listenersOf(read, namespace, gateway).filter((listener) => terminatesTls(listener.protocol));
    const overlaps = listeners.map((listener): [string, readonly string[]] => [listener.name, namesOf(listeners.filter((other) => overlap(listener, other)))]);
    return Object.fromEntries(overlaps.filter(([, others]) => others.length > 0));
  },
});

function overlap(one: ListenerNode, other: ListenerNode): boolean {
  return one.port === other.port && one.hostname !== other.hostname && intersectHostnames(one.hostname ?? '', other.hostname ?? '') !== undefined;
}

/** Messages name no more others than people read. */
const namedAtMost = 3;

function namesOf(listeners: readonly ListenerNode[]): readonly string[] {
  return listeners.slice(0, namedAtMost).map((listener) => listener.name);
}

/** All listeners of a Gateway in the order of the specification. */
export function listenersOf(read: Reader, namespace: string, gateway: string): readonly ListenerNode[] {
  return read
    .query(listenerNames, namespace, gateway)
    .map((name) => read.query(listenerNode, namespace, gateway, name))
    .filter((listener) => listener !== undefined);
}
