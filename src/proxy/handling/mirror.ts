import type { ConfigKey, MirrorFilter } from '../../core/routing/config.ts';

/** A compiled mirror filter. Selects its exact share of requests, distributed as evenly as possible. */
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

/** Compiles the mirrors with usable backends. The others get no requests, as the route's status reports. */
export function compileMirrors(filters: readonly MirrorFilter[]): readonly Mirror[] {
  return filters.flatMap((filter) =>
    filter.target.type === 'endpoints' ? [new Mirror(filter.target.key, filter)] : [],
  );
}
