import type { KindEntry } from '../core/schema/index.ts';
import { customGroups, optionalGroups } from '../core/schema/tables/table.ts';
import type { Logger } from '../telemetry/index.ts';
import { Backoff } from './backoff.ts';
import type { ApiClient } from './client.ts';
import type { Clock } from '../time/clock.ts';
import {
  customResourceDefinitions,
  preferredVersion,
  readInstalledKind,
  type InstalledKind,
} from './custom-resource-definition.ts';
import { ApiError, isForbidden, messageOf, ProtocolError, unlessNotFound } from './errors.ts';
import type { ObjectEvent } from './inventory.ts';
import { isKubernetesObject, pathOf, resourceType } from './object.ts';
import type { ReadingPace } from './reading-pace.ts';
import { Reflector, type OnEvents } from './reflector.ts';
import { readServedKind } from './served-kind.ts';

/** A kind to follow, or a selection of its objects. */
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
  /** As in a reflector. If it returns promises, calls for different kinds may overlap. */
  readonly onEvents: OnEvents;
  /** Of the reflectors for all kinds. Without one, they read events as they arrive. */
  readonly pace?: ReadingPace | undefined;
  /**
   * Called with all definitions of the known groups when one is added, changed or deleted. The next definition is not read before this is
   * done, so whoever changes one all the time does not pile up work. Must not throw.
   */
  readonly onInstalled: (installed: ReadonlyMap<string, InstalledKind>) => unknown;
}

/** The state of one kind. */
export interface KindState {
  /** `waiting`: not known yet whether the kind exists; `absent`: it does not exist; `following`: it is listed and watched. */
  readonly phase: 'waiting' | 'absent' | 'following';
  readonly synced: boolean;
  readonly version?: string;
  /** Milliseconds since the last response of the API server for this kind. */
  readonly lastContact?: number;
  readonly problem?: string;
  /** Whether the API server refuses to list the kind. */
  readonly forbidden?: boolean;
}

/** Milliseconds between two looks at the discovery documents, which cannot be watched. */
const probeInterval = 30_000;

/** Whether the kind requires a CustomResourceDefinition. */
function isCustom({ group }: KindEntry): boolean {
  return customGroups.includes(group);
}

/** Whether only some API servers serve the kind. */
function isOptional({ group }: KindEntry): boolean {
  return optionalGroups.includes(group);
}

interface Served {
  readonly version: string;
  /** The uid of the definition. A recreated definition serves other objects. */
  readonly uid: string;
}

interface Following extends Served {
  readonly reflector: Reflector;
}

