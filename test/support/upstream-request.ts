import { SharedQuota } from '../../src/fairness/shared-quota.ts';
import { Buffered } from '../../src/proxy/limits/buffered.ts';
import type { UpstreamRequest } from '../../src/proxy/messages/forwarder.ts';

/** A request to a backend: a GET without a body, except for `parts`. */
export function upstreamRequest(parts: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    client: '',
    upstream: { host: 'a', port: 1 },
    method: 'GET',
    target: '/',
    fields: ['host', 'a'],
    body: undefined,
    ...parts,
  };
}

/** An account that always has room. */
export function roomyAccount(): Buffered {
  return new Buffered(new SharedQuota(Infinity, () => undefined), '');
}
