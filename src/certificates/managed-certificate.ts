import type { Logger } from '../telemetry/index.ts';
import { readAuthorities } from './authority-secret.ts';
import { importAuthority, issueServingCertificate, validUntil, type ServingNames } from './authority.ts';
import { renewalTime, type RotationPolicy, type SigningAuthority } from './rotation.ts';
import { startRounds, type Rounds } from './rounds.ts';
import { createCertificateSource, type CertificateMaterial, type CertificateSource, type ReplaceableSource } from './source.ts';
import type { SecretStore } from './stores.ts';

export interface ManagedCertificateOptions {
  readonly secrets: Pick<SecretStore, 'read' | 'onChange'>;
  readonly names: ServingNames;
  readonly policy: Pick<RotationPolicy, 'leafLifetime'>;
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

/** A leaf in use, and who signed it. */
export interface ManagedLeaf extends LeafValidity {
  /** The authority's certificate, as PEM. */
  readonly authority: string;
  readonly authorityNotAfter: number;
}

/**
 * The serving certificate of one replica. It is signed by the current authority of the Secret, lives in memory only,
 * and is replaced at two thirds of its life or as soon as another authority signs.
 */
export class ManagedCertificate {
  readonly #options: ManagedCertificateOptions;
  readonly #now: () => number;
  readonly #first = Promise.withResolvers<CertificateSource>();
  #source: ReplaceableSource | undefined;
  #leaf: ManagedLeaf | undefined;

  constructor(options: ManagedCertificateOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Follows the Secret until `stop`. */
  start(): Rounds {
    const { secrets, log } = this.#options;
    return startRounds(() => this.round(), {
      longest: 60_000,
      retry: 1_000,
      onError: (err) => log.warn({ err }, 'cannot renew the serving certificate, will retry'),
      wakeOn: [(listener) => secrets.onChange(listener)],
    });
  }

  /** Resolves with the first leaf, to whoever serves it. */
  issued(): Promise<CertificateSource> {
    return this.#first.promise;
  }

  /** The leaf in use; `undefined` before the first one. */
  get leaf(): ManagedLeaf | undefined {
    return this.#leaf;
  }

  /**
   * Looks at the Secret once and replaces the leaf where it is time. Returns after how many milliseconds to look again.
   *
   * @throws where the Secret cannot be read; the old leaf stays
   */
  async round(): Promise<number> {
    // The leaf's life counts from here: an authority that is replaced later counts on it.
    const asked = this.#now();
    const signer = await this.#signer();
    if (signer !== undefined && this.#isDue(signer, asked)) await this.#replace(signer, asked);
    return this.#leaf === undefined ? 1_000 : renewalTime(this.#leaf) - this.#now();
  }

  async #signer(): Promise<SigningAuthority | undefined> {
    const stored = await this.#options.secrets.read();
    if (stored === undefined) return undefined;
    const read = readAuthorities(stored.data);
    if (read.type === 'state') return read.state.current;
    this.#options.log.warn({ problem: read.problem }, 'Secret with the certificate authorities is unreadable, the serving certificate stays');
    return undefined;
  }

  #isDue(signer: SigningAuthority, now: number): boolean {
    if (signer.notAfter <= now) return false;
    return this.#leaf === undefined || this.#leaf.authority !== signer.certificate || now >= renewalTime(this.#leaf);
  }

  async #replace(signer: SigningAuthority, issuedAt: number): Promise<void> {
    const { policy, names, log, issue = (authority, validity) => issueLeaf(authority, validity, names) } = this.#options;
    const notAfter = Math.min(issuedAt + policy.leafLifetime, signer.notAfter);
    const material = await issue(signer, { issuedAt, notAfter });
    this.#leaf = { issuedAt, notAfter, authority: signer.certificate, authorityNotAfter: signer.notAfter };
    log.info({ notAfter: new Date(notAfter).toISOString() }, 'serving certificate issued');
    if (this.#source === undefined) {
      this.#source = createCertificateSource(material);
      this.#first.resolve(this.#source);
    } else this.#source.replace(material);
  }
}

/** The DNS names under which the API server, and people, call a Service. */
export function serviceNames(service: string, namespace: string, clusterDomain = 'cluster.local'): ServingNames {
  const name = `${service}.${namespace}`;
  return { dnsNames: [`${name}.svc`, `${name}.svc.${clusterDomain}`, name, service], ipAddresses: [] };
}

async function issueLeaf(signer: SigningAuthority, { issuedAt, notAfter }: LeafValidity, names: ServingNames): Promise<CertificateMaterial> {
  return issueServingCertificate(await importAuthority(signer), names, validUntil(new Date(notAfter), new Date(issuedAt)));
}
