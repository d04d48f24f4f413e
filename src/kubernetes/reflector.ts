import type { Logger } from '../telemetry/index.ts';
import { isNewer } from '../core/text/resource-version.ts';
import { Backoff } from './backoff.ts';
import type { ApiClient } from './client.ts';
import type { Clock } from '../time/clock.ts';
import { ApiError, ConnectionError, isForbidden, messageOf, ProtocolError } from './errors.ts';
import { Inventory, keyOf, type ObjectEvent } from './inventory.ts';
import { listPages, presentVersion, type Selection } from './list.ts';
import type { ReadingPace } from './reading-pace.ts';
import { watchFrom, type WatchEvent } from './watch.ts';

export type { ObjectEvent } from './inventory.ts';

/**
 * Receives events in order; the next request waits for it. May return its milliseconds of work, if it also waits for other things. An error
 * is logged, and a later list repeats the events.
 */
export type OnEvents = (events: readonly ObjectEvent[]) => number | void | Promise<number | void>;

export interface ReflectorOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly selection: Selection;
  readonly onEvents: OnEvents;
  /** Without one, events are read as they arrive. */
  readonly pace?: ReadingPace | undefined;
}

/** Milliseconds. A watch that ends sooner counts as a failure, also with events: the next one would end as soon. */
const shortestWatch = 1_000;
/** Versions from which a watch begins anywhere, so that deletions in between are never told. API servers send none of them. */
const anywhere: ReadonlySet<string> = new Set(['', '0']);
/** Milliseconds after which a watch counts as a success even without events. */
const longWatch = 60_000;

/**
 * Follows a selection until stopped: a list, then watches that each resume where the last one ended, and another list when the
 * server no longer knows that resourceVersion, or goes back to an earlier one because it was restored from a backup. The reader receives
 * the newest version and the deletion of each object exactly once, even across connection failures, and all objects once more after a
 * restore. Versions that arrive together with a newer one are left out. Stores no objects.
 */
export class Reflector {
  private readonly options: ReflectorOptions;
  private readonly inventory: Inventory;
  private readonly backoff: Backoff;
  private readonly controller = new AbortController();
  private readonly firstSync = Promise.withResolvers<void>();
  private readonly running: Promise<void>;
  /** The resourceVersion at which the next watch resumes. If `undefined`, a list is due. */
  private place: string | undefined;
  /** The last version that the API server sent. A smaller one follows only if it was restored from a backup. */
  private latest = '';
  private contact: number | undefined;
  private isSynced = false;
  /** Whether the reader missed events, which only a list can repeat. */
  private owesList = false;
  private lastProblem: string | undefined;
  private isForbidden = false;

  /** Starts immediately. `former` is a stopped reflector for another version of the same kind. Its objects are taken over. */
  constructor(options: ReflectorOptions, former?: Reflector) {
    this.options = options;
    this.inventory = new Inventory(options.selection.type);
    if (former !== undefined) this.inventory.adopt(former.inventory);
    this.backoff = new Backoff(() => options.clock.random());
    this.running = this.run();
  }

  /** Whether the reader has received all objects once. */
  get synced(): boolean {
    return this.isSynced;
  }

  /** Resolves when the reader has received all objects once. Never settles if the reflector is stopped before. */
  get whenSynced(): Promise<void> {
    return this.firstSync.promise;
  }

  /** Milliseconds since the last response of the API server for this kind. `undefined` before the first one. */
  get lastContact(): number | undefined {
    return this.contact === undefined ? undefined : this.options.clock.now() - this.contact;
  }

  /** Why the API server does not respond at present. */
  get problem(): string | undefined {
    return this.lastProblem;
  }

  /** Whether the API server refused the last request, because the credentials do not suffice. */
  get forbidden(): boolean {
    return this.isForbidden;
  }

  /** Number of objects that the reader has received. */
  get size(): number {
    return this.inventory.size;
  }

  /** Stops. No events follow once this has resolved. */
  async stop(): Promise<void> {
    this.controller.abort(new Error('the reflector was stopped'));
    void this.options.pace?.catchUp();
    await this.running;
  }

  /** Stops, and reports all objects as deleted, because their kind no longer exists. */
  async retire(): Promise<void> {
    await this.stop();
    await this.tell(this.inventory.retain(new Set()));
  }

  private async run(): Promise<void> {
    const { signal } = this.controller;
    const { clock } = this.options;
    while (!signal.aborted) {
      try {
        if (this.owesList || (await this.isAhead(signal))) this.place = undefined;
        this.place ??= await this.list(signal);
        await this.watch(this.place, signal);
      } catch (error) {
        if (signal.aborted) return;
        await clock.sleep(this.recover(error), signal);
      }
    }
  }

