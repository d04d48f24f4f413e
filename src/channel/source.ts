import { secretsOf, type ConfigKey } from '../core/routing/config.ts';
import { quote } from '../core/text/display.ts';
import { capabilities, keysOf, lacking, neededFor, safeFor, tooOld, type Capability } from './capabilities.ts';
import {
  ConfigurationBudget,
  configurationLimits,
  sharedWeightOf,
  weightOf,
  type ConfigurationLimits,
  type Weighed,
  type Withheld,
} from './budget.ts';
import { fingerprintOfResource } from './bundles.ts';
import { noProblems, ProblemStore, type ReportedProblems } from './reported-problems.ts';
import type {
  ChannelResource,
  Digest,
  Hello,
  Peer,
  ResourceProblem,
  ToController,
  ToProxy,
  Transaction,
} from './messages.ts';

/** The progress of a connected proxy. */
export interface SessionState {
  readonly name: string;
  /** The newest id sent to it; undefined before its hello was processed. */
  readonly sent: number | undefined;
  /** The newest id whose state it holds. */
  readonly acknowledged: number | undefined;
  /** The problems at that id, as far as there is room for them. */
  readonly problems: ReadonlyMap<ConfigKey, string>;
  /** Whether it lacks a capability for that id, and rejects the requests that need it. */
  readonly isOutdated: boolean;
}

interface Held extends Weighed {
  readonly digest: Digest;
}

/** A resource in a message. */
type Entry = Transaction['upserts'][number];

/** Bytes of an upsert besides its resource. */
const frame = 80;

interface Session {
  readonly send: (message: ToProxy) => void;
  readonly end: () => void;
  /** The capabilities that the proxy lacks; all of them before its hello. */
  missing: ReadonlySet<Capability>;
  state: SessionState;
  reported: ReportedProblems;
}

/**
 * The controller's end of the channel. Holds the desired configuration, sends the differences to every connected proxy,
 * and records their acknowledgements.
 */
export class ConfigurationSource {
  private readonly current = new Map<ConfigKey, Held>();
  private readonly budget: ConfigurationBudget;
  private beyond: ReadonlyMap<ConfigKey, Withheld> = new Map();
  /** The problems of listeners for which there is no room, or not for their certificates. */
  private problemsBeyond: ReadonlyMap<ConfigKey, string> = new Map();
  /** The keys of the resources that need a capability, so that no acknowledgement reads the whole configuration. */
  private readonly needing: Readonly<Record<Capability, Set<ConfigKey>>> = {
    listenerFilters: new Set(),
    externalAuth: new Set(),
  };
  private readonly sessions = new Set<Session>();
  private readonly problems = new ProblemStore((key) => this.current.has(key));
  private readonly acknowledged = new Set<(state: SessionState) => void>();
  private readonly disconnected = new Set<(state: SessionState) => void>();
  private newest = 0;

  constructor(limits: ConfigurationLimits = configurationLimits()) {
    this.budget = new ConfigurationBudget(this.current, limits);
  }

  /** The resources that exceed the limits for the configuration of a Gateway, and that no proxy gets. A new map after each change of them. */
  get withheld(): ReadonlyMap<ConfigKey, Withheld> {
    return this.beyond;
  }

  /** The listeners that lack room, or room for their certificates, with the problem. A new map after each change of them. */
  get listenerProblems(): ReadonlyMap<ConfigKey, string> {
    return this.problemsBeyond;
  }

  /**
   * Changes the configuration. Every proxy gets the actual differences as one transaction. A key that is both removed
   * and upserted is upserted.
   * @returns the id whose acknowledgement means that a proxy holds this state; the previous id if nothing differs.
   */
  publish(upserts: Iterable<ChannelResource>, removals: Iterable<ConfigKey>): number {
    const changed = new Map<ConfigKey, Held | undefined>();
    for (const key of removals) if (this.current.has(key)) changed.set(key, undefined);
    for (const resource of upserts) {
      const held = heldOf(resource);
      if (this.current.get(resource.key)?.digest === held.digest) changed.delete(resource.key);
      else changed.set(resource.key, held);
    }
    if (changed.size === 0) return this.newest;
    return this.announce(this.replace(changed));
  }

