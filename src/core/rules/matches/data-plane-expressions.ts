import { ageEntry, ofAgeEntry } from '../../graph/age.ts';
import { attachedOwners } from '../../graph/attachment.ts';
import { objectsOf, readObject } from '../../graph/inputs.ts';
import { servingGateway } from '../../graph/listeners/listener-sets.ts';
import { requestRouteKinds, type RequestRouteKind } from '../../graph/protocols.ts';
import { strata } from '../../graph/strata.ts';
import { defineIndex, defineQuery, type Reader } from '../../incremental/index.ts';
import type { Resource } from '../../resources/resource.ts';
import { judgeExpressions } from './expressions.ts';
import { keyOfRef, qualifiedName } from '../../resources/reference.ts';

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
    for (const bucket of gatewaysOf(read, kind, namespace, name))
      yield { bucket, entry: `${ageEntry(route)}\n${kind}\n${bytes}` };
  },
});

/**
 * The routes of a Gateway (`kind/namespace/name`) whose expressions exceed the memory for expressions of its data plane. Older
 * routes have precedence.
 */
const expressionsWithoutRoom = defineQuery({
  name: 'expressionsWithoutRoom',
  stratum: strata.validity,
  compute(read, gateway: string): readonly string[] {
    let left = dataPlaneExpressionBytes;
    return read.list(expressionsOfGateway, gateway).flatMap((entry) => {
      const [age = '', kind = '', bytes = ''] = entry.split('\n');
      left -= Number(bytes);
      const { namespace, name } = ofAgeEntry(age);
      return left >= 0 ? [] : [keyOfRef({ kind, namespace, name })];
    });
  },
});

/** Returns the first of our Gateways with the route attached whose data plane has no room for its expressions. */
export function gatewayWithoutRoom(
  read: Reader,
  { kind, ref: { namespace, name } }: Resource<RequestRouteKind>,
): string | undefined {
  if (read.query(expressionBytes, kind, namespace, name) === 0) return undefined;
  return gatewaysOf(read, kind, namespace, name).find((gateway) =>
    read.query(expressionsWithoutRoom, gateway).includes(keyOfRef({ kind, namespace, name })),
  );
}
