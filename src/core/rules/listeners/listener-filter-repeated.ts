import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

export const listenerFilterRepeated = unenforcedRule({
  id: 'listener-filter-repeated',
  summary: 'A listener asks two servers, one after the other, whether a request may pass.',
  effect: warned,
  source: 'Gateway API v1.7.0, ListenerFilter.type (each filter runs, in order); GEP-5224',
}, function judge(requests: readonly { readonly type?: string }[], report) {
  for (const [index, { type }] of requests.entries()) {
    const before = requests.findIndex((other) => other.type === type);
    if (type === 'ExternalAuth' && before !== index) report({ below: [index], value: type, message: `requests[${before}] asks a server already, so each request waits for two answers. Remove one of the two unless both have to agree.` });
  }
});
