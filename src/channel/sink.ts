import type { ConfigKey, ConfigResource } from '../core/routing/config.ts';
import { capabilities } from './capabilities.ts';
import type {
  CertificateResource,
  ChannelResource,
  Digest,
  Peer,
  ResourceProblem,
  SessionKeysResource,
  ToController,
  ToProxy,
  TraceKeyResource,
  Transaction,
} from './messages.ts';
import { maxProblemCharacters } from './wire.ts';

/** A change that the proxy makes as a whole. */
export interface ConfigChange {
  readonly upserts: readonly ConfigResource[];
  /** New or changed certificates. The listeners that use them are among the upserts, or already held. */
  readonly certificates: readonly CertificateResource[];
  /** New keys for session persistence; absent: unchanged. */
  readonly sessionKeys?: SessionKeysResource;
  /** A new key for traces. */
  readonly traceKey?: TraceKeyResource;
  readonly removals: readonly ConfigKey[];
}

/** A problem of a resource that is in force nevertheless. */
export interface CurrentProblem extends ResourceProblem {
  /** Set if another try may succeed although the configuration is the same, for example if a port is in use. */
  readonly isWorthRetry?: true;
}

/**
 * Makes a change and returns all current problems, whichever change caused them. A change without content tries again what is worth it.
 */
export type Apply = (change: ConfigChange) => readonly CurrentProblem[] | Promise<readonly CurrentProblem[]>;

/** Milliseconds until a problem that is worth it gets another try. */
const defaultRetry = 5_000;

/**
 * The proxy's end of the channel. Applies transactions one at a time and acknowledges each. It outlives its
 * connections, so a new connection transfers only the changes in between.
 */
export class ConfigurationSink {
  private readonly apply: Apply;
  private readonly retry: number;
  private readonly digests = new Map<ConfigKey, Digest>();
  /** The problems after the last change or call of `refresh`. */
  private reported: readonly ResourceProblem[] = [];
  private retrying: NodeJS.Timeout | undefined;
  /** The resources of a change that failed as a whole, until they are sent again. */
  private readonly failed = new Map<ConfigKey, string>();
  private connection: symbol | undefined;
  private acknowledgeAgain: () => void = () => {};
  private work: Promise<void> = Promise.resolve();
  private readonly firstEnd = Promise.withResolvers<void>();
  private ended = false;

  /** @param retry milliseconds until a problem that is worth it gets another try */
  constructor(apply: Apply, retry = defaultRetry) {
    this.apply = apply;
    this.retry = retry;
  }

  /** Resolves after the complete configuration has been applied once, when the proxy can become ready. */
  get synchronised(): Promise<void> {
    return this.firstEnd.promise;
  }

  get isSynchronised(): boolean {
    return this.ended;
  }

  /**
   * Connects a controller, replaces the previous connection, and sends a hello. `send` must not throw. Pass the
   * controller's messages to the returned peer.
   */
  connect(send: (message: ToController) => void): Peer<ToProxy> {
    const connection = Symbol('connection');
    this.connection = connection;
    const isCurrent = () => this.connection === connection;
    const reply = (message: ToController) => {
      if (isCurrent()) send(message);
    };
    let seen = -1;
    // Waits for pending work of a previous connection, so that the digests describe the resources actually held.
    void this.enqueue(() => reply({ type: 'hello', digests: Object.fromEntries(this.digests), capabilities }));
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

  /**
   * Examines the problems anew without a change of configuration, e.g. because of a new certificate, and reports them. It waits for earlier
   * changes, and later ones wait for it, so that no older problems replace newer ones.
   */
  refresh(examine: () => Promise<readonly CurrentProblem[]>): Promise<void> {
    return this.enqueue(async () => {
      this.note(await examine());
      this.acknowledgeAgain();
    });
  }

  private enqueue(step: () => void | Promise<void>): Promise<void> {
    const done = this.work.then(step);
    this.work = done.catch(() => undefined);
    return done;
  }

  private note(problems: readonly CurrentProblem[]): void {
    this.reported = problems;
    clearTimeout(this.retrying);
    if (problems.some(({ isWorthRetry }) => isWorthRetry)) this.retryLater();
  }

  private retryLater(): void {
    this.retrying = setTimeout(() => {
      this.refresh(async () => this.apply(nothing)).catch(() => this.retryLater());
    }, this.retry);
    this.retrying.unref();
  }

  private markEnd(): void {
    this.ended = true;
    this.firstEnd.resolve();
  }

  private problemList(): ResourceProblem[] {
    const failed = Array.from(this.failed, ([key, message]) => ({ key, message }));
    return fitting([...failed, ...this.reported.filter(({ key }) => !this.failed.has(key))]);
  }

  /** Applies the parts of the transaction that are not held yet. */
  private async take(transaction: Transaction): Promise<void> {
    const upserts = transaction.upserts.filter(({ digest, resource }) => this.digests.get(resource.key) !== digest);
    const removals = transaction.removals.filter((key) => this.digests.has(key));
    if (upserts.length === 0 && removals.length === 0) return;
    const keys = [...removals, ...upserts.map(({ resource }) => resource.key)];
    for (const key of keys) this.failed.delete(key);
    try {
      const resources = upserts.map(({ resource }) => resource);
      const sessionKeys = resources.find((resource) => resource.kind === 'sessionKeys');
      const traceKey = resources.find((resource) => resource.kind === 'traceKey');
      const problems = await this.apply({
        upserts: resources.filter(isConfiguration),
        certificates: resources.filter((resource) => resource.kind === 'certificate'),
        ...(sessionKeys === undefined ? {} : { sessionKeys }),
        ...(traceKey === undefined ? {} : { traceKey }),
        removals,
      });
      this.note(problems);
      for (const key of removals) this.digests.delete(key);
      for (const { digest, resource } of upserts) this.digests.set(resource.key, digest);
    } catch (error) {
      // It is unknown which parts are in force. The resources count as held with a digest that matches nothing, so the
      // next hello requests them again.
      for (const key of keys) this.digests.set(key, '');
      for (const key of keys) this.failed.set(key, error instanceof Error ? error.message : String(error));
    }
  }
}

const nothing: ConfigChange = { upserts: [], certificates: [], removals: [] };

/** Whether a resource comes from the evaluation. The others contain secrets. */
function isConfiguration(resource: ChannelResource): resource is ConfigResource {
  return resource.kind !== 'certificate' && resource.kind !== 'sessionKeys' && resource.kind !== 'traceKey';
}

const maxMessage = 1_024;
/** Characters of a problem besides its key and message, in JSON. */
const frame = 32;

/** Returns the first problems that an acknowledgement has room for, and shortens their messages. */
function fitting(problems: readonly ResourceProblem[]): ResourceProblem[] {
  const kept: ResourceProblem[] = [];
  let room = maxProblemCharacters;
  for (const { key, message: full } of problems) {
    const message = full.slice(0, maxMessage);
    room -= key.length + message.length + frame;
    if (room < 0) break;
    kept.push({ key, message });
  }
  return kept;
}
