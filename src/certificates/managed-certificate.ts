import type { Logger } from '../telemetry/index.ts';
import { readAuthorities } from './authority-secret.ts';
import { importAuthority, issueServingCertificate, validUntil, type ServingNames } from './authority.ts';
import { isAhead, renewalTime, type RotationPolicy, type SigningAuthority } from './rotation.ts';
import { startRounds, type Rounds } from './rounds.ts';
import {
  createCertificateSource,
  type CertificateMaterial,
  type CertificateSource,
  type ReplaceableSource,
} from './source.ts';
import type { SecretStore } from './stores.ts';
import { wallNow } from '../time/clock.ts';

export interface ManagedCertificateOptions {
  readonly secrets: Pick<SecretStore, 'read' | 'onChange'>;
  readonly names: ServingNames;
  readonly policy: Pick<RotationPolicy, 'leafLifetime' | 'clockSkew'>;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly issue?: (signer: SigningAuthority, validity: LeafValidity) => Promise<CertificateMaterial>;
}

/** Milliseconds since 1970. */
export interface LeafValidity {
  readonly issuedAt: number;
  readonly notAfter: number;
}

/** The leaf in use and its issuer. */
export interface ManagedLeaf extends LeafValidity {
  /** The authority's certificate, as PEM. */
  readonly authority: string;
  readonly authorityNotAfter: number;
}

/**
 * The serving certificate of one replica. The current authority of the Secret signs it. It exists in memory only, and is replaced after
 * two thirds of its lifetime or when the authority changes.
 */
export class ManagedCertificate {
  private readonly options: ManagedCertificateOptions;
  private readonly now: () => number;
  private readonly first = Promise.withResolvers<CertificateSource>();
  private source: ReplaceableSource | undefined;
  private present: ManagedLeaf | undefined;

  constructor(options: ManagedCertificateOptions) {
    this.options = options;
    this.now = options.now ?? wallNow;
  }

  /** Follows the Secret until `stop`. */
  start(): Rounds {
    const { secrets, log } = this.options;
    return startRounds(() => this.round(), {
      longest: 60_000,
      retry: 1_000,
      onError: (err) => log.warn({ err }, 'cannot renew the serving certificate, will retry'),
      wakeOn: [(listener) => secrets.onChange(listener)],
    });
  }

  /** Resolves with the source of the certificate once the first leaf is issued. */
  issued(): Promise<CertificateSource> {
    return this.first.promise;
  }

  /** The leaf in use. `undefined` before the first one. */
  get leaf(): ManagedLeaf | undefined {
    return this.present;
  }

  /**
   * Checks the Secret once and replaces the leaf if necessary. Returns the milliseconds until the next check.
   *
   * @throws if the Secret cannot be read; the old leaf stays in use
   */
  async round(): Promise<number> {
    // The leaf's lifetime starts before the read of the Secret. The retirement of a replaced authority depends on that.
    const now = this.now();
    const signer = await this.signer();
    if (signer !== undefined && this.isDue(signer, now)) await this.replace(signer, now);
    return this.present === undefined ? 1_000 : renewalTime(this.present) - this.now();
  }

  private async signer(): Promise<SigningAuthority | undefined> {
    const stored = await this.options.secrets.read();
    if (stored === undefined) return undefined;
    const read = readAuthorities(stored.data);
    if (read.type === 'state') return read.state.current;
    this.options.log.warn(
      { problem: read.problem },
      'Secret with the certificate authorities is unreadable, the serving certificate stays',
    );
    return undefined;
  }

  private isDue(signer: SigningAuthority, now: number): boolean {
    if (signer.notAfter <= now) return false;
    const { present, options } = this;
    if (present === undefined || present.authority !== signer.certificate) return true;
    return now >= renewalTime(present) || isAhead(present, now, options.policy);
  }

  private async replace(signer: SigningAuthority, issuedAt: number): Promise<void> {
    const { policy, names, log, issue = (authority, validity) => issueLeaf(authority, validity, names) } = this.options;
    const notAfter = Math.min(issuedAt + policy.leafLifetime, signer.notAfter);
    const material = await issue(signer, { issuedAt, notAfter });
    this.present = { issuedAt, notAfter, authority: signer.certificate, authorityNotAfter: signer.notAfter };
    log.info({ notAfter: new Date(notAfter).toISOString() }, 'serving certificate issued');
    if (this.source === undefined) {
      this.source = createCertificateSource(material);
      this.first.resolve(this.source);
    } else this.source.replace(material);
  }
}

/** The DNS names that the API server and people use for a Service. */
export function serviceNames(service: string, namespace: string, clusterDomain = 'cluster.local'): ServingNames {
  const name = `${service}.${namespace}`;
  return { dnsNames: [`${name}.svc`, `${name}.svc.${clusterDomain}`, name, service], ipAddresses: [] };
}

async function issueLeaf(
  signer: SigningAuthority,
  { issuedAt, notAfter }: LeafValidity,
  names: ServingNames,
): Promise<CertificateMaterial> {
  return issueServingCertificate(
    await importAuthority(signer),
    names,
    validUntil(new Date(notAfter), new Date(issuedAt)),
  );
}
