import { randomBytes } from 'node:crypto';
import type { Logger } from '../telemetry/index.ts';
import { readAuthorities, writeAuthorities } from './authority-secret.ts';
import { createAuthority, exportAuthority, importAuthority, validUntil } from './authority.ts';
import { readCertificate, splitPem } from './pem.ts';
import {
  checkRotationPolicy,
  nextStep,
  type AuthorityState,
  type PublishedBundle,
  type RotationPolicy,
  type RotationStep,
  type SigningAuthority,
} from './rotation.ts';
import { startRounds, type Rounds } from './rounds.ts';
import type { BundleStore, SecretStore, StoredBundle, StoredSecret } from './stores.ts';
import { wallNow } from '../time/clock.ts';

export interface RotationOptions {
  readonly secrets: SecretStore;
  readonly bundles: BundleStore;
  readonly policy: RotationPolicy;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly issue?: (issuedAt: number, notAfter: number) => Promise<SigningAuthority>;
  /** Returns why authorities of the Secret cannot be used; `undefined` if they can. */
  readonly unusable?: (state: AuthorityState) => Promise<string | undefined>;
}

/** Few steps follow each other without a pause. More of them mean that another writer reverts them. */
const pause = 200;

/**
 * Renews the authorities in the Secret and keeps the bundle in the configuration in step with them. The holder of a lease should
 * run it, so that replicas do not repeat the work. Concurrent runs do no harm.
 */
export class AuthorityRotation {
  private readonly options: RotationOptions;
  private readonly now: () => number;
  private readonly issue: (issuedAt: number, notAfter: number) => Promise<SigningAuthority>;
  private readonly unusable: (state: AuthorityState) => Promise<string | undefined>;
  private seen: { readonly version: string; readonly since: number } | undefined;

  /** @throws if the policy would make calls fail */
  constructor(options: RotationOptions) {
    checkRotationPolicy(options.policy);
    this.options = options;
    this.now = options.now ?? wallNow;
    this.issue = options.issue ?? issueSigningAuthority;
    this.unusable = options.unusable ?? unusableIn;
  }

  /** Takes steps until `stop`. Changes of the stores start the next step early. */
  start(): Rounds {
    const { secrets, bundles, log } = this.options;
    return startRounds(async () => this.due(await this.round()), {
      longest: 60_000,
      retry: 1_000,
      onError: (err) => log.warn({ err }, 'certificate rotation failed, will retry'),
      wakeOn: [(listener) => secrets.onChange(listener), (listener) => bundles.onChange(listener)],
    });
  }

  /**
   * Decides and takes one step. If another writer was faster, the next round repeats the step.
   *
   * @throws if a store is unreachable
   */
  async round(): Promise<RotationStep> {
    const { secrets, bundles, policy } = this.options;
    // The order matters: a bundle is written only if the configuration has not changed since before the read of the Secret.
    const bundle = await bundles.read();
    const published = this.observe(bundle);
    const stored = await secrets.read();
    const step = nextStep({ state: await this.read(stored), published, now: this.now(), policy });
    await this.take(step, stored, bundle);
    return step;
  }

  private async take(
    step: RotationStep,
    stored: StoredSecret | undefined,
    bundle: StoredBundle | undefined,
  ): Promise<void> {
    const { bundles, policy, log } = this.options;
    switch (step.type) {
      case 'issue': {
        const issuedAt = this.now();
        const authority = await this.issue(issuedAt, issuedAt + policy.authorityLifetime);
        if (await this.store({ ...step.rest, [step.place]: authority }, stored))
          log.info({ place: step.place }, 'certificate authority issued');
        return;
      }
      case 'store':
        if (await this.store(step.state, stored)) log.info({ reason: step.reason }, 'certificate authorities changed');
        return;
      case 'publish':
        if (bundle === undefined) return;
        if ((await bundles.publish(step.certificates, bundle.version)) === 'published') {
          log.info({ certificates: step.certificates.length }, 'trusted authorities published');
        }
        return;
      case 'wait':
        return;
    }
  }

  private async store(state: AuthorityState, stored: StoredSecret | undefined): Promise<boolean> {
    const { secrets } = this.options;
    const data = writeAuthorities(state);
    const outcome = stored === undefined ? await secrets.create(data) : await secrets.replace(data, stored.version);
    return outcome !== 'conflict';
  }

  /** An invalid Secret is replaced like a lost one: trusted authorities stay trusted until their leaves have expired. */
  private async read(stored: StoredSecret | undefined): Promise<AuthorityState | undefined> {
    if (stored === undefined) return undefined;
    const read = readAuthorities(stored.data);
    const problem = read.type === 'unreadable' ? read.problem : await this.unusable(read.state);
    if (read.type === 'state' && problem === undefined) return read.state;
    this.options.log.warn({ problem }, 'Secret with the certificate authorities is unreadable, it will be replaced');
    return undefined;
  }

  private observe(bundle: StoredBundle | undefined): PublishedBundle | undefined {
    if (bundle === undefined) {
      this.seen = undefined;
      return undefined;
    }
    if (this.seen?.version !== bundle.version) this.seen = { version: bundle.version, since: this.now() };
    return { certificates: bundle.certificates, since: this.seen.since };
  }

  private due(step: RotationStep): number {
    return step.type === 'wait' ? step.until - this.now() : pause;
  }
}

/** Why one of the authorities can neither sign nor be trusted. Replicas could not issue a leaf, or the API server would not accept the bundle. */
async function unusableIn({ current, next, retired }: AuthorityState): Promise<string | undefined> {
  try {
    for (const authority of [current, next]) if (authority !== undefined) await importAuthority(authority);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const isInvalid = retired.some(({ certificate }) => readCertificate(certificate) === undefined);
  return isInvalid ? 'a retired certificate is invalid' : undefined;
}

/** Creates an authority with a unique name, because clients that trust several authorities distinguish them by name. */
export async function issueSigningAuthority(issuedAt: number, notAfter: number): Promise<SigningAuthority> {
  const validity = validUntil(new Date(notAfter), new Date(issuedAt));
  const authority = exportAuthority(
    await createAuthority(validity, `Sallyport authority ${randomBytes(8).toString('hex')}`),
  );
  return {
    certificate: splitPem(authority.certificate).join(''),
    privateKey: authority.privateKey,
    issuedAt,
    notAfter,
  };
}