  /** Changes the limits for the configuration. Returns an id like `publish`. */
  setLimits(limits: ConfigurationLimits): number {
    this.budget.setLimits(limits);
    return this.announce(this.replace(new Map()));
  }

  /** Sends to all proxies what differs from what they got before. */
  private announce(before: ReadonlyMap<ConfigKey, Held | undefined>): number {
    const change = this.differences(before);
    if (change.upserts.length === 0 && change.removals.length === 0) return this.newest;
    this.newest += 1;
    const transaction: Transaction = { type: 'transaction', id: this.newest, ...change };
    for (const session of this.sessions) {
      // A proxy that has not sent its hello yet gets the change in the response.
      if (session.state.sent !== undefined) this.send(session, safeTransaction(session.missing, transaction));
    }
    return this.newest;
  }

  /**
   * Connects a proxy. `name` is for people (pod name). `send` must not throw: a broken connection is closed instead.
   * `end` closes the connection after everything has been sent. Pass the proxy's messages to the returned peer.
   */
  connect(name: string, send: (message: ToProxy) => void, end: () => void = () => undefined): Peer<ToController> {
    const session: Session = {
      send,
      end,
      missing: lacking([]),
      state: { name, sent: undefined, acknowledged: undefined, problems: new Map(), isOutdated: false },
      reported: noProblems,
    };
    this.sessions.add(session);
    return {
      receive: (message) => {
        if (!this.sessions.has(session)) return;
        if (message.type === 'hello') this.synchronise(session, message);
        else this.take(session, message.id, message.problems);
      },
      close: () => {
        if (!this.sessions.delete(session)) return;
        this.problems.replace(session.reported, []);
        for (const listener of this.disconnected) listener(session.state);
      },
    };
  }

  /** Ends all connections. Proxies reconnect and may find another source. */
  close(): void {
    for (const { end } of this.sessions) end();
  }

  /** Every connected proxy. */
  states(): SessionState[] {
    return [...this.sessions].map(({ state }) => state);
  }

  /** The connected proxies that do not hold the state of `id` yet. */
  laggards(id: number): SessionState[] {
    return this.states().filter(({ acknowledged }) => acknowledged === undefined || acknowledged < id);
  }

  /**
   * Calls `listener` after every acknowledgement with the state of the session that sent it.
   * @returns a function that unsubscribes.
   */
  onAcknowledged(listener: (state: SessionState) => void): () => void {
    this.acknowledged.add(listener);
    return () => this.acknowledged.delete(listener);
  }

  /**
   * Calls `listener` with the last state of every session that ended.
   * @returns a function that unsubscribes.
   */
  onDisconnected(listener: (state: SessionState) => void): () => void {
    this.disconnected.add(listener);
    return () => this.disconnected.delete(listener);
  }

  /**
   * Replaces resources, or removes those that are undefined. Returns what proxies got before of all resources for which that may
   * have changed.
   */
  private replace(changed: ReadonlyMap<ConfigKey, Held | undefined>): ReadonlyMap<ConfigKey, Held | undefined> {
    const before = new Map<ConfigKey, Held | undefined>();
    for (const [key, held] of changed) {
      before.set(key, this.sentFor(key));
      this.budget.count(key, this.current.get(key), held);
      if (held === undefined) this.current.delete(key);
      else this.current.set(key, held);
    }
    const beyond = this.budget.beyond();
    if (beyond !== this.beyond) {
      for (const key of new Set([...this.beyond.keys(), ...beyond.keys()]))
        if (!before.has(key) && this.beyond.has(key) !== beyond.has(key)) before.set(key, this.sentFor(key));
      this.beyond = beyond;
      this.problemsBeyond = this.listenersBeyond();
    } else if (beyond.size > 0 && changed.keys().some((key) => kindOfKey(key) === 'listener')) {
      this.problemsBeyond = this.listenersBeyond();
    }
    return before;
  }

