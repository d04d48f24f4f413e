import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';

interface Filters {
  readonly requests?: readonly { readonly type?: string }[];
}

export const listenerFiltersEmpty = unenforcedRule({
  id: 'listener-filters-empty',
  summary: 'A listener has filters, but none of requests.',
  effect: recorded,
  source: 'Gateway API v1.7.0, Listener.filters; GEP-5224',
}, function judge({ requests = [] }: Filters, report) {
  if (requests.length > 0) return;
  report({ below: ['requests'], message: 'filters holds no filter, so every request passes unchecked. Write requests with the filters, or remove filters.' });
});
