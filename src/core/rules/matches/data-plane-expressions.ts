import { ageEntry } from '../../graph/age.ts';
import { attachedOwners } from '../../graph/attachment.ts';
import { objectsOf, readObject } from '../../graph/inputs.ts';
import { servingGateway } from '../../graph/listeners/listener-sets.ts';
import { requestRouteKinds, type RequestRouteKind } from '../../graph/protocols.ts';
import { strata } from '../../graph/strata.ts';
import { defineIndex, defineQuery, type Reader } from '../../incremental/index.ts';
import type { Resource } from '../../resources/resource.ts';
import { judgeExpressions } from './expressions.ts';
import { argsOfKey, keyOfRef, qualifiedName } from '../../resources/reference.ts';

/** The maximum number of bytes of the compiled regular expressions of all routes of a Gateway in its data plane. */
export const dataPlaneExpressionBytes = 32 * 1_024 * 1_024;

/** Returns our Gateways (`namespace/name`) that a route is attached to. */
function gatewaysOf(read: Reader, kind: string, namespace: string, name: string): readonly string[] {
  return [
    ...new Set(
      attachedOwners(read, kind, namespace, name).flatMap((owner) => {
        const gateway = servingGateway(read, owner);
        return gateway === undefined ? [] : [qualifiedName(gateway)];
      }),
    ),
  ];
}

/** Bytes of the compiled expressions of a route; 0 for most routes. */
const expressionBytes = defineQuery({
  name: 'expressionBytes',
  stratum: strata.links,
  compute(read, kind: RequestRouteKind, namespace: string, name: string): number {
    const route = readObject(read, kind, namespace, name);
    return route === undefined ? 0 : judgeExpressions(route).bytes;
  },
});

/**
 * Attached routes with regular expressions, the oldest first. Bucket: `namespace/name` of the Gateway; entry: an age entry, a
 * line feed, kind, a line feed, and bytes.
 */
export const expressionsOfGateway = defineIndex({
  name: 'expressionsOfGateway',
  stratum: strata.linkIndexes,
  over: objectsOf(...requestRouteKinds),
  *entries(read, kind = '', namespace = '', name = '') {
    const bytes = read.query(expressionBytes, kind as RequestRouteKind, namespace, name);
    const route = readObject(read, kind as RequestRouteKind, namespace, name);
    if (bytes === 0 || route === undefined) return;
    for (const bucket of gatewaysOf(read, kind, namespace, name)) yield { bucket, entry: entryOf(route, bytes) };
  },
});

/** Returns the entry of a route in that index. */
function entryOf(route: Resource<RequestRouteKind>, bytes: number): string {
  return `${ageEntry(route)}\n${route.kind}\n${bytes}`;
}

/**
 * The first entry of a Gateway whose expressions exceed the memory for expressions of its data plane. Those after it have no room either.
 * Bucket: `namespace/name` of the Gateway; none if all fit. An index, so that a change of one route concerns no other one unless this changes.
 */
export const firstWithoutRoom = defineIndex({
  name: 'firstWithoutRoom',
  stratum: strata.limitIndexes,
  over: objectsOf('Gateway'),
  *entries(read, _kind, namespace = '', name = '') {
    const bucket = qualifiedName({ namespace, name });
    let left = dataPlaneExpressionBytes;
    for (const entry of read.list(expressionsOfGateway, bucket)) {
      left -= Number(entry.slice(entry.lastIndexOf('\n') + 1));
      if (left < 0) return yield { bucket, entry };
    }
  },
});

/** Whether a Gateway has no room for a route (`kind/namespace/name`). A query of its own: to judge the expressions of all routes again takes milliseconds for each. */
const lacksRoom = defineQuery({
  name: 'lacksRoom',
  stratum: strata.validity,
  compute(read, gateway: string, key: string): boolean {
    const [first] = read.list(firstWithoutRoom, gateway);
    const [kind, namespace, name] = argsOfKey(key);
    const route = readObject(read, kind as RequestRouteKind, namespace, name);
    if (first === undefined || route === undefined) return false;
    return entryOf(route, read.query(expressionBytes, route.kind, namespace, name)) >= first;
  },
});

/** Returns the first of our Gateways with the route attached whose data plane has no room for its expressions. */
export function gatewayWithoutRoom(
  read: Reader,
  { kind, ref: { namespace, name } }: Resource<RequestRouteKind>,
): string | undefined {
  if (read.query(expressionBytes, kind, namespace, name) === 0) return undefined;
  return gatewaysOf(read, kind, namespace, name).find((gateway) =>
    read.query(lacksRoom, gateway, keyOfRef({ kind, namespace, name })),
  );
}
