import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

type Filters = ViewAt<'Gateway', 'spec.listeners[].filters'>;

export const listenerFiltersEmpty = unenforcedRule(
  {
    id: 'listener-filters-empty',
    summary: 'The filters of a listener are empty.',
    effect: recorded,
    source: 'Gateway API v1.7.0, Listener.filters; GEP-5224',
  },
  function judge({ requests = [] }: Filters, report) {
    if (requests.length > 0) return;
    report({
      below: ['requests'],
      message:
        'filters is empty, so every request passes unchecked. Set requests with at least one filter, or remove filters.',
    });
  },
);
