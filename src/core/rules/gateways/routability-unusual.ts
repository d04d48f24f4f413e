import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Address } from './gateway-details.ts';

export const routabilityUnusual = unenforcedRule({
  id: 'routability-unusual',
  summary: 'An address is to be reachable from where probably no implementation can offer it.',
  effect: warned,
  source: 'GEP-5093, Address routability (unknown values are never satisfied)',
}, function judge({ type = 'IPAddress', routability = '' }: Address, report) {
  const shown = { below: ['routability'], value: display(routability) };
  if (routability.startsWith('testing.x-k8s.io/') && routability !== 'testing.x-k8s.io/sentinel') {
    report({ ...shown, message: `testing.x-k8s.io is for tests, and knows no ${quote(routability)}, so no address is ever assigned. Write Cluster or a value of your implementation.` });
  } else if (/\s/.test(routability)) {
    report({ ...shown, message: `The routability ${quote(routability)} holds white space, so no implementation knows it. Write it without, e.g. example.com/vpc.` });
  } else if (routability === 'Cluster' && type !== 'IPAddress') {
    report({ ...shown, message: `Whether a name leads to addresses of the cluster alone is for DNS to say, so routability: Cluster of type ${display(type)} may never be satisfied. Write type: IPAddress.` });
  }
});
