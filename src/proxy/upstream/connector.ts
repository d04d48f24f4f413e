import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { monotonicNow } from '../../time/clock.ts';
import { NextTurn } from '../../time/next-turn.ts';
import { TlsConnector } from './backend-tls.ts';
import type { Address } from '../sockets/address.ts';
import type { Upstream } from '../messages/forwarder.ts';

/** Callbacks for a connection attempt: exactly one is called, once, and not before `connect` has returned. */
export interface Connecting {
  established(socket: Socket): void;
  failed(error: Error): void;
}

/** A connection attempt. Destroying it before the connection is established also calls `failed`. */
export interface Attempt {
  destroy(): void;
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

  connect(connecting: Connecting): Attempt {
    return this.tls?.isLoaded === false
      ? new LaterAttempt(connecting, () => this.open(connecting))
      : this.open(connecting);
  }

  private open(connecting: Connecting): Socket {
    // First, because it may throw, and nobody would have the carrier.
    this.tls?.load();
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

/** Milliseconds of one turn of the event loop for the settings of TLS connections. */
const slice = 5;
/** The pause after a turn that took longer, as a multiple of its time: a request of another client takes several turns. */
const pauses = 3;

/** Attempts that wait for their turn, at most one for each request or connection of a client. */
const waiting = new Set<LaterAttempt>();
const nextTurn = new NextTurn(() => {
  const began = monotonicNow();
  for (const attempt of waiting) {
    waiting.delete(attempt);
    attempt.begin();
    if (monotonicNow() - began > slice) break;
  }
  const spent = monotonicNow() - began;
  if (waiting.size === 0) return;
  if (spent > slice) nextTurn.requestAfter(pauses * spent);
  else nextTurn.request();
});

/**
 * The first attempt with TLS settings, which have to be loaded. That takes 20 ms with 500 CA certificates, so many of them must not begin
 * in one turn of the event loop.
 */
class LaterAttempt implements Attempt {
  private readonly connecting: Connecting;
  private readonly open: () => Socket;
  private socket: Socket | undefined;

  constructor(connecting: Connecting, open: () => Socket) {
    this.connecting = connecting;
    this.open = open;
    waiting.add(this);
    nextTurn.request();
  }

  begin(): void {
    try {
      this.socket = this.open();
    } catch (error) {
      // Settings that cannot be used. Nobody else would catch it.
      this.connecting.failed(error as Error);
    }
  }

  destroy(): void {
    if (this.socket !== undefined) this.socket.destroy();
    else if (waiting.delete(this)) setImmediate(() => this.connecting.failed(new Error('the connection was closed')));
  }
}

/** Returns the ALPN protocol of an established connection. */
export function negotiatedProtocol(socket: Socket): string | undefined {
  const { alpnProtocol } = socket as Partial<TLSSocket>;
  return typeof alpnProtocol === 'string' ? alpnProtocol : undefined;
}
