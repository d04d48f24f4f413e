import { display, quote } from '../../text/display.ts';
import { demand, specificationRule, type ReportViolation } from '../engine/demand.ts';
import { isSubdomain } from '../objects/qualified-key.ts';

export const addressRepeated = specificationRule({
  id: 'address-repeated',
  summary: 'A Gateway asks for one address twice.',
  source: 'Gateway API v1.7.0, GatewaySpec.addresses ("IPAddress values must be unique", "Hostname values must be unique")',
});

export const addressHostname = specificationRule({
  id: 'address-hostname',
  summary: 'The value of an address of type Hostname is no DNS name.',
  source: 'Gateway API v1.7.0, GatewaySpecAddress.value',
});

export const addressRoutability = specificationRule({
  id: 'address-routability',
  summary: 'The routability of an address is neither Cluster nor a name of an implementation.',
  source: 'Gateway API v1.7.0, GatewaySpecAddress.routability; GEP-5093',
});

interface Address {
  readonly type?: string;
  readonly value?: string;
}

function repetitions(addresses: readonly Address[], report: ReportViolation): void {
  for (const [index, { type, value }] of addresses.entries()) {
    const before = addresses.findIndex((other) => other.type === type && other.value === value);
    if ((type !== 'IPAddress' && type !== 'Hostname') || value === undefined || before === index) continue;
    report({ below: [index, 'value'], value: display(value), message: `The address ${quote(value)} stands in addresses[${before}] already. Remove one of them.` });
  }
}

/** v1.3 lets values be left out, but then cannot compare them. */
function incomparable(addresses: readonly Address[], report: ReportViolation): void {
  for (const [index, { type, value }] of addresses.entries()) {
    if ((type !== 'IPAddress' && type !== 'Hostname') || value !== undefined) continue;
    report({ below: [index, 'value'], message: `An address of type ${type} needs a value in this bundle. Write one, or leave addresses out to get an address chosen by the implementation.` });
  }
}

export const addressesDistinct = demand(addressRepeated.id, repetitions);
export const addressesComparable = demand(addressRepeated.id, function judge(addresses: readonly Address[], report) {
  incomparable(addresses, report);
  repetitions(addresses, report);
}, 'with-value');

const hostname = /^(?:\*\.)?[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

function judgeHostname({ type, value }: Address, report: ReportViolation): void {
  if (type !== 'Hostname' || value === undefined || hostname.test(value)) return;
  report({ below: ['value'], value: display(value), message: `${quote(value)} is no DNS name. Write one in lower case, such as gateway.example.com, or another type of address.` });
}

export const addressIsHostname = demand(addressHostname.id, judgeHostname);
/** As long as values were required. */
export const addressHasHostname = demand(addressHostname.id, function judge(address: Address, report) {
  if (address.type === 'Hostname' && address.value === undefined) report({ below: ['value'], message: 'An address of type Hostname needs a value. Write a DNS name such as gateway.example.com.' });
  judgeHostname(address, report);
}, 'with-value');

const prefixedPath = /^[^\n/]*\/[^\n]+$/;

export const routabilityIsKnown = demand(addressRoutability.id, function judge(routability: string, report) {
  const domain = routability.split('/', 1)[0] ?? '';
  const isReserved = domain === 'k8s.io' || domain.endsWith('.k8s.io');
  if (routability === '' || routability === 'Cluster' || (prefixedPath.test(routability) && isSubdomain(domain) && !isReserved)) return;
  const problem = isReserved ? 'names of k8s.io are reserved' : 'it is neither Cluster nor a domain with a path';
  report({ below: [], value: display(routability), message: `The routability ${quote(routability)} is not known: ${problem}. Write Cluster, a value of your implementation such as example.com/vpc, or leave it out.` });
});
