import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Address } from './gateway-details.ts';

export const addressAskedTwice = unenforcedRule({
  id: 'address-asked-twice',
  summary: 'A Gateway asks for any address of one type more than once.',
  effect: recorded,
  source: 'Gateway API v1.7.0, GatewaySpecAddress.value (empty: chosen by the implementation); GEP-5093',
}, function judge(addresses: readonly Address[], report) {
  for (const [index, { type, value = '', routability = '' }] of addresses.entries()) {
    const before = addresses.findIndex((other) => other.type === type && (other.value ?? '') === '' && (other.routability ?? '') === routability);
    if (value !== '' || before === index) continue;
    report({ below: [index], message: `addresses[${before}] asks for any address of type ${type} already, so this asks for a second one. Remove it unless two are meant.` });
  }
});
