import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { ClientValidation, ListenerConfig } from '../../core/routing/config.ts';
import { negotiatedProtocol } from '../upstream/connector.ts';
import type { DataPlane } from '../data-plane.ts';
import type { Handshakes } from '../listen/handshakes.ts';
import { originOf } from '../proxy-protocol/origin.ts';
import { reset } from '../sockets/reset.ts';
import { TlsAcceptor } from '../listen/tls-acceptor.ts';
import type { AcceptorHandlers, Decrypted } from '../listen/tls-acceptor.ts';
import type { CertificatePair } from '../listen/identities.ts';
import type { ClientHello } from './client-hello.ts';
import type { Arrival } from './connection.ts';
import { readHello } from './hello-reader.ts';
import { closeGently } from '../messages/connection.ts';
import { reportOf, traceInHello } from './trace.ts';
import type { Recognized } from './trace.ts';

/** The parts of a port that all of its TLS connections share. */
export interface SecurePort {
  readonly handshakes: Handshakes;
  /** Returns the listener for a server name in lower case, `''` if the client sends none. */
  listenerFor(serverName: string): ListenerConfig | undefined;
  contextFor(serverName: string): SecureContext | undefined;
  /** Takes a connection of an HTTPS listener, which is read from its first byte. */
  acceptHttps(socket: Socket): void;
  /** Calls `begin` when there is room for the TLS state of a connection. Otherwise the connection ends. */
  countTls(socket: Socket, begin: () => void): void;
}

/** What a connection keeps of its ClientHello, which can have thousands of protocols. */
interface Terminating {
  readonly listener: ListenerConfig;
  readonly serverName: string;
}

/**
 * The TLS connections of a port with TLS listeners. Selects the listener by the server name in the ClientHello, and
 * terminates TLS or passes the connection through. A connection without a listener, or with a malformed ClientHello, is
 * closed without an alert.
 */
export class TlsDispatch {
  /** The port of the listeners. */
  port = 0;
  private readonly plane: DataPlane;
  private readonly secure: SecurePort;
  private readonly forward: (arrival: Arrival) => void;
  private readonly terminating = new WeakMap<Socket, Terminating>();
  /** For clients that offer at most one protocol, and for those that offer several. */
  private readonly confirming: TlsAcceptor;
  private readonly silent: TlsAcceptor;

  constructor(plane: DataPlane, secure: SecurePort, forward: (arrival: Arrival) => void) {
    this.plane = plane;
    this.secure = secure;
    this.forward = forward;
    const acceptor = (negotiation: AcceptorHandlers['negotiation']): TlsAcceptor =>
      new TlsAcceptor(plane, secure.handshakes, {
        negotiation,
        contextFor: (serverName) => secure.contextFor(serverName),
        accepted: (decrypted) => this.accepted(decrypted),
      });
    // A single protocol is confirmed, because some clients require it (RFC 7301). With several, the backend's protocol
    // is unknown, and a server need not select one.
    this.confirming = acceptor({ ALPNCallback: ({ protocols }) => protocols[0] });
    this.silent = acceptor({});
  }

  /** See `TlsTermination.configure`. */
  configure(first: CertificatePair | undefined, validation: ClientValidation | undefined): void {
    for (const acceptor of [this.confirming, this.silent]) acceptor.configure(first, validation);
  }

  /** Accepts a connection whose first byte begins a TLS handshake. */
  accept(socket: Socket): void {
    const { handshakes } = this.secure;
    const { limits, quotas } = this.plane;
    handshakes.begun(socket);
    readHello(socket, limits, (hello) => {
      handshakes.done(socket);
      if (typeof hello !== 'string') {
        this.dispatch(socket, hello);
        return;
      }
      if (hello === 'too-long') quotas.reached('client-hello');
      else if (hello === 'timeout') quotas.reached('handshake-time');
      this.refuse(socket);
    });
  }

  private dispatch(socket: Socket, hello: ClientHello): void {
    const listener = this.secure.listenerFor(hello.serverName);
    const trace = traceInHello(this.plane.tracing, this.port, hello);
    if (trace !== undefined) this.answer(socket, { listener, hello }, trace);
    else if (listener === undefined) this.refuse(socket);
    else if (listener.protocol === 'HTTPS') this.secure.acceptHttps(socket);
    else if (listener.tlsMode === 'Terminate') this.terminate(socket, listener, hello);
    else this.forward({ socket, ...arrivalOf(socket, { listener, serverName: hello.serverName }), protocols: [] });
  }

  /** Answers a trace before TLS: neither a handshake nor a request is part of it. */
  private answer(
    socket: Socket,
    { listener, hello }: { readonly listener: ListenerConfig | undefined; readonly hello: ClientHello },
    trace: Exclude<Recognized, undefined>,
  ): void {
    if (trace !== 'spent' && listener?.protocol === 'TLS') {
      this.forward({
        socket,
        ...arrivalOf(socket, { listener, serverName: hello.serverName }),
        protocols: [],
        trace,
      });
      return;
    }
    this.plane.counters.layer4.reasons.trace += 1;
    if (trace === 'spent') reset(socket);
    else closeGently(socket, trace(reportOf({ listener }, listener === undefined ? 'no-listener' : undefined)));
  }

  private terminate(socket: Socket, listener: ListenerConfig, { serverName, protocols }: ClientHello): void {
    this.terminating.set(socket, { listener, serverName });
    const acceptor = protocols.length > 1 ? this.silent : this.confirming;
    this.secure.countTls(socket, () => acceptor.accept(socket));
  }

  private accepted({ socket, below, serverName }: Decrypted): void {
    const terminating = this.terminating.get(below);
    // The handshake must use the server name that selected the listener.
    if (terminating === undefined || terminating.serverName !== serverName) {
      socket.destroy();
      return;
    }
    const protocol = negotiatedProtocol(socket);
    this.forward({ socket, ...arrivalOf(below, terminating), protocols: protocol === undefined ? [] : [protocol] });
  }

  private refuse(socket: Socket): void {
    this.count();
    reset(socket);
  }

  private count(): void {
    this.plane.counters.tlsFailures += 1;
  }
}

function arrivalOf(carrier: Socket, { listener, serverName }: Terminating): Omit<Arrival, 'socket' | 'protocols'> {
  return { transport: 'tls', origin: originOf(carrier), listener, serverName };
}
