import { display, quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';
import { isSubdomain } from '../objects/qualified-key.ts';

export const addressRoutability = specificationRule({
  id: 'address-routability',
  summary: 'The routability of an address is neither Cluster nor a value of an implementation.',
  source: 'Gateway API v1.7.0, GatewaySpecAddress.routability; GEP-5093',
});

const prefixedPath = /^[^\n/]*\/[^\n]+$/;

export const routabilityIsKnown = demand(addressRoutability, function judge(routability: string, report) {
  const domain = routability.split('/', 1)[0] ?? '';
  const isReserved = domain === 'k8s.io' || domain.endsWith('.k8s.io');
  if (
    routability === '' ||
    routability === 'Cluster' ||
    (prefixedPath.test(routability) && isSubdomain(domain) && !isReserved)
  )
    return;
  const problem = isReserved ? 'names in k8s.io are reserved' : 'must be Cluster or a domain with a path';
  report({
    below: [],
    value: display(routability),
    message: `Invalid routability ${quote(routability)}: ${problem}. Use Cluster or a value of your implementation such as example.com/vpc, or remove it.`,
  });
});
