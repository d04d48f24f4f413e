import { display, quote } from '../../text/display.ts';
import { demand, type ReportViolation, specificationRule } from '../engine/demand.ts';
import type { Address } from './addresses.ts';

export const addressRepeated = specificationRule({
  id: 'address-repeated',
  summary: 'A Gateway has duplicate addresses.',
  source:
    'Gateway API v1.7.0, GatewaySpec.addresses ("IPAddress values must be unique", "Hostname values must be unique")',
});

function repetitions(addresses: readonly Address[], report: ReportViolation): void {
  for (const [index, { type, value }] of addresses.entries()) {
    const before = addresses.findIndex((other) => other.type === type && other.value === value);
    if ((type !== 'IPAddress' && type !== 'Hostname') || value === undefined || before === index) continue;
    report({
      below: [index, 'value'],
      value: display(value),
      message: `Duplicate address ${quote(value)}: addresses[${before}] has the same value. Remove one of them.`,
    });
  }
}

/** In v1.3, values are optional, but the CEL rule fails to compare absent values. */
function incomparable(addresses: readonly Address[], report: ReportViolation): void {
  for (const [index, { type, value }] of addresses.entries()) {
    if ((type !== 'IPAddress' && type !== 'Hostname') || value !== undefined) continue;
    report({
      below: [index, 'value'],
      message: `Value is required in an address of type ${type} in this bundle. Set a value, or remove addresses to get an address that the implementation chooses.`,
    });
  }
}

export const addressesDistinct = demand(addressRepeated, repetitions);

export const addressesComparable = demand(
  addressRepeated,
  function judge(addresses: readonly Address[], report) {
    incomparable(addresses, report);
    repetitions(addresses, report);
  },
  'with-value',
);
