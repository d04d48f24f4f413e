import { addresses, demandsRoutability, type AddressNode } from '../../../core/graph/listeners/addresses.ts';
import type { Reader } from '../../../core/incremental/reader.ts';
import { recordOf, recordsOf, textOf } from '../../../core/text/record.ts';
import type { SourceDocument } from '../../../files/document.ts';
import { identityOf } from '../../../sources/objects.ts';
import { argsOfName } from '../../../core/resources/reference.ts';

/** The addresses of a Gateway, if their routability matters. */
export interface GatewayAddresses {
  /** The entries of spec.addresses that demand a routability. `isSupported` is false for entries that never get an address. */
  readonly requested: readonly {
    readonly index: number;
    readonly routability: string;
    readonly isSupported: boolean;
  }[];
  /** The entries of status.addresses. An empty routability means that nothing is known about it. */
  readonly assigned: readonly { readonly type: string; readonly value: string; readonly routability: string }[];
}

/**
 * Returns the addresses of a Gateway with the routability that it requests and has (GEP-5093); `undefined` if it requests no
 * routability and its status reports none.
 *
 * @param gateway `namespace/name`
 * @param documents the objects with their statuses, which the evaluation does not read
 */
export function gatewayAddresses(
  read: Reader,
  gateway: string,
  documents: readonly SourceDocument[],
): GatewayAddresses | undefined {
  const requested = read
    .query(addresses, ...argsOfName(gateway))
    .filter(demandsRoutability)
    .map(requestOf);
  const assigned = statusAddresses(gateway, documents).map(({ type, value, routability }) => ({
    type: textOf(type) || 'IPAddress',
    value: textOf(value),
    routability: textOf(routability),
  }));
  const isRelevant = requested.length > 0 || assigned.some(({ routability }) => routability !== '');
  return isRelevant ? { requested, assigned } : undefined;
}

/** Returns the lines of an explanation about the routability of the addresses of a Gateway. */
export function addressLines({ requested, assigned }: GatewayAddresses): readonly string[] {
  return [
    ...requested.map(
      ({ index, routability, isSupported }) =>
        `routability: spec.addresses[${index}] requests ${routability}${isSupported ? '' : ', which is unsupported: it gets no address'}`,
    ),
    ...assigned.map(({ value, routability }) =>
      routability === ''
        ? `routability: address ${value} has no reported routability`
        : `routability: address ${value} has ${routability}`,
    ),
    ...(assigned.length === 0 ? ['routability: the status has no address'] : []),
  ];
}

/** Returns the entries of status.addresses of a Gateway as they are. `gateway` is `namespace/name`. */
export function statusAddresses(
  gateway: string,
  documents: readonly SourceDocument[],
): readonly Readonly<Record<string, unknown>>[] {
  const object = documents.find(
    (document) => recordOf(document.value)['kind'] === 'Gateway' && identityOf(document) === `Gateway/${gateway}`,
  );
  return recordsOf(recordOf(recordOf(object?.value)['status'])['addresses']);
}

function requestOf(node: AddressNode): GatewayAddresses['requested'][number] {
  const { index, outcome } = node;
  return { index, routability: ('routability' in node && node.routability) || '', isSupported: outcome === 'wanted' };
}
