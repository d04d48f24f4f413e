import { X509Certificate } from 'node:crypto';
import { createSecureContext, createServer } from 'node:tls';
import type { SecureContext, Server, TLSSocket, TlsOptions } from 'node:tls';
import type { Socket } from 'node:net';
import type { ClientValidation, ListenerConfig } from '../../core/routing/config.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { tlsPolicy } from '../sockets/tls-policy.ts';
import { hostnameKey } from '../../core/text/hostname.ts';

/** A serving certificate with its chain, and its key, both PEM. */
export interface CertificatePair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Returns the certificate of a Secret (`namespace/name`). */
export type CertificateSource = (secret: string) => CertificatePair | undefined;

interface Identity {
  readonly pair: CertificatePair;
  readonly context: SecureContext;
  readonly certificate: X509Certificate;
}

/** The loaded certificates of one HTTPS listener. */
export interface ListenerCertificates {
  /** Returns the context of the first certificate that covers a server name, or of the first one. */
  contextFor(serverName: string): SecureContext | undefined;
  /** The certificate for clients that send no server name. */
  readonly first: CertificatePair | undefined;
  /** Problems of certificates that cannot be used, for people. */
  readonly problems: readonly string[];
}

/** Loads the certificates of a listener. One that is not found or invalid is a problem and does not affect the others. */
export function loadCertificates(listener: ListenerConfig, source: CertificateSource): ListenerCertificates {
  const identities: Identity[] = [];
  const problems: string[] = [];
  for (const secret of listener.certificates) {
    const loaded = loadIdentity(secret, source, listener.clientValidation);
    if (typeof loaded === 'string') problems.push(loaded);
    else identities.push(loaded);
  }
  if (identities.length === 0 && problems.length === 0)
    problems.push('the listener names no certificate, so no TLS handshake can succeed');
  return {
    problems,
    first: identities[0]?.pair,
    contextFor: (serverName) =>
      (identities.find(({ certificate }) => certificate.checkHost(serverName) !== undefined) ?? identities[0])?.context,
  };
}

function loadIdentity(
  secret: string,
  source: CertificateSource,
  validation: ClientValidation | undefined,
): Identity | string {
  const pair = source(secret);
  if (pair === undefined) return `the certificate of Secret "${secret}" is not there`;
  try {
    const context = createSecureContext({ ...pair, ca: trusted(validation), ...tlsPolicy });
    return { pair, context, certificate: new X509Certificate(pair.cert) };
  } catch (error) {
    return `the certificate of Secret "${secret}" cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`;
  }
}

export interface TlsHandlers {
  /** ALPN settings (RFC 7301). */
  readonly negotiation: Pick<TlsOptions, 'ALPNProtocols' | 'ALPNCallback'>;
  /** Returns the context for a server name in lower case, `''` if the client sends none; `undefined` rejects the handshake. */
  readonly contextFor: (serverName: string) => SecureContext | undefined;
  readonly accepted: (socket: TLSSocket) => void;
  readonly failed: (error: NodeJS.ErrnoException) => void;
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
  private validation: string | undefined;

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
    if (requested !== this.validation) {
      this.validation = requested;
      // A new server has other ticket keys, so no client resumes a session without the changed validation.
      this.server = createTermination(this.limits, this.handlers, validation);
    }
    this.server.setSecureContext({ ...first, ...tlsPolicy, ca: trusted(validation) });
  }

  accept(socket: Socket): void {
    this.server.emit('connection', socket);
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
    handlers.failed(error);
    socket.destroy();
  });
  return server;
}

/** Whether only clients with valid certificates are served. */
function isStrict(validation: ClientValidation | undefined): boolean {
  return validation?.mode === 'AllowValidOnly';
}

/**
 * The trusted authorities. Empty if validation does not depend on them: Node would end connections whose certificate
 * claims one of these authorities as its issuer but is not signed by it.
 */
function trusted(validation: ClientValidation | undefined): string[] {
  return isStrict(validation) ? [...(validation?.authorities ?? [])] : [];
}
