import { constants } from 'node:crypto';
import { createServer } from 'node:tls';
import type { SecureContext, Server, TLSSocket, TlsOptions } from 'node:tls';
import type { Socket } from 'node:net';
import type { ClientValidation } from '../../core/routing/config.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { weigh } from '../limits/context-memory.ts';
import { tlsPolicy } from '../sockets/tls-policy.ts';
import { hostnameKey } from '../../core/text/hostname.ts';
import { isStrict, trusted, type CertificatePair } from './identities.ts';

export interface TlsHandlers {
  /** ALPN settings (RFC 7301). */
  readonly negotiation: Pick<TlsOptions, 'ALPNProtocols' | 'ALPNCallback'>;
  /** Returns the context for a server name in lower case, `''` if the client sends none; `undefined` rejects the handshake. */
  readonly contextFor: (serverName: string) => SecureContext | undefined;
  readonly accepted: (socket: TLSSocket) => void;
  readonly failed: (error: NodeJS.ErrnoException, socket: TLSSocket) => void;
  /** Called with the former `defaults` after these were replaced. */
  readonly replaced: (defaults: object) => void;
  /** Returns the keys of session tickets that all threads share. If undefined, each server has its own. */
  readonly ticketKeys?: TicketKeys | undefined;
}

/** Returns 48 bytes of key material for session tickets, which depend on the validation of client certificates. */
export type TicketKeys = (validation: string) => Buffer;

/**
 * For servers that accept only valid client certificates. A resumed session counts as the certificate that it began with, without another
 * look at it, and OpenSSL accepts tickets for two hours: longer than many certificates are valid.
 */
const withoutResumption = tlsPolicy.secureOptions | constants.SSL_OP_NO_TICKET;

/** Converts raw sockets to decrypted ones. */
export class TlsTermination {
  private readonly limits: ProxyLimits;
  private readonly handlers: TlsHandlers;
  /** Created for the first connection. */
  private server: Server | undefined;
  /** Stands for the context for clients that send no server name, which each connection keeps, too. */
  private current: object = {};
  private validation: ClientValidation | undefined;
  private first: CertificatePair | undefined;
  /** Whether the server does not have the certificates yet. */
  private isStale = false;

  constructor(limits: ProxyLimits, handlers: TlsHandlers) {
    this.limits = limits;
    this.handlers = handlers;
  }

  /**
   * Sets the certificate for clients that send no server name, and the validation of client certificates. Established
   * connections are not affected.
   */
  configure(first: CertificatePair | undefined, validation: ClientValidation | undefined): void {
    const isSame = validation === this.validation || JSON.stringify(validation) === JSON.stringify(this.validation);
    if (isSame && first === this.first) return;
    this.first = first;
    // A new server has other ticket keys, so no client resumes a session without the changed validation.
    if (!isSame) this.server = undefined;
    this.validation = validation;
    this.isStale = true;
  }

  /** An object that stands for the context for clients that send no server name. */
  get defaults(): object {
    return this.current;
  }

  accept(socket: Socket): void {
    this.server ??= createTermination(this.limits, this.handlers, this.validation);
    if (this.isStale) this.load(this.server);
    this.server.emit('connection', socket);
  }

  /** A server takes a third of a millisecond, and CA certificates take several: a port without connections needs neither. */
  private load(server: Server): void {
    this.isStale = false;
    const authorities = trusted(this.validation);
    server.setSecureContext({
      ...this.first,
      ...tlsPolicy,
      ca: authorities,
      ...(isStrict(this.validation) && { secureOptions: withoutResumption }),
    });
    this.handlers.replaced(this.current);
    this.current = {};
    weigh(this.current, authorities.length);
  }
}

/** Creates a server that does not listen. Raw sockets enter through its `connection` event and leave decrypted through `accepted`. */
function createTermination(
  limits: ProxyLimits,
  handlers: TlsHandlers,
  validation: ClientValidation | undefined,
): Server {
  const ticketKeys = handlers.ticketKeys?.(JSON.stringify(validation ?? {}));
  const server = createServer({
    ...tlsPolicy,
    ...handlers.negotiation,
    ...(ticketKeys && { ticketKeys }),
    handshakeTimeout: limits.tlsHandshakeTimeout,
    allowHalfOpen: true,
    requestCert: validation !== undefined,
    rejectUnauthorized: isStrict(validation),
    SNICallback: (serverName, done) => {
      const context = handlers.contextFor(hostnameKey(serverName));
      // An error ends the connection without an alert; a client of an unknown name learns nothing more.
      if (context === undefined) done(new Error('no listener serves this name'));
      else done(null, context);
    },
  });
  server.on('secureConnection', handlers.accepted);
  server.on('tlsClientError', (error, socket) => {
    handlers.failed(error, socket);
    socket.destroy();
  });
  return server;
}
