import type { Socket } from 'node:net';

export type WireProtocol = 'tls' | 'http2' | 'http1';

// RFC 9113 section 3.4.
const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
// RFC 8446 section 5.1: the record type of a handshake, which a ClientHello opens.
const tlsHandshake = 0x16;

/** What the first bytes of a connection open; `undefined` while they may still become an HTTP/2 preface. */
export function detectProtocol(bytes: Buffer): WireProtocol | undefined {
  if (bytes[0] === tlsHandshake) return 'tls';
  const known = Math.min(bytes.length, http2Preface.length);
  if (bytes.compare(http2Preface, 0, known, 0, known) !== 0) return 'http1';
  return known === http2Preface.length ? 'http2' : undefined;
}

/**
 * Looks at the first bytes of a connection and gives them back to it, so that whoever takes it over reads from the
 * start. A connection that ends, fails, or stays undecided for `timeout` milliseconds is closed, and nothing is handed over;
 * `overdue` is told of the latter.
 */
export function peek(socket: Socket, { timeout, overdue }: { readonly timeout: number; readonly overdue: () => void }, handOver: (protocol: WireProtocol, socket: Socket) => void): void {
  let seen = Buffer.alloc(0);
  const timer = setTimeout(() => {
    overdue();
    socket.destroy();
  }, timeout);
  const stop = (): void => {
    clearTimeout(timer);
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('close', stop);
  };
  const giveUp = (): void => {
    stop();
    socket.destroy();
  };
  const look = (): void => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return;
    seen = Buffer.concat([seen, bytes]);
    const protocol = detectProtocol(seen);
    if (protocol === undefined) return;
    stop();
    socket.unshift(seen);
    handOver(protocol, socket);
  };
  socket.on('readable', look).on('end', giveUp).on('error', giveUp).on('close', stop);
}