/**
 * Follows each kind while it exists: core kinds always, optional kinds of Kubernetes while the discovery documents contain them,
 * other kinds while their CustomResourceDefinitions are installed, in the served version. The deletion of a kind deletes its objects. The mapping from kinds to resources comes from the schema's fixed
 * table, never from the cluster.
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
  private readonly probing: readonly Promise<void>[];
  /** Definitions whose discovery documents were read. */
  private readonly probed = new Set<string>();
  /** The definition that is being read. */
  private reading: string | undefined;
  private lastProblem: string | undefined;

  /** Starts immediately. */
  constructor(options: DiscoveryOptions) {
    this.options = options;
    this.backoff = new Backoff(() => options.clock.random());
    this.byDefinition = Map.groupBy(
      options.kinds.filter(({ entry }) => isCustom(entry) || isOptional(entry)),
      ({ entry }) => definitionOf(entry),
    );
    for (const kind of options.kinds)
      if (!isCustom(kind.entry) && !isOptional(kind.entry)) this.start(kind, { version: 'v1', uid: '' });
    const { client, clock, log } = options;
    this.definitions = new Reflector({
      client,
      clock,
      log,
      // Clusters have many large definitions of other projects. Metadata suffices for these, and ours are read one by one.
      selection: { type: customResourceDefinitions, part: 'metadata' },
      onEvents: (events) => this.note(events),
    });
    this.probing = options.kinds.filter(({ entry }) => isOptional(entry)).map(({ entry }) => this.probe(entry));
  }

  /** Whether the reader has received all existing objects. */
  get synced(): boolean {
    return this.options.kinds.every((kind) => this.stateOf(kind).synced);
  }

  /** Whether all installed definitions have been read. */
  get settled(): boolean {
    const isRead = this.definitions.synced && this.reading === undefined && this.outdated.size === 0;
    return isRead && this.probed.size === this.probing.length;
  }

  /** The state of a kind of `options.kinds`. */
  stateOf(kind: FollowedKind): KindState {
    const following = this.following.get(kind);
    const problem =
      following === undefined ? (this.definitions.problem ?? this.lastProblem) : following.reflector.problem;
    const details = problem === undefined ? {} : { problem };
    if (following !== undefined) {
      const { version, reflector } = following;
      const { synced, forbidden } = reflector;
      return {
        phase: 'following',
        synced,
        version,
        ...contactOf(reflector),
        ...details,
        ...(forbidden && { forbidden }),
      };
    }
    const definition = definitionOf(kind.entry);
    const isKnown = isOptional(kind.entry)
      ? this.probed.has(definition)
      : this.definitions.synced && !this.isUncertain(definition);
    return { phase: isKnown ? 'absent' : 'waiting', synced: isKnown, ...contactOf(this.definitions), ...details };
  }

  /** Stops following. No events follow once this has resolved. */
  async stop(): Promise<void> {
    this.controller.abort(new Error('discovery was stopped'));
    await this.definitions.stop();
    await this.working;
    await Promise.all(this.probing);
    await Promise.all([...this.following.values()].map(({ reflector }) => reflector.stop()));
  }

  private note(events: readonly ObjectEvent[]): void {
    for (const { ref } of events)
      if (customGroups.some((group) => ref.name.endsWith(`.${group}`))) this.outdated.add(ref.name);
    if (this.reading === undefined) this.working = this.work();
  }

  /** Looks again and again whether the API server serves a kind. A failure changes nothing. */
  private async probe(entry: KindEntry): Promise<void> {
    const { client, clock, log } = this.options;
    const { signal } = this.controller;
    const definition = definitionOf(entry);
    const backoff = new Backoff(() => clock.random());
    while (!signal.aborted) {
      let delay = probeInterval;
      try {
        const served = await readServedKind(client, entry, signal);
        const version = served && preferredVersion(served);
        const current = this.installed.get(definition);
        if (!this.probed.has(definition) || version !== (current && preferredVersion(current)))
          await this.settle(definition, served);
        this.probed.add(definition);
        backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        const problem = messageOf(error);
        log.warn({ kind: entry.kind, problem }, 'cannot read the discovery documents of the API server');
        // Clusters may hide them. This must not stop everything else.
        if (isForbidden(error)) this.probed.add(definition);
        delay = Math.min(backoff.next(error instanceof ApiError ? error.retryAfter : undefined), probeInterval);
      }
      await clock.sleep(delay, signal);
    }
  }

  /** True while the definition is queued or being read, so that its state may change. */
  private isUncertain(definition: string): boolean {
    return this.reading === definition || this.outdated.has(definition);
  }

  /** Processes one definition after the other, so that no kind is started twice. */
  private async work(): Promise<void> {
    const { signal } = this.controller;
    for (let name = first(this.outdated); name !== undefined && !signal.aborted; name = first(this.outdated)) {
      this.reading = name;
      // Deleted before the read, so that a change during the read marks it as outdated again.
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
        await this.options.clock.sleep(
          this.backoff.next(error instanceof ApiError ? error.retryAfter : undefined),
          signal,
        );
      }
    }
    this.reading = undefined;
  }

  private async read(name: string): Promise<InstalledKind | undefined> {
    const path = pathOf(customResourceDefinitions, { name });
    const definition = await unlessNotFound(this.options.client.request({ path, signal: this.controller.signal }));
    if (definition === undefined) return undefined;
    if (!isKubernetesObject(definition))
      throw new ProtocolError('the API server sent a response that is not a valid object');
    return readInstalledKind(definition);
  }

  private async settle(name: string, installed: InstalledKind | undefined): Promise<void> {
    if (installed === undefined) this.installed.delete(name);
    else this.installed.set(name, installed);
    const version = installed?.established === true ? preferredVersion(installed) : undefined;
    const served = installed === undefined || version === undefined ? undefined : { version, uid: installed.uid };
    for (const kind of this.byDefinition.get(name) ?? []) await this.follow(kind, served);
    await this.options.onInstalled(this.installed);
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
    const { client, clock, log, onEvents, pace } = this.options;
    const { entry, ...selection } = kind;
    const type = resourceType(entry, version);
    this.following.set(kind, {
      version,
      uid,
      reflector: new Reflector({ client, clock, log, onEvents, pace, selection: { ...selection, type } }, former),
    });
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
