import { deepEqual } from '../core/incremental/index.ts';
import type { OwnStatus } from '../core/status/emit.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import type { LiveObject, LiveObjects } from './live-objects.ts';
import { mergeStatus, withoutRoom } from './merge-status.ts';
import type { ClusterWriter, EventSink, WireObject, WriteResult } from './ports.ts';
import { statusFullEvents, statusEvents, regarding } from './status-events.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { NextTurn } from '../time/next-turn.ts';
import { qualifiedName, refOfKey } from '../core/resources/reference.ts';
import { WorkQueue } from './work-queue.ts';

export interface StatusWriterOptions {
  readonly writer: Pick<ClusterWriter, 'updateStatus'>;
  readonly live: LiveObjects;
  /** The desired state of our part of an object's status. */
  readonly wanted: (key: string) => OwnStatus | undefined;
  /** Checked before each write. */
  readonly mayWrite: () => boolean;
  readonly controllerName: string;
  readonly events: EventSink;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock?: Pick<Clock, 'now' | 'date'>;
  /** Milliseconds; see `defaultPace`. */
  readonly pace?: Partial<Pace>;
}

/** Delays between writes, in milliseconds. */
export interface Pace {
  /** Minimum delay between two writes of an object. It combines frequent changes into one write. */
  readonly rest: number;
  /** Minimum delay between the beginnings of two groups of writes. Objects that change meanwhile are written in one group, which takes
   * less processor time than a wake-up for each. */
  readonly group: number;
  /** The same before a write that changes nothing but counts of attached routes. */
  readonly countRest: number;
  /** Delay of a retry after a write that failed or has an unknown outcome. It doubles with each further failure for the same object. */
  readonly retry: number;
  readonly longestRetry: number;
  /** An unchanged status that has to be written again was overwritten by another writer. After `rewrites` of these
   * within `window` the object is left alone until the window has passed. */
  readonly rewrites: number;
  readonly window: number;
}

const defaultPace: Pace = {
  rest: 100,
  group: 100,
  countRest: 1_000,
  retry: 1_000,
  longestRetry: 60_000,
  rewrites: 5,
  window: 60_000,
};

/** Maximum number of writes in flight, over all objects. */
const concurrency = 16;
/** Maximum number of objects that are compared with their desired statuses between two turns of the event loop: most may need no write. */
const comparisons = 100;

interface Written {
  readonly status: OwnStatus | undefined;
  /** Milliseconds of the wall clock. */
  readonly at: number;
  /** Times of recent writes of the same status. */
  readonly rewrites: readonly number[];
}

/** Writes of an object that failed one after the other. */
interface Failures {
  readonly count: number;
  /** The outcome that was logged last. */
  readonly logged: WriteResult['type'] | undefined;
}

interface Sent {
  readonly kind: string;
  /** The object before the write. */
  readonly before: WireObject;
  readonly object: WireObject;
  readonly ours: OwnStatus | undefined;
}

/**
 * Reconciles the statuses of live objects. Each object has at most one write in flight, and a short rest after it. Changes in the
 * meantime cause one more reconciliation with the newest state. Namespaces take turns. After a conflict, the arrival of the newer object
 * enqueues the key again.
 */
export class StatusWriter {
  private readonly options: StatusWriterOptions;
  private readonly pace: Pace;
  private readonly clock: Pick<Clock, 'now' | 'date'>;
  private readonly queue = new WorkQueue((key) => refOfKey(key).namespace);
  private readonly flying = new Set<string>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** Objects that are not written for a while, with the status that was written too often. */
  private readonly contested = new Map<string, OwnStatus | undefined>();
  private readonly written = new Map<string, Written>();
  private readonly failures = new Map<string, Failures>();
  private readonly writes: Family<Cell>;
  private readonly suppressed: Family<Cell>;
  private idle: PromiseWithResolvers<void> | undefined;
  /** Runs until the next group of writes may begin. */
  private grouping: NodeJS.Timeout | undefined;
  /** Continues with the objects that are left to compare. */
  private readonly pumpLater = new NextTurn(() => this.pump());
  /** Runs while there are entries in `#written`. */
  private expiry: NodeJS.Timeout | undefined;

  constructor(options: StatusWriterOptions) {
    this.options = options;
    this.pace = { ...defaultPace, ...options.pace };
    this.clock = options.clock ?? systemClock;
    const { metrics } = options;
    this.writes = metrics.counter({
      name: 'status_writes_total',
      help: 'Status writes, by result.',
      labels: ['kind', 'result'],
    });
    this.suppressed = metrics.counter({
      name: 'status_writes_suppressed_total',
      help: 'Status writes that were skipped because the status was equal or contested.',
      labels: ['kind', 'reason'],
    });
  }

