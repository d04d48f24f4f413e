import type { Logger } from '../telemetry/index.ts';
import type { ApiClient } from './client.ts';
import type { Clock } from '../time/clock.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { messageOf } from './errors.ts';
import { LeaseRecord } from './lease-record.ts';

/** Milliseconds. The defaults are those of client-go. */
export interface LeaseTimings {
  /** How long other candidates wait before they take over a lease that is not renewed. */
  readonly leaseDuration: number;
  /** How long a leader continues without a renewal. Shorter than `leaseDuration`. */
  readonly renewDeadline: number;
  /** Delay between attempts to acquire or renew the lease. */
  readonly retryPeriod: number;
}

const defaultTimings: LeaseTimings = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 };
/** Waiting candidates retry after one to this many periods, so that they do not all retry at once. */
const waitingJitter = 1.2;

export interface ElectionOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Unique among the candidates, for example the pod's name and uid. */
  readonly identity: string;
  readonly timings?: LeaseTimings;
  /**
   * Called at the start of each term. `term` is aborted at its end. The lease is released or sought again only after this has
   * returned. If it throws, the term ends.
   */
  readonly lead: (term: AbortSignal) => Promise<void> | void;
}

/**
 * A candidate for a Lease. At most one candidate leads at any time, provided that clocks run at about the same speed. They need
 * not show the same time, because a candidate measures only how long it has seen a record unchanged.
 */
export class Election {
  private readonly options: ElectionOptions;
  private readonly timings: LeaseTimings;
  private readonly record: LeaseRecord;
  private readonly controller = new AbortController();
  private readonly running: Promise<void>;
  private term: AbortSignal | undefined;
  /** The time at which the newest successful renewal was sent. */
  private renewedAt = 0;

  /** Starts immediately. */
  constructor(options: ElectionOptions) {
    this.options = options;
    this.timings = options.timings ?? defaultTimings;
    this.record = new LeaseRecord(options, this.timings.leaseDuration);
    this.running = this.run();
  }

  /** Whether this candidate leads at this moment. Check it before every request that only a leader may send. */
  isLeader(): boolean {
    // After a long suspension this may run before the timers fire. A response after the end of the term does not revive it.
    return this.term?.aborted === false && this.remaining > 0;
  }

  /** The holder of the lease, as last seen. */
  get holder(): string | undefined {
    return this.record.holder;
  }

  /** Ends the term, waits for `lead`, and releases the lease, so that the next leader need not wait. */
  async stop(): Promise<void> {
    this.controller.abort(new Error('the election was stopped'));
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.controller;
    const { clock, log, identity, name } = this.options;
    while (!signal.aborted) {
      const sent = clock.now();
      if (await this.attempt(signal)) {
        this.renewedAt = sent;
        log.info({ lease: name, identity }, 'became leader');
        await this.serve(signal);
        log.info({ lease: name, identity }, 'stopped leading');
      }
      await clock.sleep(this.timings.retryPeriod * (1 + clock.random() * waitingJitter), signal);
    }
  }

  /** Runs one term, until the lease is lost or released. */
  private async serve(stopped: AbortSignal): Promise<void> {
    const resigned = new AbortController();
    const end = AbortSignal.any([stopped, resigned.signal]);
    const deadline = createDeadline(
      this.options.clock,
      this.remaining,
      () => new Error('the lease was not renewed in time'),
      end,
    );
    this.term = deadline.signal;
    const leading = this.lead(deadline.signal, resigned);
    await this.renewUntilLost(deadline, resigned);
    deadline.clear();
    await leading;
    this.term = undefined;
    if (this.record.isOurs) await this.release();
  }

  private async lead(term: AbortSignal, resigned: AbortController): Promise<void> {
    try {
      await this.options.lead(term);
    } catch (error) {
      if (term.aborted) return;
      this.options.log.error({ lease: this.options.name, err: error }, 'leading failed');
      resigned.abort(error);
    }
  }

  private async renewUntilLost(deadline: Deadline, resigned: AbortController): Promise<void> {
    const { clock } = this.options;
    const { signal } = deadline;
    while (!signal.aborted) {
      await clock.sleep(this.timings.retryPeriod, signal);
      const sent = clock.now();
      const isRenewed = !signal.aborted && (await this.attempt(signal));
      // Timers may be late: whoever asked meanwhile whether this candidate leads already knows that the term has ended.
      if (isRenewed && this.remaining <= 0) resigned.abort(new Error('the lease was not renewed in time'));
      else if (isRenewed) {
        this.renewedAt = sent;
        deadline.extend(this.remaining);
      } else if (!this.record.isOurs) resigned.abort(new Error('the lease was lost to another'));
    }
  }

  /** Milliseconds until the newest renewal expires, counted from when it was sent: other candidates cannot have seen it earlier. */
  private get remaining(): number {
    return this.renewedAt + this.timings.renewDeadline - this.options.clock.now();
  }

  /** @returns whether we hold the lease now; `false` if that is unknown */
  private async attempt(signal: AbortSignal): Promise<boolean> {
    try {
      // A request that hangs leaves time for a second one.
      return await this.record.acquire(this.timings.renewDeadline / 2, signal);
    } catch (error) {
      if (!signal.aborted)
        this.options.log.warn({ lease: this.options.name, problem: messageOf(error) }, 'cannot renew the lease');
      return false;
    }
  }

  /** Safe even after the term has expired: the server rejects the write if another candidate has written since. */
  private async release(): Promise<void> {
    try {
      await this.record.release(this.timings.retryPeriod);
    } catch (error) {
      this.options.log.info({ lease: this.options.name, problem: messageOf(error) }, 'cannot release the lease');
    }
  }
}
