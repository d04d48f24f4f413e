import { display, quote } from '../../text/display.ts';
import { demand, type ReportViolation, specificationRule } from '../engine/demand.ts';
import type { Address } from './addresses.ts';

export const addressHostname = specificationRule({
  id: 'address-hostname',
  summary: 'The value of an address of type Hostname is not a DNS name.',
  source: 'Gateway API v1.7.0, GatewaySpecAddress.value',
});

const hostname = /^(?:\*\.)?[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

function judgeHostname({ type, value }: Address, report: ReportViolation): void {
  if (type !== 'Hostname' || value === undefined || hostname.test(value)) return;
  report({
    below: ['value'],
    value: display(value),
    message: `Invalid hostname ${quote(value)}: must be a DNS name in lower case, for example gateway.example.com. Correct it, or use another type of address.`,
  });
}

export const addressIsHostname = demand(addressHostname, judgeHostname);

/** For bundles that require a value. */
export const addressHasHostname = demand(
  addressHostname,
  function judge(address: Address, report) {
    if (address.type === 'Hostname' && address.value === undefined)
      report({
        below: ['value'],
        message: 'Value is required in an address of type Hostname. Use a DNS name, for example gateway.example.com.',
      });
    judgeHostname(address, report);
  },
  'with-value',
);
