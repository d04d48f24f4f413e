import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientValidation } from '../../core/routing/config.ts';
import { awaitFirstRecord } from '../../handshakes/first-record.ts';
import { closeAfterErrors, limitLateMessages } from '../../handshakes/late-messages.ts';
import type { DataPlane } from '../data-plane.ts';
import type { Handshakes } from './handshakes.ts';
import { noteCarrier } from '../sockets/reset-probe.ts';
import { TlsTermination } from './tls-termination.ts';
import type { TlsHandlers } from './tls-termination.ts';
import type { CertificatePair } from './identities.ts';
import { hostnameKey } from '../../core/text/hostname.ts';

/** A connection whose TLS handshake is complete. */
export interface Decrypted {
  readonly socket: TLSSocket;
  /** The socket below it. */
  readonly below: Socket;
  /** In lower case; `''` if the client sends none. */
  readonly serverName: string;
}

export interface AcceptorHandlers extends Pick<TlsHandlers, 'negotiation' | 'contextFor'> {
  readonly accepted: (decrypted: Decrypted) => void;
}

/** Terminates TLS for the clients of a port. Limits the number and time of handshakes, and counts failures. */
export class TlsAcceptor {
  private readonly plane: DataPlane;
  private readonly handshakes: Handshakes;
  private readonly handlers: AcceptorHandlers;
  private readonly termination: TlsTermination;
  private asksForCertificates = false;

  constructor(plane: DataPlane, handshakes: Handshakes, handlers: AcceptorHandlers) {
    this.plane = plane;
    this.handshakes = handshakes;
    this.handlers = handlers;
    this.termination = new TlsTermination(plane.limits, {
      negotiation: handlers.negotiation,
      contextFor: handlers.contextFor,
      ticketKeys: plane.ticketKeys,
      accepted: (socket) => this.accepted(socket),
      failed: ({ code }, socket) => {
        handshakes.done(socket);
        this.failed(code === 'ERR_TLS_HANDSHAKE_TIMEOUT' ? 'timeout' : 'ended');
      },
      replaced: (defaults) => plane.quotas.contexts.leave(defaults),
    });
  }

  /** See `TlsTermination.configure`. */
  configure(first: CertificatePair | undefined, validation: ClientValidation | undefined): void {
    this.asksForCertificates = validation !== undefined;
    this.termination.configure(first, validation);
  }

  /** Starts the handshake of a connection, when its first record is complete and it is its turn. */
  accept(socket: Socket): void {
    this.handshakes.begun(socket);
    // A client that ends its side during the handshake never completes it.
    socket.allowHalfOpen = false;
    awaitFirstRecord(socket, {
      timeout: this.plane.limits.tlsHandshakeTimeout,
      complete: (begin) => {
        const start = (): void => {
          begin();
          this.termination.accept(socket);
          this.plane.quotas.contexts.hold(socket, this.termination.defaults);
        };
        if (this.asksForCertificates) this.handshakes.takeWithCertificate(socket, start);
        else this.handshakes.take(socket, start);
      },
      failed: (reason) => {
        this.failed(reason);
        socket.destroy();
      },
    });
  }

  private failed(reason: 'ended' | 'timeout'): void {
    this.plane.counters.tlsFailures += 1;
    if (reason === 'timeout') this.plane.quotas.reached('handshake-time');
  }

  private accepted(socket: TLSSocket): void {
    const below = this.handshakes.done(socket);
    if (below === undefined) {
      socket.destroy();
      return;
    }
    noteCarrier(socket, below);
    closeAfterErrors(socket);
    limitLateMessages(socket, below, () => {
      this.plane.quotas.reached('tls-messages');
      socket.destroy();
    });
    socket.allowHalfOpen = true;
    // The other bytes were encrypted data, which is known in the next turn.
    if (this.asksForCertificates)
      setImmediate(() => this.handshakes.presented(below, below.bytesRead - socket.bytesRead));
    const serverName = typeof socket.servername === 'string' ? hostnameKey(socket.servername) : '';
    // If the certificate was replaced during the handshake, this is the next one, which has as many bytes.
    const named = serverName === '' ? undefined : this.handlers.contextFor(serverName);
    if (named !== undefined) this.plane.quotas.contexts.hold(below, named);
    this.handlers.accepted({ socket, below, serverName });
  }
}
