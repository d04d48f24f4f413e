import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

export const listenerFilterRepeated = unenforcedRule(
  {
    id: 'listener-filter-repeated',
    summary: 'A listener has more than one ExternalAuth filter.',
    effect: warned,
    source: 'Gateway API v1.7.0, ListenerFilter.type (each filter runs, in order); GEP-5224',
  },
  function judge(requests: ViewAt<'Gateway', 'spec.listeners[].filters.requests'>, report) {
    for (const [index, { type }] of requests.entries()) {
      const before = requests.findIndex((other) => other.type === type);
      if (type === 'ExternalAuth' && before !== index)
        report({
          below: [index],
          value: type,
          message: `Duplicate ExternalAuth filter: requests[${before}] has the same type, so two servers must authorize each request. Remove one of them, unless both must agree.`,
        });
    }
  },
);
