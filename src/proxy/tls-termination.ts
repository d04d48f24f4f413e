import { constants, X509Certificate } from 'node:crypto';
import { createSecureContext, createServer } from 'node:tls';
import type { SecureContext, Server, TLSSocket, TlsOptions } from 'node:tls';
import type { Socket } from 'node:net';
import type { ClientValidation, ListenerConfig } from '../core/routing/config.ts';
import type { ProxyLimits } from './limits.ts';

/** A serving certificate with its chain, and its key, both PEM. */
export interface CertificatePair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Where certificates come from, by the `namespace/name` of their Secret. */
export type CertificateSource = (secret: string) => CertificatePair | undefined;

/** Renegotiation makes a server repeat the expensive part of a handshake as often as a client likes; nobody needs it. */
const policy = { minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

interface Identity {
  readonly pair: CertificatePair;
  readonly context: SecureContext;
  readonly certificate: X509Certificate;
}

/** The certificates of one HTTPS listener, ready for handshakes. */
export interface ListenerCertificates {
  /** The context for a server name: of the first certificate that covers it, else of the first one. */
  contextFor(serverName: string): SecureContext | undefined;
  /** What clients get that name no server. */
  readonly first: CertificatePair | undefined;
  /** What keeps certificates from being used, for people. */
  readonly problems: readonly string[];
}

/** Loads what a listener names. One that is missing or broken is a problem and leaves the others in use. */
export function loadCertificates(listener: ListenerConfig, source: CertificateSource): ListenerCertificates {
  const identities: Identity[] = [];
  const problems: string[] = [];
  for (const secret of listener.certificates) {
    const loaded = loadIdentity(secret, source, listener.clientValidation);
    if (typeof loaded === 'string') problems.push(loaded);
    else identities.push(loaded);
  }
  if (identities.length === 0 && problems.length === 0) problems.push('the listener names no certificate, so no TLS handshake can succeed');
  return {
    problems,
    first: identities[0]?.pair,
    contextFor: (serverName) =>
      (identities.find(({ certificate }) => certificate.checkHost(serverName) !== undefined) ?? identities[0])?.context,
  };
}

function loadIdentity(secret: string, source: CertificateSource, validation: ClientValidation | undefined): Identity | string {
  const pair = source(secret);
  if (pair === undefined) return `the certificate of Secret "${secret}" is not there`;
  try {
    const context = createSecureContext({ ...pair, ca: trusted(validation), ...policy });
    return { pair, context, certificate: new X509Certificate(pair.cert) };
  } catch (error) {
    return `the certificate of Secret "${secret}" cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`;
  }
}

export interface TlsHandlers {
  /** How the protocol inside of TLS is negotiated (RFC 7301). */
  readonly negotiation: Pick<TlsOptions, 'ALPNProtocols' | 'ALPNCallback'>;
  /** The context for a server name in lower case, `''` where the client sent none; `undefined` refuses the handshake. */
  readonly contextFor: (serverName: string) => SecureContext | undefined;
  readonly accepted: (socket: TLSSocket) => void;
  readonly failed: (error: NodeJS.ErrnoException) => void;
}

/** Makes decrypted sockets of raw ones. */
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
   * From now on: what clients get that name no server, and how clients have to prove who they are. Connections that
   * stand go on as they began.
   */
  configure(first: CertificatePair | undefined, validation: ClientValidation | undefined): void {
    const asked = JSON.stringify(validation);
    if (asked !== this.validation) {
      this.validation = asked;
      // Another server has other ticket keys: nobody resumes a session past a check that has changed.
      this.server = createTermination(this.limits, this.handlers, validation);
    }
    this.server.setSecureContext({ ...first, ...policy, ca: trusted(validation) });
  }

  accept(socket: Socket): void {
    this.server.emit('connection', socket);
  }
}

/** A server that listens nowhere: raw sockets come in by its `connection` event and leave decrypted by `accepted`. */
function createTermination(limits: ProxyLimits, handlers: TlsHandlers, validation: ClientValidation | undefined): Server {
  const server = createServer({
    ...policy,
    ...handlers.negotiation,
    handshakeTimeout: limits.tlsHandshakeTimeout,
    allowHalfOpen: true,
    requestCert: validation !== undefined,
    rejectUnauthorized: isStrict(validation),
    SNICallback: (serverName, done) => {
      const context = handlers.contextFor(serverName.toLowerCase());
      // An error ends the connection without an alert, which is all that a client of an unknown name learns.
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

/** Whether only valid clients are served. */
function isStrict(validation: ClientValidation | undefined): boolean {
  return validation?.mode === 'AllowValidOnly';
}

/**
 * Whom to trust. Where nothing depends on it, nobody: Node would end connections whose certificate is not signed by the
 * authority that it names, if it knew that one.
 */
function trusted(validation: ClientValidation | undefined): string[] {
  return isStrict(validation) ? [...(validation?.authorities ?? [])] : [];
}
