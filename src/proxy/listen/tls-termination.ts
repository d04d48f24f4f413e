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

/** Converts raw sockets to decrypted ones. */
export class TlsTermination {
  private readonly limits: ProxyLimits;
  private readonly handlers: TlsHandlers;
  private server: Server;
  /** Stands for the context for clients that send no server name, which each connection keeps, too. */
  private current: object = {};
  private validation: string | undefined;
  private first: CertificatePair | undefined;
  private pending:
    | { readonly first: CertificatePair | undefined; readonly validation: ClientValidation | undefined }
    | undefined;

  constructor(limits: ProxyLimits, handlers: TlsHandlers) {
    this.limits = limits;
    this.handlers = handlers;
    this.server = createTermination(limits, handlers, undefined);
  }

  /**
   * Sets the certificate for clients that send no server name, and the validation of client certificates. Established
   * connections are not affected.
   */
  configure(first: CertificatePair | undefined, validation: ClientValidation | undefined): void {
    const requested = JSON.stringify(validation);
    if (requested === this.validation && first === this.first) return;
    this.first = first;
    if (requested !== this.validation) {
      this.validation = requested;
      // A new server has other ticket keys, so no client resumes a session without the changed validation.
      this.server = createTermination(this.limits, this.handlers, validation);
    }
    this.pending = { first, validation };
  }

  /** An object that stands for the context for clients that send no server name. */
  get defaults(): object {
    return this.current;
  }

  accept(socket: Socket): void {
    this.load();
    this.server.emit('connection', socket);
  }

  /** Loading CA certificates takes milliseconds, so a port without connections does not need them. */
  private load(): void {
    if (this.pending === undefined) return;
    const { first, validation } = this.pending;
    this.pending = undefined;
    const authorities = trusted(validation);
    this.server.setSecureContext({ ...first, ...tlsPolicy, ca: authorities });
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
