import { denominatorOf } from './intended.ts';

/** A share of all requests: `numerator` of `denominator`. */
export interface Share {
  readonly numerator: number;
  readonly denominator: number;
}

/** A fraction as written. */
export type FractionView = Partial<Share>;

/** Returns a fraction with its defaults. Without a numerator, which is required, it is zero (Fraction). */
export function shareOf(fraction: FractionView): Share {
  return { numerator: fraction.numerator ?? 0, denominator: denominatorOf(fraction) };
}

/** Returns the share of requests that a filter mirrors: all of them without percent and fraction (HTTPRequestMirrorFilter). */
export function mirrorShare({
  percent = 100,
  fraction,
}: {
  readonly percent?: number;
  readonly fraction?: FractionView;
}): Share {
  return fraction === undefined ? { numerator: percent, denominator: 100 } : shareOf(fraction);
}
