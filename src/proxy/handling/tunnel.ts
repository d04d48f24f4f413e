import type { Duplex } from 'node:stream';
import type { ForwardedRequest } from './forwarded-request.ts';
import { Relay } from '../sockets/relay.ts';

/** Joins the connections of a request that has switched protocols, until both end or the idle timeout is reached. */
export function joinTunnel(client: Duplex, backend: Duplex, request: ForwardedRequest): void {
  const {
    address,
    plane: { counters, limits, quotas },
  } = request;
  // Its listeners keep it alive.
  void new Relay(
    client,
    backend,
    { idle: limits.tunnelIdleTimeout, halfClosed: limits.tunnelHalfClosedTimeout },
    {
      received: (bytes) => (counters.requestBytes += bytes),
      sent: (bytes) => (request.responseBytes += bytes),
      buffered: quotas.buffered,
      address,
      ended: (failure) => {
        if (failure === 'idle') quotas.reached('tunnel-idle');
        else if (failure === 'halfClosed') quotas.reached('tunnel-half-closed');
      },
    },
  );
}
