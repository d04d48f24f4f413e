import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Address } from './gateway-details.ts';
import { addressType } from '../../semantics/intended.ts';

export const routabilityUnusual = unenforcedRule(
  {
    id: 'routability-unusual',
    summary: 'The routability of an address is one that probably no implementation supports.',
    effect: warned,
    source: 'GEP-5093, Address routability (unknown values are never satisfied)',
  },
  function judge(address: Address, report) {
    const { routability = '' } = address;
    const type = addressType(address);
    const shown = { below: ['routability'], value: display(routability) };
    if (routability.startsWith('testing.x-k8s.io/') && routability !== 'testing.x-k8s.io/sentinel') {
      report({
        ...shown,
        message: `Unknown routability ${quote(routability)}: testing.x-k8s.io is reserved for tests, so no address is ever assigned. Use Cluster or a value of your implementation.`,
      });
    } else if (/\s/.test(routability)) {
      report({
        ...shown,
        message: `Invalid routability ${quote(routability)}: it contains white space. Use a value such as example.com/vpc.`,
      });
    } else if (routability === 'Cluster' && type !== 'IPAddress') {
      report({
        ...shown,
        message: `routability: Cluster conflicts with type ${display(type)}: DNS decides which addresses a name has, so no implementation can ensure the routability. Use type: IPAddress.`,
      });
    }
  },
);
