import type { ConfigKey, ConfigResource } from '../core/routing/config.ts';
import type { CertificateResource, Digest, Peer, ResourceProblem, ToController, ToProxy, Transaction } from './messages.ts';

/** A change for the proxy to make as a whole. */
export interface ConfigChange {
  readonly upserts: readonly ConfigResource[];
  /** Certificates that are new or have changed. Listeners that use them may be among the upserts, or held already. */
  readonly certificates: readonly CertificateResource[];
  readonly removals: readonly ConfigKey[];
}

/**
 * Makes a change and tells everything that does not work now, whichever change brought it; what does not work is in
 * force all the same.
 */
export type Apply = (change: ConfigChange) => readonly ResourceProblem[] | Promise<readonly ResourceProblem[]>;

/**
 * The proxy's end of the channel: applies one transaction after the other and acknowledges each. It outlives its
 * connections, so that a new one needs to bring only what changed in between.
 */
export class ConfigurationSink {
  private readonly apply: Apply;
  private readonly digests = new Map<ConfigKey, Digest>();
  /** What did not work when the last change was made or `report` was called. */
  private reported: readonly ResourceProblem[] = [];
  /** What was in a change that failed as a whole, until it is sent again. */
  private readonly failed = new Map<ConfigKey, string>();
  private connection: symbol | undefined;
  private acknowledgeAgain: () => void = () => {};
  private work: Promise<void> = Promise.resolve();
  private readonly firstEnd = Promise.withResolvers<void>();
  private ended = false;

  constructor(apply: Apply) {
    this.apply = apply;
  }

  /** Resolves when everything was applied once, which is when the proxy may call itself ready. */
  get synchronised(): Promise<void> {
    return this.firstEnd.promise;
  }

  get isSynchronised(): boolean {
    return this.ended;
  }

  /**
   * A controller is connected, in place of any former one: says hello to it. `send` must not throw. What the
   * controller sends goes into the returned end.
   */
  connect(send: (message: ToController) => void): Peer<ToProxy> {
    const connection = Symbol('connection');
    this.connection = connection;
    const isCurrent = () => this.connection === connection;
    const reply = (message: ToController) => {
      if (isCurrent()) send(message);
    };
    let seen = -1;
    // After what a former connection still has at work, so that the digests say what is really held.
    void this.enqueue(() => reply({ type: 'hello', digests: Object.fromEntries(this.digests) }));
    return {
      receive: (message) =>
        this.enqueue(async () => {
          if (!isCurrent()) return;
          if (message.type === 'end') this.markEnd();
          else if (message.id > seen) {
            seen = message.id;
            await this.take(message);
          }
          this.acknowledgeAgain = () => reply({ type: 'acknowledge', id: message.id, problems: this.problemList() });
          this.acknowledgeAgain();
        }),
      close: () => {
        if (isCurrent()) this.connection = undefined;
      },
    };
  }

  /** What does not work has changed although the configuration has not, e.g. by a new certificate. */
  report(problems: readonly ResourceProblem[]): void {
    void this.enqueue(() => {
      this.reported = problems;
      this.acknowledgeAgain();
    });
  }

  private enqueue(step: () => void | Promise<void>): Promise<void> {
    this.work = this.work.then(step);
    return this.work;
  }

  private markEnd(): void {
    this.ended = true;
    this.firstEnd.resolve();
  }

  private problemList(): ResourceProblem[] {
    const failed = Array.from(this.failed, ([key, message]) => ({ key, message }));
    return [...failed, ...this.reported.filter(({ key }) => !this.failed.has(key))];
  }

  /** Applies what the transaction brings that is not held yet. */
  private async take(transaction: Transaction): Promise<void> {
    const upserts = transaction.upserts.filter(({ digest, resource }) => this.digests.get(resource.key) !== digest);
    const removals = transaction.removals.filter((key) => this.digests.has(key));
    if (upserts.length === 0 && removals.length === 0) return;
    const keys = [...removals, ...upserts.map(({ resource }) => resource.key)];
    for (const key of keys) this.failed.delete(key);
    try {
      const resources = upserts.map(({ resource }) => resource);
      const certificates = resources.filter((resource) => resource.kind === 'certificate');
      this.reported = await this.apply({ upserts: resources.filter((resource) => resource.kind !== 'certificate'), certificates, removals });
      for (const key of removals) this.digests.delete(key);
      for (const { digest, resource } of upserts) this.digests.set(resource.key, digest);
    } catch (error) {
      // Nobody knows what of it is in force: held, but unlike anything, so that the next hello brings it again.
      for (const key of keys) this.digests.set(key, '');
      for (const key of keys) this.failed.set(key, error instanceof Error ? error.message : String(error));
    }
  }
}
