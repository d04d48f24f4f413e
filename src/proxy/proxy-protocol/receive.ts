import type { Socket } from 'node:net';
import type { ProxyCounters } from '../counters.ts';
import { reset } from '../reset.ts';
import type { ProxyLimits } from '../limits.ts';
import { readStart } from '../peek.ts';
import type { Quotas } from '../quota.ts';
import { noteOrigin, originOf } from './origin.ts';
import type { Origin } from './origin.ts';
import { parseProxyHeader } from './parse.ts';

/** The parts of the data plane that receive PROXY headers. */
export interface Receiver {
  readonly limits: ProxyLimits;
  readonly quotas: Quotas;
  readonly counters: ProxyCounters;
}

/**
 * Takes the PROXY header from the beginning of a connection and notes the origin that it tells. From then on, the connection belongs to
 * the share of that client. `done` comes when the connection can be read from the byte behind the header. A connection without a
 * complete and valid header in time is reset.
 */
export function receiveHeader(socket: Socket, { limits, quotas, counters }: Receiver, done: () => void): void {
  const refuse = (): void => {
    counters.proxyHeaderFailures += 1;
    reset(socket);
  };
  readStart(socket, {
    timeout: limits.proxyHeaderTimeout,
    overdue: () => quotas.reached('proxy-header-time'),
    failed: refuse,
    read: (bytes) => {
      const header = parseProxyHeader(bytes, limits.proxyHeaderBytes);
      return header === undefined ? undefined : { found: header, taken: typeof header === 'string' ? 0 : header.length };
    },
  }, (header) => {
    if (typeof header === 'string') {
      if (header === 'too-long') quotas.reached('proxy-header');
      refuse();
      return;
    }
    if (header.origin !== undefined && !moveTo(socket, header.origin, quotas)) {
      reset(socket);
      return;
    }
    // Node still takes the socket for one that is read by the event `readable`, until the next tick.
    process.nextTick(() => {
      if (!socket.destroyed) done();
    });
  });
}

/** Counts the connection to the client that the header tells in place of the load balancer; `false` where that client has too many. */
function moveTo(socket: Socket, origin: Origin, { clients }: Quotas): boolean {
  if (!clients.take(origin.client.host)) return false;
  clients.release(originOf(socket).client.host);
  noteOrigin(socket, origin);
  return true;
}
