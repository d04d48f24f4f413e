import { randomBytes } from 'node:crypto';
import type { Logger } from '../telemetry/index.ts';
import { readAuthorities, writeAuthorities } from './authority-secret.ts';
import { createAuthority, exportAuthority, validUntil } from './authority.ts';
import { splitPem } from './pem.ts';
import { checkRotationPolicy, nextStep, type AuthorityState, type PublishedBundle, type RotationPolicy, type RotationStep, type SigningAuthority } from './rotation.ts';
import { startRounds, type Rounds } from './rounds.ts';
import type { BundleStore, SecretStore, StoredBundle, StoredSecret } from './stores.ts';

export interface RotationOptions {
  readonly secrets: SecretStore;
  readonly bundles: BundleStore;
  readonly policy: RotationPolicy;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly issue?: (issuedAt: number, notAfter: number) => Promise<SigningAuthority>;
}

/** Steps that follow one another without a pause are few; more mean that somebody undoes them. */
const pause = 200;

/**
 * Keeps the authorities in the Secret fresh and the configuration's bundle in step with them. Meant for the holder of a
 * lease, so that replicas do not do the work twice; two at once do no harm.
 */
export class AuthorityRotation {
  readonly #options: RotationOptions;
  readonly #now: () => number;
  readonly #issue: (issuedAt: number, notAfter: number) => Promise<SigningAuthority>;
  #seen: { readonly version: string; readonly since: number } | undefined;

  /** @throws where the policy would make calls fail */
  constructor(options: RotationOptions) {
    checkRotationPolicy(options.policy);
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#issue = options.issue ?? issueSigningAuthority;
  }

  /** Takes step after step until `stop`, woken by changes. */
  start(): Rounds {
    const { secrets, bundles, log } = this.#options;
    return startRounds(async () => this.#due(await this.round()), {
      longest: 60_000,
      retry: 1_000,
      onError: (err) => log.warn({ err }, 'certificate rotation failed, will retry'),
      wakeOn: [(listener) => secrets.onChange(listener), (listener) => bundles.onChange(listener)],
    });
  }

  /**
   * Decides and takes one step; a step that somebody else was faster with is left to the next round.
   *
   * @throws where a store cannot be reached
   */
  async round(): Promise<RotationStep> {
    const { secrets, bundles, policy } = this.#options;
    // In this order: a bundle is written only if the configuration is still the one that was read before the Secret.
    const bundle = await bundles.read();
    const published = this.#observe(bundle);
    const stored = await secrets.read();
    const step = nextStep({ state: this.#read(stored), published, now: this.#now(), policy });
    await this.#take(step, stored, bundle);
    return step;
  }

  async #take(step: RotationStep, stored: StoredSecret | undefined, bundle: StoredBundle | undefined): Promise<void> {
    const { bundles, policy, log } = this.#options;
    switch (step.type) {
      case 'issue': {
        const issuedAt = this.#now();
        const authority = await this.#issue(issuedAt, issuedAt + policy.authorityLifetime);
        if (await this.#store({ ...step.rest, [step.place]: authority }, stored)) log.info({ place: step.place }, 'certificate authority issued');
        return;
      }
      case 'store':
        if (await this.#store(step.state, stored)) log.info({ reason: step.reason }, 'certificate authorities changed');
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

  async #store(state: AuthorityState, stored: StoredSecret | undefined): Promise<boolean> {
    const { secrets } = this.#options;
    const data = writeAuthorities(state);
    const outcome = stored === undefined ? await secrets.create(data) : await secrets.replace(data, stored.version);
    return outcome !== 'conflict';
  }

  /** A Secret that cannot be read is replaced like a lost one: what is trusted stays trusted until its leaves are gone. */
  #read(stored: StoredSecret | undefined): AuthorityState | undefined {
    if (stored === undefined) return undefined;
    const read = readAuthorities(stored.data);
    if (read.type === 'state') return read.state;
    this.#options.log.warn({ problem: read.problem }, 'Secret with the certificate authorities is unreadable, it will be replaced');
    return undefined;
  }

  #observe(bundle: StoredBundle | undefined): PublishedBundle | undefined {
    if (bundle === undefined) {
      this.#seen = undefined;
      return undefined;
    }
    if (this.#seen?.version !== bundle.version) this.#seen = { version: bundle.version, since: this.#now() };
    return { certificates: bundle.certificates, since: this.#seen.since };
  }

  #due(step: RotationStep): number {
    return step.type === 'wait' ? step.until - this.#now() : pause;
  }
}

/** Makes an authority with a name of its own: clients that trust several tell them apart by name. */
export async function issueSigningAuthority(issuedAt: number, notAfter: number): Promise<SigningAuthority> {
  const validity = validUntil(new Date(notAfter), new Date(issuedAt));
  const authority = exportAuthority(await createAuthority(validity, `Sallyport authority ${randomBytes(8).toString('hex')}`));
  return { certificate: splitPem(authority.certificate).join(''), privateKey: authority.privateKey, issuedAt, notAfter };
}
