import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { HandshakeTurns } from '../../handshakes/handshake-turns.ts';
import { monotonicNow } from '../../time/clock.ts';
import { NextTurn } from '../../time/next-turn.ts';
import { TlsConnector } from './backend-tls.ts';
import type { Address } from '../sockets/address.ts';
import type { FormerContexts } from '../limits/former-contexts.ts';
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

export interface ConnectorOptions {
  /** The protocols offered in TLS handshakes (RFC 7301). */
  readonly protocols: readonly string[];
  /** Milliseconds until a connection has to be established. */
  readonly timeout: number;
  /** The TLS contexts of open connections. */
  readonly contexts: FormerContexts;
}

/** Opens connections to an upstream, over TLS if it is configured. */
export class Connector {
  private readonly upstream: Upstream;
  private readonly tls: TlsConnector | undefined;
  private readonly timeout: number;
  private readonly contexts: FormerContexts;
  private readonly openers: Openers;

  constructor(upstream: Upstream, options: ConnectorOptions, openers = usualOpeners) {
    this.upstream = upstream;
    this.tls = upstream.tls === undefined ? undefined : new TlsConnector(upstream.tls, options.protocols);
    this.timeout = options.timeout;
    this.contexts = options.contexts;
    this.openers = openers;
  }

  connect(connecting: Connecting): Attempt {
    return this.tls?.isLoaded === false
      ? new LaterAttempt(connecting, this.tls.isCostly ? costly : cheap, () => this.open(connecting))
      : this.open(connecting);
  }

  private open(connecting: Connecting): Attempt {
    // First, because it may throw, and nobody would have the carrier.
    const context = this.tls?.load();
    const address = { host: this.upstream.host, port: this.upstream.port };
    const opened = this.tls === undefined ? this.openers.plain(address) : this.openers.carrier(address);
    if (context !== undefined) this.contexts.hold(opened, context, this.upstream);
    return new OpenAttempt(opened, this.tls, this.timeout, connecting);
  }
}

/** The TLS handshakes with all backends. Hundreds at a time are usual for a backend that ends each connection after its response. */
const handshakes = new HandshakeTurns();

/** An attempt whose connection is being opened. */
class OpenAttempt implements Attempt {
  private readonly connecting: Connecting;
  /** The connection, or TLS above it from the beginning of the handshake. */
  private socket: Socket;
  private cause = new Error('the connection was closed');
  private readonly timer: NodeJS.Timeout;
  private overdue: NodeJS.Immediate | undefined;

  constructor(opened: Socket, tls: TlsConnector | undefined, timeout: number, connecting: Connecting) {
    this.connecting = connecting;
    this.socket = opened;
    opened.setNoDelay(true).setKeepAlive(true, 60_000);
    this.timer = setTimeout(() => {
      // If the process did not run for so long, the connection may be established: the event loop polls sockets after timers.
      this.overdue = setImmediate(() => this.socket.destroy(new Error('the connection took too long')));
    }, timeout);
    this.follow(opened);
    if (tls === undefined) opened.once('connect', this.established);
    else this.secure(opened, tls);
  }

  destroy(): void {
    this.socket.destroy();
  }

  private secure(carrier: Socket, tls: TlsConnector): void {
    if (tls.lacks !== undefined) carrier.destroy(new Error(tls.lacks));
    // TLS reads everything, also an end that arrives while the handshake waits for its turn.
    carrier.pause();
    carrier.once('connect', () => {
      handshakes.begun(carrier);
      handshakes.take(carrier, () => {
        carrier.off('close', this.failed).off('error', this.note);
        this.socket = tls.connect(carrier);
        this.follow(this.socket);
        const done = (): void => void handshakes.done(carrier);
        this.socket.once('error', done).once('secureConnect', () => {
          this.socket.off('error', done);
          done();
          this.established();
        });
      });
    });
  }

  private follow(socket: Socket): void {
    socket.on('error', this.note).once('close', this.failed);
  }

  private readonly established = (): void => {
    this.stopTimer();
    this.socket.off('close', this.failed).off('error', this.note);
    this.connecting.established(this.socket);
  };

  private readonly note = (error: Error): void => {
    this.cause = error;
  };

  private readonly failed = (): void => {
    this.stopTimer();
    this.connecting.failed(this.cause);
  };

  private stopTimer(): void {
    clearTimeout(this.timer);
    clearImmediate(this.overdue);
  }
}

/** Milliseconds of one turn of the event loop for the settings of TLS connections. */
const slice = 5;
/** The pause after a turn that took longer, as a multiple of its time: a request of another client takes several turns. */
const pauses = 3;

/** Attempts that wait for their turn, at most one for each request or connection of a client. */
class WaitingAttempts {
  private readonly waiting = new Set<LaterAttempt>();
  private readonly nextTurn = new NextTurn(() => this.begin());

  add(attempt: LaterAttempt): void {
    this.waiting.add(attempt);
    this.nextTurn.request();
  }

  /** Returns whether the attempt still waited. */
  delete(attempt: LaterAttempt): boolean {
    return this.waiting.delete(attempt);
  }

  private begin(): void {
    const began = monotonicNow();
    for (const attempt of this.waiting) {
      this.waiting.delete(attempt);
      attempt.begin();
      if (monotonicNow() - began > slice) break;
    }
    const spent = monotonicNow() - began;
    if (this.waiting.size === 0) return;
    if (spent > slice) this.nextTurn.requestAfter(pauses * spent);
    else this.nextTurn.request();
  }
}

/** Attempts with few CA certificates do not wait for those with many, and for their pauses. */
const cheap = new WaitingAttempts();
const costly = new WaitingAttempts();

/**
 * The first attempt with TLS settings, which have to be loaded. That takes 20 ms with 500 CA certificates, so many of them must not begin
 * in one turn of the event loop.
 */
class LaterAttempt implements Attempt {
  private readonly connecting: Connecting;
  private readonly waiting: WaitingAttempts;
  private readonly open: () => Attempt;
  private opened: Attempt | undefined;

  constructor(connecting: Connecting, waiting: WaitingAttempts, open: () => Attempt) {
    this.connecting = connecting;
    this.waiting = waiting;
    this.open = open;
    waiting.add(this);
  }

  begin(): void {
    try {
      this.opened = this.open();
    } catch (error) {
      // Settings that cannot be used. Nobody else would catch it.
      this.connecting.failed(error as Error);
    }
  }

  destroy(): void {
    if (this.opened !== undefined) this.opened.destroy();
    else if (this.waiting.delete(this))
      setImmediate(() => this.connecting.failed(new Error('the connection was closed')));
  }
}

/** Returns the ALPN protocol of an established connection. */
export function negotiatedProtocol(socket: Socket): string | undefined {
  const { alpnProtocol } = socket as Partial<TLSSocket>;
  return typeof alpnProtocol === 'string' ? alpnProtocol : undefined;
}
