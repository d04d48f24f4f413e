import { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import type { ConnectionOptions, PeerCertificate, SecureContext, TLSSocket } from 'node:tls';
import type { BackendTls } from '../../core/routing/config.ts';
import { closeAfterErrors, limitLateMessages } from '../../handshakes/late-messages.ts';
import { noteCarrier } from '../sockets/reset-probe.ts';
import type { UpstreamTls } from '../messages/forwarder.ts';
import { loadedContextOf, secureContextOf } from './secure-contexts.ts';

/**
 * Bytes of a backend's certificate, without its chain. Node does not report a session of more than 10 KiB, and a session contains the
 * certificate. Without a limit, nobody could count the tickets of such a backend (see `limitLateMessages`).
 */
const maxCertificate = 8 * 1024;

/**
 * Bytes of a backend until its handshake is complete. Without a limit, a backend could send requests for another handshake, which have no
 * effect during one, as fast as TLS reads them. And OpenSSL takes 100 KiB of certificates and keeps them parsed: each byte takes up to 14.
 */
const maxHandshake = 32 * 1024;
/** Milliseconds between two looks at the bytes of a handshake. TLS reads them below the stream of the connection. */
const handshakeInterval = 10;

/** CA certificates that are loaded within about a millisecond. */
const fewAuthorities = 16;

/** Opens TLS connections with the same settings, and resumes sessions. */
export class TlsConnector {
  private readonly options: ConnectionOptions;
  private readonly tls: UpstreamTls;
  private context: SecureContext | undefined;
  private session: Buffer | undefined;

  constructor(tls: UpstreamTls, ALPNProtocols: readonly string[]) {
    const { serverName, subjectAltNames } = tls;
    const names = subjectAltNames.length === 0 ? [{ type: 'Hostname' as const, value: serverName }] : subjectAltNames;
    this.tls = tls;
    this.options = {
      servername: serverName,
      ALPNProtocols: [...ALPNProtocols],
      checkServerIdentity: (_name, certificate) => checkSize(certificate) ?? checkSubjectAltNames(names, certificate),
    };
  }

  /** Whether the settings are loaded, also for another connector, so that connecting takes little time. */
  get isLoaded(): boolean {
    this.context ??= loadedContextOf(this.tls);
    return this.context !== undefined;
  }

  /** Whether loading the settings takes more than about a millisecond. The system's certificates are loaded once. */
  get isCostly(): boolean {
    const { authorities } = this.tls;
    return authorities !== 'system' && authorities.length > fewAuthorities;
  }

  /** Loads the settings. Throws if they cannot be used. */
  load(): SecureContext {
    this.context ??= secureContextOf(this.tls);
    return this.context;
  }

  /** The reason why no connection may be made: a required client certificate is absent. */
  get lacks(): string | undefined {
    const { clientCertificate, client } = this.tls;
    return typeof clientCertificate === 'object' && client === undefined
      ? `the client certificate in Secret ${clientCertificate.secret} has not arrived`
      : undefined;
  }

  /**
   * Starts TLS on a connection. The socket emits `secureConnect` after the backend's
   * certificate is verified, or `error`.
   */
  connect(carrier: Socket): TLSSocket {
    const socket = connect({
      ...this.options,
      secureContext: this.load(),
      socket: carrier,
      ...(this.session === undefined ? {} : { session: this.session }),
    });
    noteCarrier(socket, carrier);
    const watch = (): void => {
      // Data that came with the handshake was decrypted.
      if (carrier.bytesRead - socket.bytesRead > maxHandshake)
        socket.destroy(new Error('the TLS handshake of the backend is too long'));
    };
    const watching = setInterval(watch, handshakeInterval);
    socket.once('close', () => clearInterval(watching));
    socket.once('secureConnect', () => {
      clearInterval(watching);
      setImmediate(watch);
      // With TLS 1.2, Node would verify the certificate again whenever the backend asks for another handshake, which is refused.
      socket.removeAllListeners('secure');
      closeAfterErrors(socket);
      limitLateMessages(socket, carrier, () =>
        socket.destroy(new Error('the backend sent too many TLS messages without data')),
      );
    });
    socket.on('session', (session: Buffer) => {
      this.session = session;
    });
    return socket;
  }
}

function checkSize({ raw }: PeerCertificate): Error | undefined {
  return raw.length > maxCertificate
    ? new Error(`the certificate has ${raw.length} bytes, more than the limit of ${maxCertificate}`)
    : undefined;
}

function checkSubjectAltNames(wanted: BackendTls['subjectAltNames'], { raw }: PeerCertificate): Error | undefined {
  const certificate = new X509Certificate(raw);
  const uris = urisOf(certificate.subjectAltName ?? '');
  // The common name is no longer used for verification (RFC 9525).
  const isNamed = wanted.some(({ type, value }) =>
    type === 'URI' ? uris.has(value) : certificate.checkHost(value, { subject: 'never' }) !== undefined,
  );
  return isNamed ? undefined : new Error('the certificate has none of the names that the policy asks for');
}

/** Node lists names as `DNS:a, URI:b`, and quotes ambiguous ones as JSON. */
function urisOf(names: string): ReadonlySet<string> {
  const entries = names.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return new Set(
    entries
      .map((entry) => entry.trim())
      .filter((entry) => entry.startsWith('URI:'))
      .map((entry) => unquote(entry.slice('URI:'.length))),
  );
}

function unquote(text: string): string {
  return text.startsWith('"') ? String(JSON.parse(text)) : text;
}
