import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Address } from './gateway-details.ts';

export const addressAskedTwice = unenforcedRule(
  {
    id: 'address-asked-twice',
    summary: 'A Gateway requests several addresses of one type without a value.',
    effect: recorded,
    source: 'Gateway API v1.7.0, GatewaySpecAddress.value (empty: chosen by the implementation); GEP-5093',
  },
  function judge(addresses: readonly Address[], report) {
    for (const [index, { type, value = '', routability = '' }] of addresses.entries()) {
      const before = addresses.findIndex(
        (other) => other.type === type && (other.value ?? '') === '' && (other.routability ?? '') === routability,
      );
      if (value !== '' || before === index) continue;
      report({
        below: [index],
        message: `Duplicate request for an address of type ${type}: addresses[${before}] also has no value, so the Gateway requests two addresses. Remove this one unless you need both.`,
      });
    }
  },
);
