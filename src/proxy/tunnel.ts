import { constants } from 'node:http2';
import type { Http2Stream } from 'node:http2';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Limit } from './counters.ts';
import type { ProxyLimits } from './limits.ts';
import { watchForReset } from './reset-probe.ts';

export interface TunnelCounts {
  /** Bytes of the client. */
  sent(bytes: number): void;
  /** Bytes of the backend. */
  received(bytes: number): void;
}

/** How long nothing may come on either side, and who is told when it was too long. */
export interface TunnelIdleness {
  readonly limits: Pick<ProxyLimits, 'tunnelIdleTimeout' | 'tunnelHalfClosedTimeout'>;
  readonly exceeded: (limit: Limit) => void;
}

/**
 * Joins two connections: bytes go both ways as fast as the slower side takes them, the end of one direction is passed on
 * and leaves the other open, and what breaks one breaks both. If neither side sends anything for too long, `exceeded` is
 * told, and both are broken off. That time is short once one direction has ended: nothing tells a side that only has no
 * more to say from one that is gone.
 */
export function joinTunnel(client: Duplex, backend: Duplex, counts: TunnelCounts, { limits, exceeded }: TunnelIdleness): void {
  const stop = (limit: Limit): void => {
    exceeded(limit);
    breakOff(client);
    breakOff(backend);
  };
  let timer = setTimeout(stop, limits.tunnelIdleTimeout, 'tunnel-idle').unref();
  // One side may close while the other has not taken everything yet.
  const end = (): void => {
    if (client.destroyed && backend.destroyed) clearTimeout(timer);
  };
  const halfClose = (): void => {
    clearTimeout(timer);
    timer = setTimeout(stop, limits.tunnelHalfClosedTimeout, 'tunnel-half-closed').unref();
    end();
  };
  client.once('close', end).once('end', halfClose).on('data', (chunk: Buffer) => {
    timer.refresh();
    counts.sent(chunk.length);
  });
  backend.once('close', end).once('end', halfClose).on('data', (chunk: Buffer) => {
    timer.refresh();
    counts.received(chunk.length);
  });
  carry(client, backend);
  carry(backend, client);
}

function carry(from: Duplex, to: Duplex): void {
  watchForReset(from);
  from.allowHalfOpen = true;
  from.on('error', () => undefined).once('close', () => {
    // After both ends what is on its way is still to be sent.
    if (!from.readableEnded || !to.writableEnded || wasReset(from)) breakOff(to);
  });
  from.pipe(to);
}

/** Streams of HTTP/2 end before they tell that they were reset. */
function wasReset(connection: Duplex): boolean {
  return isHttp2Stream(connection) && connection.aborted;
}

function isHttp2Stream(connection: Duplex): connection is Http2Stream {
  return 'rstCode' in connection;
}

/** Ends a connection so that what came cannot be taken for all. */
function breakOff(connection: Duplex): void {
  // RFC 8441 section 5.
  if (isHttp2Stream(connection)) connection.close(constants.NGHTTP2_CANCEL);
  // Node cannot reset a socket that is just ending: it would stay open.
  else if (connection instanceof Socket && !(connection instanceof TLSSocket) && !connection.writableEnded) connection.resetAndDestroy();
  else connection.destroy();
}
