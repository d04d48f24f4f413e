import { createHash } from 'node:crypto';
import type { Logger } from '../telemetry/index.ts';
import type { ApiClient } from './client.ts';
import type { Clock } from '../time/clock.ts';
import { FairQueue } from '../fairness/fair-queue.ts';
import { microTime, type KubernetesObject, type ResourceType } from './object.ts';
import { create, mergePatch, type WriteOutcome } from './writers.ts';

const eventType: ResourceType = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', namespaced: true };

/** The object that an event is about. Cluster-scoped kinds have no `namespace`. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface EventNote {
  readonly regarding: Regarding;
  readonly type: 'Normal' | 'Warning';
  /** The reason, in one CamelCase word: `CertificateExpired`. */
  readonly reason: string;
  /** The action that was taken, in one CamelCase word: `Programming`. */
  readonly action: string;
  /** For people. */
  readonly note: string;
}

export interface RecorderOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** The reporting controller: a controllerName such as `sallyport.dev/controller`. */
  readonly controller: string;
  /** The reporting instance, such as the pod's name. */
  readonly instance: string;
}

/** Milliseconds within which an equal event counts as a repetition. */
const seriesWindow = 6 * 60_000;
/** Milliseconds between two updates of one series. */
const seriesPeriod = 60_000;
/** Limit of new events about one object: a burst of this size, then one per `refillPeriod` milliseconds. */
const burst = 10;
const refillPeriod = 60_000;
/** Maximum number of remembered objects and series, and of queued events. */
const maxRemembered = 2_000;
const maxWaiting = 200;

interface Series {
  readonly name: string;
  readonly namespace: string;
  count: number;
  lastSeen: number;
  lastSent: number;
}

interface Budget {
  tokens: number;
  at: number;
}

/**
 * Records Events about objects. A repeated event becomes a series, which is updated at most once a minute. The rate of events per
 * object is limited to a few a minute. Best effort: an event that cannot be sent is dropped, and `record` never blocks.
 */
export class EventRecorder {
  private readonly options: RecorderOptions;
  private readonly series = new Map<string, Series>();
  private readonly budgets = new Map<string, Budget>();
  private readonly controller = new AbortController();
  /** By namespace, so that one with many objects does not keep the events of others away. */
  private readonly waiting = new FairQueue<() => Promise<WriteOutcome>>();
  private sending: Promise<void> | undefined;

  constructor(options: RecorderOptions) {
    this.options = options;
  }

  /** Records an event with the current time. Returns at once. */
  record(event: EventNote): void {
    // What is cut off must not stay in memory for each of thousands of series.
    const note = { ...event, note: shorten(event.note) };
    const now = this.options.clock.now();
    const key = JSON.stringify([note.regarding, note.type, note.reason, note.action, note.note]);
    const series = this.series.get(key);
    if (series === undefined || now - series.lastSeen > seriesWindow) this.begin(key, note, now);
    else this.repeat(key, series, now);
  }

  /** Waits until all recorded events have been sent or dropped. */
  async flush(): Promise<void> {
    await this.sending;
  }

  /** Drops the queued events. */
  async stop(): Promise<void> {
    this.controller.abort(new Error('the event recorder was stopped'));
    await this.sending;
  }

  private begin(key: string, note: EventNote, now: number): void {
    if (!this.isAffordable(JSON.stringify(note.regarding), now)) return;
    const { regarding } = note;
    const namespace = regarding.namespace ?? 'default';
    const serial = createHash('sha256').update(`${key} ${now} ${this.options.instance}`).digest('hex').slice(0, 16);
    // A name has at most 253 characters, even if the object's name is as long.
    const name = `${regarding.name.slice(0, 230)}.${serial}`;
    remember(this.series, key, { name, namespace, count: 1, lastSeen: now, lastSent: now });
    this.send(namespace, () =>
      create(this.writer, this.eventOf(note, { name, namespace }), { signal: this.controller.signal }),
    );
  }

  private repeat(key: string, series: Series, now: number): void {
    series.count += 1;
    series.lastSeen = now;
    if (now - series.lastSent < seriesPeriod) return;
    series.lastSent = now;
    const patch = { series: { count: series.count, lastObservedTime: microTime(this.options.clock.date()) } };
    this.send(series.namespace, async () => {
      const outcome = await mergePatch(this.writer, series, patch, { signal: this.controller.signal });
      // Events are kept for an hour. The next one starts a new series.
      if (outcome.type === 'notFound') this.series.delete(key);
      return outcome;
    });
  }

  private get writer() {
    return { client: this.options.client, type: eventType };
  }

  private eventOf(note: EventNote, metadata: { name: string; namespace: string }): KubernetesObject {
    return {
      metadata,
      eventTime: microTime(this.options.clock.date()),
      reportingController: this.options.controller,
      reportingInstance: this.options.instance.slice(0, 128),
      regarding: note.regarding,
      type: note.type,
      reason: note.reason.slice(0, 128),
      action: note.action.slice(0, 128),
      note: note.note,
    };
  }

  private isAffordable(object: string, now: number): boolean {
    const { tokens, at } = this.budgets.get(object) ?? { tokens: burst, at: now };
    const refilled = Math.min(burst, tokens + (now - at) / refillPeriod);
    const isAffordable = refilled >= 1;
    remember(this.budgets, object, { tokens: isAffordable ? refilled - 1 : refilled, at: now });
    return isAffordable;
  }

  /** Without room, drops the oldest event of the namespace with most, or this one if that is its own. */
  private send(namespace: string, write: () => Promise<WriteOutcome>): void {
    if (this.waiting.size >= maxWaiting && this.waiting.replace([namespace]) === undefined) return;
    this.waiting.add(write, [namespace]);
    this.sending ??= this.sendAll();
  }

  /** Sends one event after the other, because events are not urgent. */
  private async sendAll(): Promise<void> {
    for (let write = this.waiting.take(); write !== undefined; write = this.waiting.take()) {
      const outcome: WriteOutcome = await (this.controller.signal.aborted ? { type: 'ok' } : write());
      if (outcome.type !== 'ok') this.options.log.debug({ outcome }, 'cannot record event');
    }
    this.sending = undefined;
  }
}

/** Sets an entry as the newest, and removes the oldest if there are too many. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > maxRemembered ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}

const longestNote = 1_024;

/** The API server rejects longer notes. It counts bytes. */
function shorten(note: string): string {
  let text = note.slice(0, longestNote);
  while (Buffer.byteLength(text) > longestNote - 3) text = text.slice(0, -16);
  return text === note ? note : `${text}…`;
}
