import type { UpstreamFailure } from './forwarder.ts';
import type { ProxyLimits } from './limits.ts';
import { LinkedSet } from './linked-set.ts';
import type { Quotas } from './quota.ts';

/** A request that waits for a connection. */
export interface Waiter {
  /** Set while it waits: takes it out of the queue. */
  leave: (() => void) | undefined;
  fail(failure: UpstreamFailure): void;
}

interface Entry<T> {
  readonly waiter: T;
  /** By `performance.now()`. */
  readonly until: number;
}

/** The requests that wait for a connection to one endpoint, the first one first; so many, and so long. */
export class WaitingQueue<T extends Waiter> {
  private readonly entries = new LinkedSet<Entry<T>>();
  private readonly limits: Pick<ProxyLimits, 'waitingPerEndpoint' | 'waitTimeout'>;
  private readonly quotas: Pick<Quotas, 'waiting' | 'reached'>;
  private timer: NodeJS.Timeout | undefined;

  constructor(limits: Pick<ProxyLimits, 'waitingPerEndpoint' | 'waitTimeout'>, quotas: Pick<Quotas, 'waiting' | 'reached'>) {
    this.limits = limits;
    this.quotas = quotas;
  }

  get size(): number {
    return this.entries.size;
  }

  /** Lets a request wait. Where there is no room it fails as `busy`, once whoever sent it has it in hand. */
  add(waiter: T): void {
    if (!this.hasRoom()) {
      queueMicrotask(() => waiter.fail('busy'));
      return;
    }
    const entry = { waiter, until: performance.now() + this.limits.waitTimeout };
    this.entries.add(entry);
    waiter.leave = () => this.remove(entry);
    this.timer ??= this.watch(this.limits.waitTimeout);
  }

  /** The one that has waited longest; it waits no more. */
  take(): T | undefined {
    const entry = this.entries.first;
    if (entry === undefined) return undefined;
    this.remove(entry);
    return entry.waiter;
  }

  /** All of them; they wait no more. */
  takeAll(): readonly T[] {
    const waiters: T[] = [];
    for (let waiter = this.take(); waiter !== undefined; waiter = this.take()) waiters.push(waiter);
    return waiters;
  }

  private hasRoom(): boolean {
    if (this.entries.size < this.limits.waitingPerEndpoint) return this.quotas.waiting.take();
    this.quotas.reached('endpoint-waiting');
    return false;
  }

  private remove(entry: Entry<T>): void {
    if (!this.entries.delete(entry)) return;
    entry.waiter.leave = undefined;
    this.quotas.waiting.release();
    if (this.entries.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private watch(delay: number): NodeJS.Timeout {
    return setTimeout(() => this.expire(), delay).unref();
  }

  private expire(): void {
    const now = performance.now();
    this.timer = undefined;
    const overdue: T[] = [];
    for (let entry = this.entries.first; entry !== undefined && entry.until <= now; entry = this.entries.first) {
      this.remove(entry);
      overdue.push(entry.waiter);
    }
    const next = this.entries.first;
    if (next !== undefined) this.timer = this.watch(Math.max(1, Math.ceil(next.until - now)));
    for (const waiter of overdue) {
      this.quotas.reached('wait-time');
      waiter.fail('busy');
    }
  }
}
