import { LinkedSet } from './linked-set.ts';
import { monotonicNow } from '../../time/clock.ts';

const agePlace = Symbol('age');

/** A value with a last renewal. */
export interface Aging {
  /** Time of the last addition or renewal, by `monotonicNow`; written by the set. */
  renewedAt: number;
}

/** Values in order of their last renewal, with one timer for all. Values that were not renewed for a lifetime are removed. A value is in at most one set. */
export class ExpiringSet<T extends Aging> {
  private readonly lifetime: number;
  private readonly expired: (values: readonly T[]) => void;
  private readonly values = new LinkedSet<T>(agePlace);
  private timer: NodeJS.Timeout | undefined;

  /** `lifetime` is in milliseconds; `expired` is called with values after their removal, the oldest first. */
  constructor(lifetime: number, expired: (values: readonly T[]) => void) {
    this.lifetime = lifetime;
    this.expired = expired;
  }

  get size(): number {
    return this.values.size;
  }

  /** The oldest value. */
  get first(): T | undefined {
    return this.values.first;
  }

  /** Adds a value that is not in the set. */
  add(value: T): void {
    value.renewedAt = monotonicNow();
    this.values.add(value);
    this.timer ??= this.watch(this.lifetime);
  }

  /** Makes the value the youngest one. Returns whether it is in the set. */
  renew(value: T): boolean {
    const isIn = this.values.renew(value);
    if (isIn) value.renewedAt = monotonicNow();
    return isIn;
  }

  /** Removes the value. Returns whether it was in the set. */
  delete(value: T): boolean {
    const wasIn = this.values.delete(value);
    if (this.values.size === 0) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    return wasIn;
  }

  private watch(delay: number): NodeJS.Timeout {
    return setTimeout(() => this.expire(), delay).unref();
  }

  private expire(): void {
    const now = monotonicNow();
    const overdue: T[] = [];
    for (
      let value = this.values.first;
      value !== undefined && value.renewedAt + this.lifetime <= now;
      value = this.values.first
    ) {
      this.values.delete(value);
      overdue.push(value);
    }
    const next = this.values.first;
    this.timer =
      next === undefined ? undefined : this.watch(Math.max(1, Math.ceil(next.renewedAt + this.lifetime - now)));
    if (overdue.length > 0) this.expired(overdue);
  }
}
