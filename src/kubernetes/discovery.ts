import { gatewayGroups, type KindEntry } from '../core/schema/index.ts';
import type { Logger } from '../telemetry/index.ts';
import { Backoff } from './backoff.ts';
import type { ApiClient } from './client.ts';
import type { Clock } from './clock.ts';
import { customResourceDefinitions, preferredVersion, readInstalledKind, type InstalledKind } from './custom-resource-definition.ts';
import { ApiError, messageOf, ProtocolError } from './errors.ts';
import type { ObjectEvent } from './inventory.ts';
import { isKubernetesObject, pathOf, resourceType } from './object.ts';
import { Reflector, type OnEvents } from './reflector.ts';

/** A kind to follow, or some objects of it. */
export interface FollowedKind {
  readonly entry: KindEntry;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface DiscoveryOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly kinds: readonly FollowedKind[];
  /** As for a reflector; calls about different kinds may overlap where it returns promises. */
  readonly onEvents: OnEvents;
  /** Called when a definition of a Gateway API kind came, changed or went, with all that there are. Must not throw. */
  readonly onInstalled: (installed: ReadonlyMap<string, InstalledKind>) => void;
}

/** How it stands with one kind. */
export interface KindState {
  /** `waiting`: not known yet whether it exists; `absent`: known not to; `following`: told, or about to be. */
  readonly phase: 'waiting' | 'absent' | 'following';
  readonly synced: boolean;
  readonly version?: string;
  /** Milliseconds since the API server was last heard on it. */
  readonly lastContact?: number;
  readonly problem?: string;
}

/** Whether a kind exists only where its definition is installed. */
function isCustom({ group }: KindEntry): boolean {
  return gatewayGroups.includes(group);
}

interface Served {
  readonly version: string;
  /** The definition's; one that was made anew serves other objects. */
  readonly uid: string;
}

interface Following extends Served {
  readonly reflector: Reflector;
}

/**
 * Follows each kind for as long as it exists: kinds of Kubernetes always, those of the Gateway API while their
 * CustomResourceDefinitions are there, in the version that is served. A kind that goes takes its objects along.
 * Which kind is which resource comes from the schema's fixed table, never from the cluster.
 */
export class Discovery {
  private readonly options: DiscoveryOptions;
  private readonly definitions: Reflector;
  private readonly installed = new Map<string, InstalledKind>();
  private readonly following = new Map<FollowedKind, Following>();
  /** Definitions to read again. */
  private readonly outdated = new Set<string>();
  private readonly controller = new AbortController();
  private readonly backoff: Backoff;
  private readonly byDefinition: ReadonlyMap<string, readonly FollowedKind[]>;
  private working: Promise<void> = Promise.resolve();
  /** The definition that is being read at present. */
  private reading: string | undefined;
  private lastProblem: string | undefined;

  /** Starts at once. */
  constructor(options: DiscoveryOptions) {
    this.options = options;
    this.backoff = new Backoff(() => options.clock.random());
    this.byDefinition = Map.groupBy(options.kinds.filter(({ entry }) => isCustom(entry)), ({ entry }) => definitionOf(entry));
    for (const kind of options.kinds) if (!isCustom(kind.entry)) this.start(kind, { version: 'v1', uid: '' });
    const { client, clock, log } = options;
    this.definitions = new Reflector({
      client, clock, log,
      // Other people's definitions are many and large: their metadata will do, and ours are read one by one.
      selection: { type: customResourceDefinitions, part: 'metadata' },
      onEvents: (events) => this.note(events),
    });
  }

  /** Whether the reader was told of everything that exists. */
  get synced(): boolean {
    return this.options.kinds.every((kind) => this.stateOf(kind).synced);
  }

  /** Whether all definitions that are installed have been read. */
  get settled(): boolean {
    return this.definitions.synced && this.reading === undefined && this.outdated.size === 0;
  }