  /** Call this when the object or our part of its status may have changed. */
  enqueue(key: string): void {
    this.queue.add(key);
    if (this.grouping === undefined) this.beginGroup();
  }

  /** Reconciles all live objects, at the start of a term as leader. */
  enqueueAll(): void {
    for (const key of this.options.live.keys()) this.queue.add(key);
    this.pump();
  }

  /** Clears the queue. Resolves when no write is in flight. */
  async stop(): Promise<void> {
    this.queue.clear();
    clearTimeout(this.grouping);
    clearTimeout(this.expiry);
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    if (this.flying.size === 0) return;
    this.idle ??= Promise.withResolvers<void>();
    await this.idle.promise;
    clearTimeout(this.expiry);
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private beginGroup(): void {
    const { group } = this.pace;
    if (group > 0)
      this.grouping = setTimeout(() => {
        this.grouping = undefined;
        if (!this.queue.isEmpty) this.beginGroup();
      }, group);
    this.pump();
  }

  private pump(): void {
    if (!this.options.mayWrite()) {
      // A new leader reconciles all objects.
      this.queue.clear();
      this.failures.clear();
      return;
    }
    for (let compared = 0; this.flying.size < concurrency; compared += 1) {
      if (compared === comparisons) return this.pumpLater.request();
      const key = this.queue.take();
      if (key === undefined) return;
      this.reconcile(key);
      if (!this.flying.has(key)) this.queue.done(key);
    }
  }

  private reconcile(key: string): void {
    // A timer takes it up again, and so does a change of its desired status.
    if (this.isLeftAlone(key)) return;
    const rest = this.restOf(key);
    // Another status is desired since the last write. If not, most events are the echo of that write, and nothing differs.
    if (rest > 0 && this.written.get(key)?.status !== this.options.wanted(key)) this.later(key, rest);
    else this.begin(key, rest);
  }

  /** Writes the status of an object if it differs, after `rest` milliseconds. */
  private begin(key: string, rest: number): void {
    const { live, wanted, controllerName } = this.options;
    const present = live.get(key);
    if (present === undefined) {
      this.written.delete(key);
      this.failures.delete(key);
      return;
    }
    const ours = wanted(key);
    const status = mergeStatus(present.object, ours, {
      controllerName,
      now: this.clock
        .date()
        .toISOString()
        .replace(/\.\d+Z$/, 'Z'),
    });
    if (status === 'same') {
      this.suppressed.at(present.kind, 'equal').value += 1;
      this.noteSuccess(key);
    } else if (rest > 0) this.later(key, rest);
    else if (this.isContested(key, present, ours)) this.later(key, this.pace.window);
    else
      void this.send(key, { kind: present.kind, before: present.object, object: { ...present.object, status }, ours });
  }

  private async send(key: string, { kind, before, object, ours }: Sent): Promise<void> {
    this.flying.add(key);
    const result = await this.options.writer.updateStatus(kind, object);
    this.flying.delete(key);
    this.writes.at(kind, result.type).value += 1;
    if (result.type === 'ok') {
      this.note(key, ours);
      this.tell(key, { kind, before, object, ours });
    }
    this.conclude(key, kind, result);
    this.queue.done(key);
    this.pump();
    if (this.flying.size === 0) this.idle?.resolve();
  }

  private tell(key: string, { kind, before, object, ours }: Sent): void {
    const { controllerName, events, log } = this.options;
    const leftOut = withoutRoom(ours, object['status'], controllerName);
    if (leftOut.length > 0)
      log.warn(
        {
          object: key,
          leftOut: leftOut.map(({ ref }) => qualifiedName(ref)).slice(0, 20),
          count: leftOut.length,
        },
        'the status is full, some entries are left out',
      );
    for (const note of [
      ...statusEvents(kind, before, object['status'], controllerName),
      ...statusFullEvents(kind, object, leftOut),
    ])
      events.record(note);
  }

  private conclude(key: string, kind: string, result: WriteResult): void {
    const { live, log, mayWrite } = this.options;
    const { retry } = this.pace;
    if (result.type === 'ok') {
      // Stores the response without waiting for the watch. Otherwise the next write would use an outdated object.
      if (result.object !== undefined) live.update(kind, result.object);
      this.noteSuccess(key);
      return;
    }
    if (!mayWrite()) {
      log.debug(
        { object: key, outcome: result.type, problem: result.message },
        'leadership was lost during a write of a status',
      );
      return;
    }
    switch (result.type) {
      case 'conflict':
      case 'exists':
        this.noteFailure(key, retry);
        return;
      case 'notFound':
        // The watch delivers the deletion soon. Otherwise only the path was not found, as while a CRD is changed.
        this.noteFailure(key, retry * 5);
        return;
      case 'forbidden':
      case 'invalid':
      case 'unavailable':
        // Once for all retries: if the API server refuses all writes, there are thousands of objects.
        if (this.failures.get(key)?.logged !== result.type)
          log.warn({ object: key, outcome: result.type, problem: result.message }, 'cannot write status');
        this.noteFailure(key, retry * 5, result.type);
    }
  }

  /** Retries later, and each time after a longer delay. A change of the object or of its desired status does not wait for that. */
  private noteFailure(key: string, delay: number, logged = this.failures.get(key)?.logged): void {
    const count = this.failures.get(key)?.count ?? 0;
    this.failures.set(key, { count: count + 1, logged });
    this.later(key, Math.min(delay * 2 ** count, this.pace.longestRetry));
  }

  private noteSuccess(key: string): void {
    const failures = this.failures.get(key);
    if (failures === undefined) return;
    this.failures.delete(key);
    if (failures.logged !== undefined)
      this.options.log.info({ object: key, failures: failures.count }, 'the status is up to date again');
  }

  private note(key: string, ours: OwnStatus | undefined): void {
    const before = this.written.get(key);
    const at = this.clock.now();
    const rewrites = before?.status === ours ? [...(before?.rewrites ?? []), at] : [];
    this.written.set(key, { status: ours, at, rewrites: rewrites.slice(-this.pace.rewrites) });
    this.expiry ??= this.expireLater();
  }

  /** Forgets writes that are too old to count, so that an idle controller holds none. */
  private expireLater(): NodeJS.Timeout {
    return setTimeout(() => {
      const now = this.clock.now();
      for (const [key, { at }] of this.written) if (now - at >= this.pace.window) this.written.delete(key);
      this.expiry = this.written.size === 0 ? undefined : this.expireLater();
    }, this.pace.window);
  }

  /** Milliseconds until the object may be written again. */
  private restOf(key: string): number {
    const written = this.written.get(key);
    if (written === undefined) return 0;
    const { rest, countRest } = this.pace;
    const delay = differInCounts(written.status, this.options.wanted(key)) ? countRest : rest;
    return written.at + delay - this.clock.now();
  }

  /** Whether the same status was written too often recently. */
  private isContested(key: string, { kind, object }: LiveObject, ours: OwnStatus | undefined): boolean {
    const before = this.written.get(key);
    if (before === undefined || before.status !== ours) return false;
    const recent = before.rewrites.filter((at) => this.clock.now() - at < this.pace.window);
    if (recent.length < this.pace.rewrites) return false;
    this.suppressed.at(kind, 'contested').value += 1;
    this.options.log.warn({ object: key }, 'another writer keeps overwriting this status, writes pause');
    const note = `Another writer keeps overwriting the status. Writes pause for ${Math.ceil(this.pace.window / 1000)} seconds. Only one controller may write the status.`;
    this.options.events.record({
      regarding: regarding(kind, object),
      type: 'Warning',
      reason: 'StatusContested',
      action: 'Reconcile',
      note,
    });
    this.contested.set(key, ours);
    return true;
  }

  /** Whether the object is left alone until its desired status changes. */
  private isLeftAlone(key: string): boolean {
    return this.contested.has(key) && this.contested.get(key) === this.options.wanted(key);
  }

  private later(key: string, delay: number): void {
    clearTimeout(this.timers.get(key));
    const timer = setTimeout(() => {
      this.timers.delete(key);
      this.contested.delete(key);
      this.enqueue(key);
    }, delay);
    this.timers.set(key, timer);
  }
}

/**
 * Whether two statuses differ, and only in counts of attached routes. Each route that somebody creates changes one, and each write of a
 * Gateway returns as an event to every process that follows it.
 */
function differInCounts(before: OwnStatus | undefined, after: OwnStatus | undefined): boolean {
  if (before === after || before === undefined || after === undefined) return false;
  if (!('listeners' in before && 'listeners' in after)) return false;
  return deepEqual(withoutCounts(before), withoutCounts(after));
}

function withoutCounts({ listeners, ...rest }: Extract<OwnStatus, { readonly listeners: unknown }>): object {
  return { ...rest, listeners: listeners.map(({ attachedRoutes: _attachedRoutes, ...listener }) => listener) };
}
