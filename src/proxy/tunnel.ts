import type { Duplex } from 'node:stream';
import type { DataPlane } from './data-plane.ts';
import { Relay } from './relay.ts';

/**
 * Joins the connections of a request that has switched protocols, until both end or neither sends anything for too long. `answered`
 * is told of the bytes of the backend.
 */
export function joinTunnel(client: Duplex, backend: Duplex, { counters, limits, quotas }: DataPlane, answered: (bytes: number) => void): void {
  // It lives for as long as the listeners that it has added.
  void new Relay(client, backend, { idle: limits.tunnelIdleTimeout, halfClosed: limits.tunnelHalfClosedTimeout }, {
    received: (bytes) => (counters.requestBytes += bytes),
    sent: answered,
    ended: (failure) => {
      if (failure === 'idle') quotas.reached('tunnel-idle');
      else if (failure === 'halfClosed') quotas.reached('tunnel-half-closed');
    },
  });
}
