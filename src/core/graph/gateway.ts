import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { certificateCell, gatewayGroup, installationCell, readObject, type CertificateFacts } from './inputs.ts';
import { granted } from './grants.ts';
import { canSharePort, routeKindsOf, type RouteKind } from './protocols.ts';
import { strata } from './strata.ts';

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
    const spec = resource?.spec;
    // Parameters of a class are not supported yet: such a class is not accepted, and its Gateways are left alone.
    const ours = controllerName !== undefined && spec?.controllerName === controllerName && spec.parametersRef === undefined;
    return { exists: resource !== undefined, ours };
  },
});

/** Whether the Gateway exists and is ours to serve. */
export const isOurGateway = defineQuery({
  name: 'isOurGateway',
  stratum: strata.links,
  compute(read, namespace: string, name: string): boolean {
    const className = readObject(read, 'Gateway', namespace, name)?.spec?.gatewayClassName;
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
export interface ListenerNode {
  /** Position in spec.listeners. */
  readonly index: number;
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  /** Lower case; absent: any host. */
  readonly hostname?: string;
  /** The route kinds that may attach: served by the protocol and allowed by allowedRoutes.kinds. */
  readonly routeKinds: readonly RouteKind[];
  /** Kinds of allowedRoutes that the protocol cannot carry or that are not served. */
  readonly invalidKinds: readonly RouteKind[];
  readonly namespaces: AllowedNamespaces;
  readonly certificates: readonly CertificateNode[];
}

export type AllowedNamespaces =
  | { readonly from: 'All' | 'Same' | 'None' }
  | { readonly from: 'Selector'; readonly selector: object };

/** A certificateRef, resolved. `index` is its position in tls.certificateRefs. */
export type CertificateNode = { readonly index: number } & (
  | { readonly type: 'usable'; readonly secret: string }
  | { readonly type: 'unsupportedKind'; readonly kind: string }
  | { readonly type: 'notPermitted'; readonly secret: string }
  | { readonly type: 'absent'; readonly secret: string }
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
    const supported = routeKindsOf(protocol) ?? [];
    const asked = listener.allowedRoutes?.kinds?.map((kind) => ({ group: kind.group ?? gatewayGroup, kind: kind.kind ?? '' }));
    const isSupported = (kind: RouteKind): boolean => supported.some((one) => one.group === kind.group && one.kind === kind.kind);
    const hostname = listener.hostname?.toLowerCase();
    return {
      index,
      name,
      port: listener.port ?? 0,
      protocol,
      ...(hostname === undefined || hostname === '' ? {} : { hostname }),
      routeKinds: asked === undefined || asked.length === 0 ? supported : asked.filter(isSupported),
      invalidKinds: (asked ?? []).filter((kind) => !isSupported(kind)),
      namespaces: allowedNamespaces(listener.allowedRoutes?.namespaces),
      certificates: (listener.tls?.certificateRefs ?? []).map((ref, position) => resolveCertificate(read, namespace, ref, position)),
    };
  },
});

interface NamespacesView {
  readonly from?: string;
  readonly selector?: object;
}

function allowedNamespaces(view: NamespacesView | undefined): AllowedNamespaces {
  const from = view?.from ?? 'Same';
  if (from === 'All' || from === 'Same') return { from };
  // An unknown value or a selector that is not there allows nobody: a wider reading could let strangers in.
  return from === 'Selector' && view?.selector !== undefined ? { from, selector: view.selector } : { from: 'None' };
}

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
  if (facts === undefined) return { index, type: 'absent', secret };
  return facts.type === 'certificate' ? { index, type: 'usable', secret } : { index, type: 'unusable', secret, problem: facts.problem };
}

/** Why a listener cannot stand beside an earlier one of its Gateway. */
export interface ListenerConflict {
  readonly reason: 'ProtocolConflict' | 'HostnameConflict';
  /** Name of the earlier listener, which keeps working. */
  readonly winner: string;
}

/**
 * The listeners of a Gateway that lose against an earlier one, by name. The first in the list wins, so that as
 * little traffic as possible is dropped (API design guide, "Conflicts").
 */
export const listenerConflicts = defineQuery({
  name: 'listenerConflicts',
  stratum: strata.links,
  compute(read, namespace: string, gateway: string): Readonly<Record<string, ListenerConflict>> {
    const winners: ListenerNode[] = [];
    const conflicts: [string, ListenerConflict][] = [];
    for (const name of read.query(listenerNames, namespace, gateway)) {
      const listener = read.query(listenerNode, namespace, gateway, name);
      if (listener === undefined) continue;
      const conflict = firstConflict(winners, listener);
      if (conflict === undefined) winners.push(listener);
      else conflicts.push([name, conflict]);
    }
    return Object.fromEntries(conflicts);
  },
});

function firstConflict(winners: readonly ListenerNode[], listener: ListenerNode): ListenerConflict | undefined {
  for (const winner of winners) {
    if (winner.port !== listener.port) continue;
    if (!canSharePort(winner.protocol, listener.protocol)) return { reason: 'ProtocolConflict', winner: winner.name };
    if (winner.hostname === listener.hostname) return { reason: 'HostnameConflict', winner: winner.name };
  }
  return undefined;
}
