import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { TlsConnector } from './backend-tls.ts';
import type { Address } from '../sockets/address.ts';
import type { Upstream } from '../messages/forwarder.ts';

/** Callbacks for a connection attempt: exactly one is called, once, and not before `connect` has returned. */
export interface Connecting {
  established(socket: Socket): void;
  failed(error: Error): void;
}

/** Functions that open connections: unencrypted ones, and those below TLS. */
export interface Openers {
  readonly plain: (address: Address) => Socket;
  readonly carrier: (address: Address) => Socket;
}

const usualOpeners: Openers = { plain: connect, carrier: connect };

/** Opens connections to an upstream, over TLS if it is configured. */
export class Connector {
  private readonly upstream: Upstream;
  private readonly tls: TlsConnector | undefined;
  private readonly timeout: number;
  private readonly openers: Openers;

  /** `protocols` are offered in TLS handshakes (RFC 7301); `timeout` is in milliseconds. */
  constructor(upstream: Upstream, protocols: readonly string[], timeout: number, openers = usualOpeners) {
    this.upstream = upstream;
    this.tls = upstream.tls === undefined ? undefined : new TlsConnector(upstream.tls, protocols);
    this.timeout = timeout;
    this.openers = openers;
  }

  /** Destroying the socket before it is established also calls `failed`. */
  connect(connecting: Connecting): Socket {
    const { host, port } = this.upstream;
    const socket = this.tls?.connect(this.openers.carrier({ host, port })) ?? this.openers.plain({ host, port });
    socket.setNoDelay(true).setKeepAlive(true, 60_000);
    let overdue: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // If the process did not run for so long, the connection may be established: the event loop polls sockets after timers.
      overdue = setImmediate(() => socket.destroy(new Error('the connection took too long')));
    }, this.timeout);
    const stopTimer = (): void => {
      clearTimeout(timer);
      clearImmediate(overdue);
    };
    let cause = new Error('the connection was closed');
    const note = (error: Error): void => {
      cause = error;
    };
    const fail = (): void => {
      stopTimer();
      connecting.failed(cause);
    };
    socket.on('error', note).once('close', fail);
    if (this.tls?.lacks !== undefined) socket.destroy(new Error(this.tls.lacks));
    socket.once(this.tls === undefined ? 'connect' : 'secureConnect', () => {
      stopTimer();
      socket.off('close', fail).off('error', note);
      connecting.established(socket);
    });
    return socket;
  }
}

/** Returns the ALPN protocol of an established connection. */
export function negotiatedProtocol(socket: Socket): string | undefined {
  const { alpnProtocol } = socket as Partial<TLSSocket>;
  return typeof alpnProtocol === 'string' ? alpnProtocol : undefined;
}
