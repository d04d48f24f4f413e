import { createSocket } from 'node:dgram';
import type { Socket, SocketOptions } from 'node:dgram';
import { lookup as resolve } from 'node:dns';
import type { LookupOneOptions } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import type { DataPlane } from '../data-plane.ts';
import { plainPeer } from '../sockets/address.ts';
import type { SharedQuota } from '../../fairness/shared-quota.ts';
import { sendAtOnce } from '../sockets/direct-datagrams.ts';

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

/** Overhead in bytes of a datagram that waits, besides its length. */
const perDatagram = 512;

/** The limits for datagrams that wait because the kernel takes no more at the moment. */
export interface SendLimits {
  /** Bytes that may wait at one socket. */
  readonly queueBytes: number;
  /** The quota for the bytes that the data plane buffers, and the client to charge. */
  readonly buffered: SharedQuota;
  readonly client: string;
}

/** @param address of the client */
export function sendLimitsOf({ limits, quotas }: Pick<DataPlane, 'limits' | 'quotas'>, address: string): SendLimits {
  return { queueBytes: limits.udpQueueBytes, buffered: quotas.buffered, client: plainPeer(address) };
}

/**
 * Sends a datagram unless it would exceed the limits. Returns whether it was accepted. Without `to` the socket must be
 * connected. It costs nothing while nothing waits.
 */
export function sendDatagram(
  socket: Socket,
  message: Buffer,
  { queueBytes, buffered, client }: SendLimits,
  to?: { readonly address: string; readonly port: number },
): boolean {
  const waiting = socket.getSendQueueSize();
  if (waiting + message.length > queueBytes) return false;
  const cost = message.length + perDatagram;
  if (waiting === 0) {
    const passed = sendAtOnce(socket, message, to);
    if (passed === 'over') return true;
    if (passed !== 'not-passed') {
      // It is not known before it is sent.
      if (buffered.take(client, cost)) passed.completed = () => buffered.release(client, cost);
      return true;
    }
  }
  // The first one that waits is not known before it is sent.
  let isCharged = waiting > 0;
  if (isCharged && !buffered.take(client, cost)) return false;
  // An unsendable datagram is lost, as it may be anywhere in the network.
  const done = (): void => {
    if (isCharged) buffered.release(client, cost);
  };
  try {
    if (to === undefined) socket.send(message, done);
    else socket.send(message, to.port, to.address, done);
  } catch (error) {
    done();
    throw error;
  }
  if (waiting === 0 && socket.getSendQueueSize() > 0) isCharged = buffered.take(client, cost);
  return true;
}
