import { once } from 'node:events';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Peer } from '../measurement.ts';
import type { Channel, OpenChannels } from './exchanges.ts';

/** How a handshake begins: with a new key exchange and certificate, or with the ticket of a connection before. */
export type HandshakeKind = 'full' | 'resumed';

export interface HandshakeOptions {
  /** Handshakes in progress at the same time. */
  readonly concurrency: number;
  /** The only key exchange that the client offers. */
  readonly group: string | undefined;
}

/**
 * Handshakes of TLS 1.3, each with a new connection that the client closes afterwards. The latency ends when the server
 * has closed the connection, too. Fails if a handshake is of the other kind.
 */
export function handshakes(kind: HandshakeKind, { concurrency, group }: HandshakeOptions): OpenChannels {
  return async (target, eventsOf) => {
    const options = {
      ...(group === undefined ? {} : { ecdhCurve: group }),
      ...(kind === 'resumed' ? { session: await ticketOf(target) } : {}),
    };
    const list = Array.from({ length: concurrency }, (_, position): Channel => {
      const events = eventsOf(position);
      return {
        send: async () => {
          try {
            const actual = await shake(target, options);
            if (actual !== kind) throw new Error(`handshake with ${target.name} is ${actual}, must be ${kind}`);
            events.onReply();
          } catch (error) {
            events.onFailure(error as Error);
          }
        },
      };
    });
    return { list, close: () => undefined };
  };
}

async function shake(target: Peer, options: ConnectionOptions): Promise<HandshakeKind> {
  const socket = open(target, options);
  const closed = once(socket, 'close');
  // If this is an error, the next line throws it.
  closed.catch(() => undefined);
  await once(socket, 'secureConnect');
  const kind = socket.isSessionReused() ? 'resumed' : 'full';
  socket.end();
  await closed;
  return kind;
}

async function ticketOf(target: Peer): Promise<Buffer> {
  const socket = open(target, {});
  try {
    const [ticket] = (await once(socket, 'session')) as [Buffer];
    return ticket;
  } finally {
    socket.destroy();
  }
}

function open({ address }: Peer, options: ConnectionOptions): TLSSocket {
  const socket = connect({
    ...address,
    ...options,
    servername: 'bench',
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
  });
  return socket.resume();
}
