import { hash, X509Certificate } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { dnsNamesOf } from '../../certificates/names.ts';
import type { ClientValidation, ListenerConfig } from '../../core/routing/config.ts';
import { monotonicNow } from '../../time/clock.ts';
import { weigh } from '../limits/context-memory.ts';
import { tlsPolicy } from '../sockets/tls-policy.ts';

/** A serving certificate with its chain, and its key, both PEM. */
export interface CertificatePair {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

/** Returns the certificate of a Secret (`namespace/name`). */
export type CertificateSource = (secret: string) => CertificatePair | undefined;

/** A certificate that is ready for handshakes. */
interface Identity {
  readonly pair: CertificatePair;
  readonly context: SecureContext;
  /** Whether the certificate covers a server name in lower case. */
  readonly covers: (serverName: string) => boolean;
}

/** The certificates of one listener. */
export interface ListenerCertificates {
  /** Returns the context of the first certificate that covers a server name in lower case, or of the first one. */
  contextFor(serverName: string): SecureContext | undefined;
  /** The certificate for clients that send no server name. */
  readonly first: CertificatePair | undefined;
  /** Problems of certificates that cannot be used, for people. */
  readonly problems: readonly string[];
}

/**
 * The maximum number of CA certificates in the contexts of all certificates of a thread. Each takes 5 KB and 30 microseconds, and each
 * certificate needs a context of its own with all of them.
 */
export const maxLoadedAuthorities = 5_000;

/** Milliseconds without a pause. */
const longestTurn = 5;

interface Loaded {
  readonly pair: CertificatePair;
  readonly identity: Identity | string;
}

/** The certificates of all listeners. Each is loaded once for equal CA certificates, and kept while a listener uses it. */
export class Identities {
  private readonly source: CertificateSource;
  /** The certificates of the previous configuration. */
  private readonly former: ReadonlyMap<string, Loaded>;
  private readonly loaded = new Map<string, Loaded>();
  private authorities = 0;

  constructor(source: CertificateSource, former?: Identities) {
    this.source = source;
    this.former = former?.loaded ?? new Map();
  }

  /**
   * Loads the certificates of all listeners, with pauses for other work: each takes up to some milliseconds. Certificates that are
   * loaded are not loaded again.
   */
  async renew(listeners: Iterable<ListenerConfig>): Promise<Identities> {
    const next = new Identities(this.source, this);
    let began = monotonicNow();
    for (const { certificates, clientValidation } of listeners) {
      for (const secret of certificates) {
        next.identityOf(secret, clientValidation);
        if (monotonicNow() - began < longestTurn) continue;
        await otherWork();
        began = monotonicNow();
      }
    }
    return next;
  }

  /** Returns the contexts of certificates that the next configuration does not use any more. */
  replacedBy(next: Identities): readonly SecureContext[] {
    const contexts: SecureContext[] = [];
    for (const [key, { identity }] of this.loaded) {
      if (typeof identity !== 'string' && next.loaded.get(key)?.identity !== identity) contexts.push(identity.context);
    }
    return contexts;
  }

  /** Loads the certificates of a listener. One that is not found or invalid is a problem and does not affect the others. */
  of({
    certificates,
    clientValidation,
  }: Pick<ListenerConfig, 'certificates' | 'clientValidation'>): ListenerCertificates {
    const identities: Identity[] = [];
    const problems: string[] = [];
    for (const secret of certificates) {
      const loaded = this.identityOf(secret, clientValidation);
      if (typeof loaded === 'string') problems.push(loaded);
      else identities.push(loaded);
    }
    if (identities.length === 0 && problems.length === 0)
      problems.push('the listener names no certificate, so no TLS handshake can succeed');
    return {
      problems,
      first: identities[0]?.pair,
      contextFor: (serverName) => (identities.find(({ covers }) => covers(serverName)) ?? identities[0])?.context,
    };
  }

  /** Loads a certificate unless it is loaded. Returns the problem if it cannot be used. */
  private identityOf(secret: string, validation: ClientValidation | undefined): Identity | string {
    const pair = this.source(secret);
    if (pair === undefined) return `the certificate of Secret "${secret}" is not there`;
    const key = `${secret}\n${digestOf(validation)}`;
    const loaded = this.loaded.get(key);
    if (loaded !== undefined && isSame(loaded.pair, pair)) return loaded.identity;
    const authorities = trusted(validation);
    if (this.authorities + authorities.length > maxLoadedAuthorities)
      return `the certificate of Secret "${secret}" cannot be used: all certificates of the data plane together would load more than ${maxLoadedAuthorities} CA certificates for client certificates. Use fewer certificates or fewer CA certificates`;
    if (loaded === undefined) this.authorities += authorities.length;
    const former = this.former.get(key);
    const identity =
      former !== undefined && isSame(former.pair, pair) ? former.identity : load(secret, pair, authorities);
    this.loaded.set(key, { pair, identity });
    return identity;
  }
}

function load(secret: string, pair: CertificatePair, ca: string[]): Identity | string {
  try {
    const context = createSecureContext({ ...pair, ca, ...tlsPolicy });
    weigh(context, ca.length);
    return { pair, context, covers: coverage(new X509Certificate(pair.cert)) };
  } catch (error) {
    return `the certificate of Secret "${secret}" cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`;
  }
}

function isSame(one: CertificatePair, other: CertificatePair): boolean {
  return one === other || (one.cert === other.cert && one.key === other.key);
}

/** OpenSSL compares a name with each one in the certificate, which takes a millisecond for 6,000 of them. */
function coverage(certificate: X509Certificate): Identity['covers'] {
  const names = dnsNamesOf(certificate);
  if (names.length === 0) return (serverName) => certificate.checkHost(serverName) !== undefined;
  // One text takes less memory than a set. No name contains a line feed.
  const text = `\n${names.join('\n')}\n`;
  return (serverName) =>
    text.includes(`\n${serverName}\n`) || text.includes(`\n*${serverName.slice(serverName.indexOf('.'))}\n`);
}

const digests = new WeakMap<ClientValidation, string>();

/** A text that is equal for validations with the same trusted authorities. */
function digestOf(validation: ClientValidation | undefined): string {
  if (validation === undefined) return '';
  const digest = digests.get(validation) ?? hash('sha256', JSON.stringify(trusted(validation)));
  digests.set(validation, digest);
  return digest;
}

/** Whether only clients with valid certificates are served. */
export function isStrict(validation: ClientValidation | undefined): boolean {
  return validation?.mode === 'AllowValidOnly';
}

/**
 * The trusted authorities. Empty if validation does not depend on them: Node would end connections whose certificate
 * claims one of these authorities as its issuer but is not signed by it.
 */
export function trusted(validation: ClientValidation | undefined): string[] {
  return isStrict(validation) ? [...(validation?.authorities ?? [])] : [];
}
