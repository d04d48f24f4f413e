import { defineQuery } from '../incremental/index.ts';
import { isIpAddress, preciseHostnameProblems } from '../text/hostname.ts';
import { readObject } from './inputs.ts';
import { strata } from './strata.ts';

/** An address that a Gateway requests. Without a value, any address of its type is acceptable (GatewaySpecAddress). */
export interface WantedAddress {
  readonly type: 'IPAddress' | 'Hostname';
  readonly value: string;
}

/** An entry of spec.addresses. `index` is its position there. */
export type AddressNode = { readonly index: number } & (
  | ({ readonly outcome: 'wanted' } & WantedAddress)
  | { readonly outcome: 'unsupportedType'; readonly type: string }
  | { readonly outcome: 'unsupportedRoutability'; readonly routability: string }
  | { readonly outcome: 'malformed'; readonly type: string; readonly value: string }
);

/** The addresses that a Gateway requests in spec.addresses, in order. */
export const addresses = defineQuery({
  name: 'addresses',
  stratum: strata.links,
  compute(read, namespace: string, name: string): readonly AddressNode[] {
    const asked = readObject(read, 'Gateway', namespace, name)?.spec?.addresses ?? [];
    return asked.map(({ type = 'IPAddress', value = '', routability = '' }, index): AddressNode => {
      if (type !== 'IPAddress' && type !== 'Hostname') return { index, outcome: 'unsupportedType', type };
      if (routability !== '') return { index, outcome: 'unsupportedRoutability', routability };
      const isWellFormed =
        value === '' || (type === 'IPAddress' ? isIpAddress(value) : preciseHostnameProblems(value).length === 0);
      return isWellFormed ? { index, outcome: 'wanted', type, value } : { index, outcome: 'malformed', type, value };
    });
  },
});
