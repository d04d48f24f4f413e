import type { Socket } from 'node:net';

/** Bytes of a handshake that the usual count of a connection covers, and for each of which it counts once more. */
const usual = 3 * 1024;
const perCount = 2 * 1024;
/** OpenSSL takes at most 100 KiB of certificates. */
const most = 64;

/**
 * Counts connections for the memory of the certificates of their clients. OpenSSL keeps all certificates that a client sends, parsed: each byte
 * can take 14 bytes of memory, also before the handshake is complete, and whether the certificates are valid or not.
 */
export class CertificateCount {
  private readonly count: (socket: Socket) => void;
  private readonly counted = new WeakMap<Socket, number>();

  /** `count` counts a connection once more, or closes it if there is no room. */
  constructor(count: (socket: Socket) => void) {
    this.count = count;
  }

  /** The handshake of a connection has so many bytes. */
  note(socket: Socket, bytes: number): void {
    const needed = Math.min(Math.ceil((bytes - usual) / perCount), most);
    const counted = this.counted.get(socket) ?? 0;
    if (needed <= counted || socket.destroyed) return;
    this.counted.set(socket, needed);
    // Each count waits for the end of the connection.
    socket.setMaxListeners(0);
    for (let more = counted; more < needed && !socket.destroyed; more += 1) this.count(socket);
  }
}
