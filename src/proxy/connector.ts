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
function connectForData(address: Address): Socket {
  const callback = (length: number): true => {
    socket.emit('data', Buffer.from(readInto.subarray(0, length)));
    return true;
  };
  const socket = connect({ ...address, onread: { buffer: readInto, callback } });
  return socket;
}

/** How connections are opened: those that are not encrypted, and those that carry TLS. */
export interface Openers {
  readonly plain: (address: Address) => Socket;
  readonly carrier: (address: Address) => Socket;
}

const usualOpeners: Openers = { plain: connect, carrier: connect };

/** Opens unencrypted connections with `connectForData`. */
export const openersForData: Openers = { plain: connectForData, carrier: connect };

/** Makes connections to an upstream, over TLS where it asks for it. */
export class Connector {
  private readonly upstream: Upstream;
  private readonly tls: TlsConnector | undefined;
  private readonly timeout: number;
  private readonly openers: Openers;

  /** `protocols` are offered in TLS handshakes (RFC 7301); `timeout` is milliseconds. */
  constructor(upstream: Upstream, protocols: readonly string[], timeout: number, openers = usualOpeners) {
    this.upstream = upstream;
    this.tls = upstream.tls === undefined ? undefined : new TlsConnector(upstream.tls, protocols);
    this.timeout = timeout;
    this.openers = openers;
  }

  /** Destroying the socket before it is established is a failure too. */
  connect(connecting: Connecting): Socket {
    const { host, port } = this.upstream;
    const socket = this.tls?.connect(this.openers.carrier({ host, port })) ?? this.openers.plain({ host, port });
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
