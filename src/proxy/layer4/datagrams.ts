import { createSocket } from 'node:dgram';
import type { Socket, SocketOptions } from 'node:dgram';
import { lookup as resolve } from 'node:dns';
import type { LookupOneOptions } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';

/** Receive buffer of a socket in bytes. The kernel grants less if `net.core.rmem_max` is lower. */
const receiveBuffer = 1024 * 1024;

/** Opens a datagram socket of one address family. It accepts literal addresses without DNS, in the same tick. */
export function openDatagrams(host: string, options: Omit<SocketOptions, 'type' | 'lookup'> = {}): Socket {
  return createSocket({ ...options, type: isIPv6(host) ? 'udp6' : 'udp4', lookup: lookupLiteral });
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string, family: number) => void;

function lookupLiteral(host: string, options: LookupOneOptions, callback: LookupCallback): void {
  const family = isIP(host);
  if (family === 0) resolve(host, options, callback);
  else callback(null, host, family);
}

/** Binds a socket. Rejects with the system's error. Later errors are temporary, and must not end the process. */
export function bindDatagrams(socket: Socket, host: string, port: number): Promise<void> {
  return new Promise((done, reject) => {
    const fail = (error: Error): void => {
      socket.close();
      reject(error);
    };
    socket.once('error', fail);
    socket.bind(port, host, () => {
      socket.off('error', fail).on('error', () => undefined);
      try {
        socket.setRecvBufferSize(receiveBuffer);
      } catch {
        // The default size suffices for ordinary traffic.
      }
      done();
    });
  });
}

/**
 * Sends a datagram unless the socket's send queue would exceed `limit` bytes. Returns whether it was accepted. Without
 * `to` the socket must be connected.
 */
export function sendDatagram(
  socket: Socket,
  message: Buffer,
  limit: number,
  to?: { readonly address: string; readonly port: number },
): boolean {
  if (socket.getSendQueueSize() + message.length > limit) return false;
  // An unsendable datagram is lost, as it may be anywhere in the network.
  const ignore = (): void => undefined;
  if (to === undefined) socket.send(message, ignore);
  else socket.send(message, to.port, to.address, ignore);
  return true;
}