  /** How it stands with a kind of `options.kinds`. */
  stateOf(kind: FollowedKind): KindState {
    const following = this.following.get(kind);
    const problem = following === undefined ? (this.definitions.problem ?? this.lastProblem) : following.reflector.problem;
    const trouble = problem === undefined ? {} : { problem };
    if (following !== undefined) {
      const { version, reflector } = following;
      return { phase: 'following', synced: reflector.synced, version, ...contactOf(reflector), ...trouble };
    }
    const isKnown = this.definitions.synced && !this.isUncertain(definitionOf(kind.entry));
    return { phase: isKnown ? 'absent' : 'waiting', synced: isKnown, ...contactOf(this.definitions), ...trouble };
  }

  /** Ends it; nothing is told any more once this has resolved. */
  async stop(): Promise<void> {
    this.controller.abort(new Error('discovery was stopped'));
    await this.definitions.stop();
    await this.working;
    await Promise.all([...this.following.values()].map(({ reflector }) => reflector.stop()));
  }

  private note(events: readonly ObjectEvent[]): void {
    for (const { ref } of events) if (gatewayGroups.some((group) => ref.name.endsWith(`.${group}`))) this.outdated.add(ref.name);
    if (this.reading === undefined) this.working = this.work();
  }

  /** One definition after the other, so that a kind is never started twice. */
  private isUncertain(definition: string): boolean {
    return this.reading === definition || this.outdated.has(definition);
  }

  /** One definition after the other, so that a kind is never started twice. */
  private async work(): Promise<void> {
    const { signal } = this.controller;
    for (let name = first(this.outdated); name !== undefined && !signal.aborted; name = first(this.outdated)) {
      this.reading = name;
      // Before it is read: what happens meanwhile makes it outdated again.
      this.outdated.delete(name);
      try {
        await this.settle(name, await this.read(name));
        this.backoff.reset();
        this.lastProblem = undefined;
      } catch (error) {
        if (signal.aborted) break;
        this.outdated.add(name);
        this.lastProblem = messageOf(error);
        this.options.log.warn({ definition: name, problem: this.lastProblem }, 'cannot read CustomResourceDefinition');
        await this.options.clock.sleep(this.backoff.next(error instanceof ApiError ? error.retryAfter : undefined), signal);
      }
    }
    this.reading = undefined;
  }

  private async read(name: string): Promise<InstalledKind | undefined> {
    try {
      const definition = await this.options.client.request({ path: pathOf(customResourceDefinitions, { name }), signal: this.controller.signal });
      if (!isKubernetesObject(definition)) throw new ProtocolError('the API server sent a response that is not a valid object');
      return readInstalledKind(definition);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  private async settle(name: string, installed: InstalledKind | undefined): Promise<void> {
    if (installed === undefined) this.installed.delete(name);
    else this.installed.set(name, installed);
    const version = installed?.established === true ? preferredVersion(installed) : undefined;
    const served = installed === undefined || version === undefined ? undefined : { version, uid: installed.uid };
    for (const kind of this.byDefinition.get(name) ?? []) await this.follow(kind, served);
    this.options.onInstalled(this.installed);
  }

  private async follow(kind: FollowedKind, served: Served | undefined): Promise<void> {
    const current = this.following.get(kind);
    if (current?.version === served?.version && current?.uid === served?.uid) return;
    if (served === undefined) {
      await current?.reflector.retire();
      this.following.delete(kind);
    } else {
      await current?.reflector.stop();
      this.start(kind, served, current?.reflector);
    }
    this.options.log.info({ kind: kind.entry.kind, version: served?.version ?? 'none' }, 'served version changed');
  }

  private start(kind: FollowedKind, { version, uid }: Served, former?: Reflector): void {
    const { client, clock, log, onEvents } = this.options;
    const { entry, ...selection } = kind;
    const type = resourceType(entry, version);
    this.following.set(kind, { version, uid, reflector: new Reflector({ client, clock, log, onEvents, selection: { ...selection, type } }, former) });
  }
}

function definitionOf({ plural, group }: KindEntry): string {
  return `${plural}.${group}`;
}

function contactOf({ lastContact }: Reflector): { lastContact?: number } {
  return lastContact === undefined ? {} : { lastContact };
}

function first(names: ReadonlySet<string>): string | undefined {
  return names.values().next().value;
}
