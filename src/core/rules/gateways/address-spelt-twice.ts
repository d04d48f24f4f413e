import { display, quote } from '../../text/display.ts';
import { parseIpAddress } from '../../text/ip-address.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Address } from './gateway-details.ts';
import { addressType } from '../../semantics/intended.ts';

export const addressSpeltTwice = unenforcedRule(
  {
    id: 'address-spelt-twice',
    summary: 'A Gateway has one IPv6 address twice, in two notations.',
    effect: warned,
    source: 'Gateway API v1.7.0, GatewaySpec.addresses ("IPAddress values must be unique"); RFC 5952',
  },
  function judge(addresses: readonly Address[], report) {
    const first = new Map<bigint, number>();
    for (const [index, address] of addresses.entries()) {
      const { value = '' } = address;
      const key = addressType(address) === 'IPAddress' && value.includes(':') ? parseIpAddress(value) : undefined;
      if (key === undefined) continue;
      const before = first.get(key);
      if (before === undefined) first.set(key, index);
      else if (addresses[before]?.value !== value)
        report({
          below: [index, 'value'],
          value: display(value),
          message: `Duplicate address ${quote(value)}: addresses[${before}] is the same address, written ${quote(addresses[before]?.value)}. Remove one of them.`,
        });
    }
  },
);