  /** What proxies have to change, from what they got before. */
  private differences(before: ReadonlyMap<ConfigKey, Held | undefined>): Pick<Transaction, 'upserts' | 'removals'> {
    const upserted: Held[] = [];
    const removed: ChannelResource[] = [];
    for (const [key, former] of before) {
      const now = this.sentFor(key);
      this.indexNeed(key, now && neededFor(now.resource));
      if (now === undefined && former !== undefined) removed.push(former.resource);
      if (now !== undefined && now.digest !== former?.digest) upserted.push(now);
    }
    return { upserts: usedFirst(upserted).map(entryOf), removals: usersFirst(removed).map(({ key }) => key) };
  }

  /** What proxies get for a key. */
  private sentFor(key: ConfigKey): Held | undefined {
    const held = this.current.get(key);
    return held === undefined || !this.beyond.has(key) ? held : substituteFor(held);
  }

  /** What proxies get, by key. */
  private sent(): ReadonlyMap<ConfigKey, Held> {
    if (this.beyond.size === 0) return this.current;
    return new Map(
      [...this.current.keys()].flatMap((key) => {
        const held = this.sentFor(key);
        return held === undefined ? [] : [[key, held] as const];
      }),
    );
  }

  private synchronise(session: Session, { digests, capabilities: announced = [] }: Hello): void {
    session.missing = lacking(announced);
    const desired = safeResources(session.missing, this.sent());
    const held = (key: ConfigKey): Digest | undefined => (Object.hasOwn(digests, key) ? digests[key] : undefined);
    const upserts = [...desired.values()].filter(({ digest, resource }) => held(resource.key) !== digest).map(entryOf);
    // Resources that the proxy holds and that no longer exist. Only the prefix of the key shows their kind.
    const stale = Object.keys(digests)
      .filter((key) => !desired.has(key))
      .map((key) => ({ key, kind: kindOfKey(key) }));
    if (upserts.length > 0 || stale.length > 0) {
      const removals = usersFirst(stale).map(({ key }) => key);
      this.send(session, { type: 'transaction', id: this.newest, upserts: usedFirst(upserts), removals });
    }
    this.send(session, { type: 'end', id: this.newest });
  }

  /**
   * The keys of resources that a proxy has only in a form that rejects requests: all listeners, and one route for all of them, because
   * problems are reported to other replicas and there may be thousands of routes.
   */
  private withheldFrom({ missing }: Session): readonly ConfigKey[] {
    const { listenerFilters, externalAuth } = this.needing;
    return [
      ...(missing.has('listenerFilters') ? listenerFilters : []),
      ...(missing.has('externalAuth') ? externalAuth.values().take(1) : []),
    ];
  }

  private listenersBeyond(): ReadonlyMap<ConfigKey, string> {
    const beyond = [...this.beyond.keys()].map((key) => this.current.get(key)?.resource);
    const secrets = new Set(beyond.flatMap((resource) => (resource?.kind === 'certificate' ? [resource.secret] : [])));
    const problems = new Map<ConfigKey, string>();
    for (const [key, { resource }] of this.current) {
      if (resource.kind !== 'listener') continue;
      const secret = secretsOf(resource).find((one) => secrets.has(one));
      if (this.beyond.has(key)) problems.set(key, tooLarge);
      else if (secret !== undefined) problems.set(key, tooLargeWith(secret));
    }
    return problems;
  }

  private indexNeed(key: ConfigKey, needed: Capability | undefined): void {
    for (const capability of capabilities) {
      if (capability === needed) this.needing[capability].add(key);
      else this.needing[capability].delete(key);
    }
  }

  private send(session: Session, message: ToProxy): void {
    session.state = { ...session.state, sent: message.id };
    session.send(message);
  }

