import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { TlsConnector } from './backend-tls.ts';
import type { Address } from './address.ts';
import type { Upstream } from './forwarder.ts';

/** What becomes of a connection that is being made: one of both, once, and not before `connect` has returned. */
export interface Connecting {
  established(socket: Socket): void;
  failed(error: Error): void;
}

/**
 * What is read from connections that are not encrypted comes by way of this memory, so that no read needs memory of its own
 * for the most that could come. It is used up before anything else is read.
 */
const readInto = Buffer.allocUnsafeSlow(64 * 1024);

/** Opens a connection without TLS, whose bytes come as copies by the event `data` alone: nobody can `read` them. */
export function connectForData(address: Address): Socket {
  const callback = (length: number): true => {
    socket.emit('data', Buffer.from(readInto.subarray(0, length)));
    return true;
  };
  const socket = connect({ ...address, onread: { buffer: readInto, callback } });
  return socket;
}

/** Makes connections to an upstream, over TLS where it asks for it. */
export class Connector {
  private readonly upstream: Upstream;
  private readonly tls: TlsConnector | undefined;
  private readonly timeout: number;
  private readonly open: (address: Address) => Socket;

  /** `protocols` are offered in TLS handshakes (RFC 7301); `timeout` is milliseconds; `open` makes connections without TLS. */
  constructor(upstream: Upstream, protocols: readonly string[], timeout: number, open: (address: Address) => Socket = connect) {
    this.upstream = upstream;
    this.tls = upstream.tls === undefined ? undefined : new TlsConnector(upstream.tls, protocols);
    this.timeout = timeout;
    this.open = open;
  }

  /** Destroying the socket before it is established is a failure too. */
  connect(connecting: Connecting): Socket {
    const { host, port } = this.upstream;
    const socket = this.tls?.connect(host, port) ?? this.open({ host, port });
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    const timer = setTimeout(() => socket.destroy(new Error('the connection took too long')), this.timeout);
    let cause = new Error('the connection was closed');
    const note = (error: Error): void => {
      cause = error;
    };
    const fail = (): void => {
      clearTimeout(timer);
      connecting.failed(cause);
    };
    socket.on('error', note).once('close', fail);
    socket.once(this.tls === undefined ? 'connect' : 'secureConnect', () => {
      clearTimeout(timer);
      socket.off('close', fail).off('error', note);
      connecting.established(socket);
    });
    return socket;
  }
}

/** What TLS has negotiated on an established connection. */
export function negotiatedProtocol(socket: Socket): string | undefined {
  const { alpnProtocol } = socket as Partial<TLSSocket>;
  return typeof alpnProtocol === 'string' ? alpnProtocol : undefined;
}
