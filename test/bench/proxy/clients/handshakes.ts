import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Peer } from '../measurement.ts';
import type { Channel, OpenChannels } from './exchanges.ts';

/** How a handshake begins: with a new key exchange and certificate, or with the ticket of a connection before. */
export type HandshakeKind = 'full' | 'resumed';

/**
 * Handshakes of TLS 1.3, each with a new connection that the client closes afterwards. The latency ends when the server
 * has closed the connection, too. Fails if a handshake is of the other kind.
 */
export function handshakes(kind: HandshakeKind, concurrency: number): OpenChannels {
  return async (target, eventsOf) => {
    const ticket = kind === 'resumed' ? await ticketOf(target) : undefined;
    const list = Array.from({ length: concurrency }, (_, position): Channel => {
      const events = eventsOf(position);
      return {
        send: async () => {
          try {
            const actual = await shake(target, ticket);
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

async function shake(target: Peer, ticket: Buffer | undefined): Promise<HandshakeKind> {
  const socket = open(target, ticket);
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
  const socket = open(target, undefined);
  try {
    const [ticket] = (await once(socket, 'session')) as [Buffer];
    return ticket;
  } finally {
    socket.destroy();
  }
}

function open({ address }: Peer, session: Buffer | undefined): TLSSocket {
  const ticket = session === undefined ? {} : { session };
  const socket = connect({
    ...address,
    ...ticket,
    servername: 'bench',
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
  });
  return socket.resume();
}