  private take(session: Session, id: number, problems: readonly ResourceProblem[]): void {
    const { sent, acknowledged } = session.state;
    if (sent === undefined || id > sent || id < (acknowledged ?? 0)) return;
    const withheld = this.withheldFrom(session);
    session.reported = this.problems.replace(session.reported, [
      ...this.problemsBeyond.entries().map(([key, message]) => ({ key, message })),
      ...withheld.map((key) => ({ key, message: tooOld })),
      ...problems,
    ]);
    session.state = {
      ...session.state,
      acknowledged: id,
      problems: session.reported.messages,
      isOutdated: withheld.length > 0,
    };
    for (const listener of this.acknowledged) listener(session.state);
  }
}

function heldOf(resource: ChannelResource): Held {
  const { digest, bytes } = fingerprintOfResource(resource);
  const shared = sharedWeightOf(resource);
  return { digest, bytes: weightOf(resource, bytes + frame), resource, ...(shared && { shared }) };
}

function entryOf({ digest, resource }: Entry): Entry {
  return { digest, resource };
}

const tooLarge = 'The listeners of this namespace exceed their share of the configuration of the Gateway.';

function tooLargeWith(secret: string): string {
  return `The certificate of Secret ${quote(secret)} exceeds the share of its namespace in the configuration of the Gateway.`;
}

/**
 * What proxies get instead of a resource that a Gateway has no room for. Without its endpoints, requests for a backend get an error.
 * Other resources are left out.
 */
function substituteFor({ resource }: Held): Held | undefined {
  if (resource.kind !== 'endpoints') return undefined;
  const { kind, key } = resource;
  const failure = 'the endpoints of this namespace exceed their share of the configuration of the Gateway';
  return heldOf({ kind, key, addresses: [], failure });
}

/** The resources as a proxy gets them, by key. */
function safeResources(
  missing: ReadonlySet<Capability>,
  resources: ReadonlyMap<ConfigKey, Entry>,
): ReadonlyMap<ConfigKey, Entry> {
  if (missing.size === 0) return resources;
  return new Map([...resources.values()].map((held) => safe(missing, held)).map((held) => [held.resource.key, held]));
}

/** A change as a proxy gets it. A listener whose filters come or go changes its key, so the former key is removed. */
function safeTransaction(missing: ReadonlySet<Capability>, transaction: Transaction): Transaction {
  if (missing.size === 0) return transaction;
  const upserts = transaction.upserts.map((held) => safe(missing, held));
  const kept = new Set(upserts.map(({ resource }) => resource.key));
  const keys = [...transaction.removals, ...transaction.upserts.map(({ resource }) => resource.key)];
  return { ...transaction, upserts, removals: keys.flatMap(keysOf).filter((key) => !kept.has(key)) };
}

function safe(missing: ReadonlySet<Capability>, held: Entry): Entry {
  const resource = safeFor(missing, held.resource);
  return resource === held.resource ? held : { digest: fingerprintOfResource(resource).digest, resource };
}

type Kind = ChannelResource['kind'];

// Routes refer to listeners and endpoints, listeners to certificates. An unknown kind, from another version, is treated
// as a user of all others.
const rank: ReadonlyMap<string, number> = new Map<Kind, number>([
  ['endpoints', 0],
  ['certificate', 0],
  ['sessionKeys', 0],
  ['listener', 1],
  ['route', 2],
]);
const ranks = [...new Set(rank.values()), rank.size];

function rankOf(kind: string): number {
  return rank.get(kind) ?? rank.size;
}

function kindOfKey(key: ConfigKey): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}

function usedFirst<T extends Entry>(upserts: readonly T[]): T[] {
  return ranks.flatMap((wanted) => upserts.filter(({ resource }) => rankOf(resource.kind) === wanted));
}

function usersFirst<T extends { readonly kind: string }>(removals: readonly T[]): T[] {
  return ranks.toReversed().flatMap((wanted) => removals.filter(({ kind }) => rankOf(kind) === wanted));
}