  /**
   * Whether the API server has not reached the place, because it was restored from a backup. A watch from there would leave out all
   * changes until it reaches it.
   */
  private async isAhead(signal: AbortSignal): Promise<boolean> {
    if (this.place === undefined) return false;
    const version = await presentVersion(this.options.client, this.options.selection, signal);
    this.heard();
    return isNewer(this.place, version);
  }

  /** @returns the version of the list */
  private async list(signal: AbortSignal): Promise<string> {
    const listed = new Set<string>();
    let version = '';
    this.owesList = false;
    for await (const { objects, resourceVersion, restarted } of listPages(
      this.options.client,
      this.options.selection,
      signal,
    )) {
      this.heard();
      if (restarted) listed.clear();
      if (isNewer(this.latest, resourceVersion)) this.inventory.doubtAll();
      this.latest = resourceVersion;
      for (const { metadata } of objects) listed.add(keyOf(metadata));
      await this.tell(objects.flatMap((object) => this.inventory.upsert(object)));
      signal.throwIfAborted();
      version = resourceVersion;
    }
    await this.tell(this.inventory.retain(listed));
    this.isSynced = true;
    this.firstSync.resolve();
    return version;
  }

  private async watch(place: string, signal: AbortSignal): Promise<void> {
    const started = this.options.clock.now();
    for await (const batch of watchFrom(this.options, place, signal)) {
      this.heard();
      if (goesBack(this.latest, batch))
        throw new ProtocolError('the API server went back to an earlier version: it was restored from a backup');
      if (batch.length > 0) this.backoff.reset();
      const events = batch.flatMap(({ type, object }) => {
        if (type === 'bookmark') return [];
        return type === 'upsert' ? this.inventory.upsert(object) : this.inventory.remove(object);
      });
      await this.tell(newestOnly(events));
      const version = batch.at(-1)?.object.metadata.resourceVersion ?? '';
      if (!anywhere.has(version)) this.latest = this.place = version;
      signal.throwIfAborted();
    }
    const lasted = this.options.clock.now() - started;
    if (lasted < shortestWatch) throw new ConnectionError('the watch ended as soon as it began');
    if (lasted > longWatch) this.backoff.reset();
    this.heard();
  }

  private async tell(events: readonly ObjectEvent[]): Promise<void> {
    if (events.length === 0) return;
    const { clock, pace } = this.options;
    const begun = clock.now();
    let work: number | void = undefined;
    try {
      work = await this.options.onEvents(events);
    } catch (error) {
      this.inventory.distrust(events);
      this.owesList = true;
      this.options.log.error({ kind: this.options.selection.type.kind, err: error }, 'handling events failed');
    } finally {
      pace?.noteWork(work ?? clock.now() - begun);
    }
  }

  private heard(): void {
    this.contact = this.options.clock.now();
    this.lastProblem = undefined;
    this.isForbidden = false;
  }

  /** @returns the delay of the retry in milliseconds */
  private recover(error: unknown): number {
    if (needsList(error)) this.place = undefined;
    this.lastProblem = messageOf(error);
    this.isForbidden = isForbidden(error);
    const delay = this.backoff.next(error instanceof ApiError ? error.retryAfter : undefined);
    const { type } = this.options.selection;
    this.options.log.warn(
      { kind: type.kind, apiVersion: type.apiVersion, problem: this.lastProblem, delay: Math.round(delay) },
      'watch interrupted',
    );
    return delay;
  }
}

/** Whether an event is of a version before the place, or before that of another event that precedes it. */
function goesBack(place: string, batch: readonly WatchEvent[]): boolean {
  let last = place;
  for (const { object } of batch) {
    const { resourceVersion: version = '' } = object.metadata;
    if (anywhere.has(version)) continue;
    if (isNewer(last, version)) return true;
    last = version;
  }
  return false;
}

/** Leaves out versions of objects that a later event replaces: most new objects get a status at once. */
function newestOnly(events: readonly ObjectEvent[]): readonly ObjectEvent[] {
  if (events.length < 2) return events;
  const last = new Map(events.map((event, position) => [keyOf(event.ref), position]));
  return events.filter((event, position) => event.type === 'delete' || last.get(keyOf(event.ref)) === position);
}

/** A lost connection or a busy server does not invalidate the resourceVersion. Any other error may. */
function needsList(error: unknown): boolean {
  if (error instanceof ApiError) return error.status !== 429 && error.status < 500;
  return error instanceof ProtocolError;
}
