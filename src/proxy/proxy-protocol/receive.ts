import type { Socket } from 'node:net';
import type { ProxyCounters } from '../counters.ts';
import { reset } from '../sockets/reset.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { readStart } from '../listen/peek.ts';
import type { Quotas } from '../limits/quota.ts';
import { clientHostOf, noteOrigin } from './origin.ts';
import type { Origin } from './origin.ts';
import { parseProxyHeader } from './parse.ts';

/** The parts of the data plane that receiving a PROXY header requires. */
export interface Receiver {
  readonly limits: ProxyLimits;
  readonly quotas: Quotas;
  readonly counters: ProxyCounters;
}

/**
 * Reads the PROXY header at the beginning of a connection and records its origin. From then on, the connection counts
 * for that client's share. `done` is called when the connection can be read from the byte after the header. A
 * connection without a complete and valid header in time is reset.
 */
export function receiveHeader(socket: Socket, { limits, quotas, counters }: Receiver, done: () => void): void {
  const refuse = (): void => {
    counters.proxyHeaderFailures += 1;
    reset(socket);
  };
  readStart(
    socket,
    {
      timeout: limits.proxyHeaderTimeout,
      overdue: () => quotas.reached('proxy-header-time'),
      failed: refuse,
      read: (bytes) => {
        const header = parseProxyHeader(bytes, limits.proxyHeaderBytes);
        return header === undefined
          ? undefined
          : { found: header, taken: typeof header === 'string' ? 0 : header.length };
      },
    },
    (header) => {
      if (typeof header === 'string') {
        if (header === 'too-long') quotas.reached('proxy-header');
        refuse();
        return;
      }
      if (header.origin !== undefined && !moveTo(socket, header.origin, quotas)) {
        reset(socket);
        return;
      }
      // Until the next tick, Node still treats the socket as read by the `readable` event.
      process.nextTick(() => {
        if (!socket.destroyed) done();
      });
    },
  );
}

/** Counts the connection for the client in the header instead of the load balancer; `false` if a limit of that client is reached. */
function moveTo(socket: Socket, origin: Origin, { clients, connections }: Quotas): boolean {
  const [former, client] = [clientHostOf(socket), origin.client.host];
  if (!clients.take(client)) return false;
  connections.release(former);
  if (!connections.take(client)) {
    connections.exceed(former);
    clients.release(client);
    return false;
  }
  clients.release(former);
  noteOrigin(socket, origin);
  return true;
}
