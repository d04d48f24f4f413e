import { defineQuery } from '../../incremental/index.ts';
import { isIpAddress, preciseHostnameProblems } from '../../text/hostname.ts';
import { readObject } from '../inputs.ts';
import { strata } from '../strata.ts';
import { addressType } from '../../semantics/intended.ts';

/** `Cluster`, and the value that GEP-5093 reserves for conformance tests, which guarantees nothing. */
const routabilities = ['Cluster', 'testing.x-k8s.io/sentinel'] as const;
export type Routability = (typeof routabilities)[number];

/** An address that a Gateway requests. Without a value, any address of its type is acceptable (GatewaySpecAddress). */
export interface WantedAddress {
  readonly type: 'IPAddress' | 'Hostname';
  readonly value: string;
  /** Absent: any. */
  readonly routability?: Routability;
}

/** An entry of spec.addresses. `index` is its position there. */
export type AddressNode = { readonly index: number } & (
  | ({ readonly outcome: 'wanted' } & WantedAddress)
  | { readonly outcome: 'unsupportedType'; readonly type: string }
  | { readonly outcome: 'unsupportedRoutability'; readonly type: string; readonly routability: string }
  | { readonly outcome: 'malformed'; readonly type: string; readonly value: string }
);

/**
 * The source of an address: the Service of the type that the parameters set, or a Service that only the cluster can reach. An entry
 * with a routability never gets an address of the former, which could be public.
 */
export type AddressScope = 'Default' | 'Cluster';

/** The addresses that a Gateway requests in spec.addresses, in order. */
export const addresses = defineQuery({
  name: 'addresses',
  stratum: strata.links,
  compute(read, namespace: string, name: string): readonly AddressNode[] {
    const requested = readObject(read, 'Gateway', namespace, name)?.spec?.addresses ?? [];
    return requested.map((address, index): AddressNode => {
      const { value = '', routability = '' } = address;
      const type = addressType(address);
      if (type !== 'IPAddress' && type !== 'Hostname') return { index, outcome: 'unsupportedType', type };
      const isWellFormed =
        value === '' || (type === 'IPAddress' ? isIpAddress(value) : preciseHostnameProblems(value).length === 0);
      if (!isWellFormed) return { index, outcome: 'malformed', type, value };
      if (routability === '') return { index, outcome: 'wanted', type, value };
      // DNS decides which addresses a name has, so nobody can ensure their routability.
      const known = type === 'IPAddress' ? routabilities.find((one) => one === routability) : undefined;
      return known === undefined
        ? { index, outcome: 'unsupportedRoutability', type, routability }
        : { index, outcome: 'wanted', type, value, routability: known };
    });
  },
});

/** Whether an entry demands a routability (GatewaySpecAddress.routability). */
export function demandsRoutability(node: AddressNode): boolean {
  return node.outcome === 'unsupportedRoutability' || (node.outcome === 'wanted' && node.routability !== undefined);
}

/** The source from which an entry gets its address. */
export function scopeOf({ routability }: WantedAddress): AddressScope {
  return routability === undefined ? 'Default' : 'Cluster';
}
