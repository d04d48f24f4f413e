import type { ConfigKey, MirrorFilter } from '../core/routing/config.ts';

/** A mirror filter prepared for use: takes its exact share of requests, spread as evenly as possible. */
export class Mirror {
  readonly endpoints: ConfigKey;
  private readonly numerator: number;
  private readonly denominator: number;
  private balance = 0;

  constructor(endpoints: ConfigKey, { numerator, denominator }: MirrorFilter) {
    this.endpoints = endpoints;
    this.numerator = numerator;
    this.denominator = denominator;
  }

  /** Whether the next request is copied. */
  takes(): boolean {
    this.balance += this.numerator;
    if (this.balance < this.denominator) return false;
    this.balance -= this.denominator;
    return true;
  }
}

/** Mirrors to usable backends; others get nothing, and the route's status says so. */
export function compileMirrors(filters: readonly MirrorFilter[]): readonly Mirror[] {
  return filters.flatMap((filter) => (filter.target.type === 'endpoints' ? [new Mirror(filter.target.key, filter)] : []));
}
