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
