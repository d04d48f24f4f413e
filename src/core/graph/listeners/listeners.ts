import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { addressedListener, allowedKinds, type AddressedListener } from './addressed-listeners.ts';
import { readObject } from '../inputs.ts';
import type { ListenerOwner, OwnerKind } from './listener-sets.ts';
import type { RouteKind } from '../protocols.ts';
import { resolveReferences, type ReferenceNode } from '../references.ts';
import { strata } from '../strata.ts';

/** The names of an owner's listeners in the order of the specification, without duplicates. */
export const listenerNames = defineQuery({
  name: 'listenerNames',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): readonly string[] {
    const listeners = readObject(read, kind, namespace, name)?.spec?.listeners ?? [];
    return [...new Set(listeners.map((listener) => listener.name ?? ''))];
  },
});

/** One listener with the routes that it allows, without unrelated fields. */
export interface ListenerNode extends AddressedListener {
  /** Position in spec.listeners. */
  readonly index: number;
  readonly port: number;
  readonly protocol: string;
  /** tls.mode as written. */
  readonly tlsMode?: string;
  /** Kinds of allowedRoutes that the protocol does not support or that are not served. */
  readonly invalidKinds: readonly RouteKind[];
  /** tls.certificateRefs. */
  readonly certificates: readonly ReferenceNode[];
}

/** The listener with that name, the first one if the name is duplicate; `undefined` if there is none. */
const listenerNode = defineQuery({
  name: 'listener',
  stratum: strata.links,
  compute(
    read,
    ...[kind, namespace, owner, name]: readonly [kind: OwnerKind, namespace: string, owner: string, name: string]
  ): ListenerNode | undefined {
    const listeners = readObject(read, kind, namespace, owner)?.spec?.listeners ?? [];
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
      certificates: resolveReferences(read, { kind, namespace }, 'Secret', listener.tls?.certificateRefs ?? []),
      // Fields after a spread take several times as long.
      ...(listener.tls?.mode === undefined ? {} : { tlsMode: listener.tls.mode }),
    };
  },
});

const listenerNodes = defineQuery({
  name: 'listeners',
  stratum: strata.links,
  compute(read, kind: OwnerKind, namespace: string, name: string): readonly ListenerNode[] {
    return read
      .query(listenerNames, kind, namespace, name)
      .map((listener) => read.query(listenerNode, kind, namespace, name, listener))
      .filter((listener) => listener !== undefined);
  },
});

/** Returns all listeners of a Gateway or ListenerSet in the order of the specification. About ten rules read them. */
export function listenersOf(read: Reader, { kind, namespace, name }: ListenerOwner): readonly ListenerNode[] {
  return read.query(listenerNodes, kind, namespace, name);
}
