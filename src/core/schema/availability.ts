/** The minor releases whose bundles the tables describe, oldest first, each as its last patch release left it. */
export const minors = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7'] as const;
export type Minor = (typeof minors)[number];

export const channels = ['standard', 'experimental'] as const;
/** The release channel of a bundle (GEP-922). Both bring the same kinds; experimental has more fields. */
export type Channel = (typeof channels)[number];

/** One set of CRDs: a minor release, in one of its channels. */
export interface Bundle {
  readonly minor: Minor;
  readonly channel: Channel;
}

/**
 * In which bundles something exists: per channel from `since` on, and before `until`.
 * Without `since` it has always been there; a channel that a given `since` leaves out never has it.
 */
export interface Availability {
  readonly since?: PerChannel;
  readonly until?: PerChannel;
}

export type PerChannel = { readonly [C in Channel]?: Minor };

/** A value that differs between bundles. Of several variants that exist in a bundle, the last one counts. */
export interface Versioned<T> {
  readonly variants: readonly Variant<T>[];
}

export interface Variant<T> {
  readonly availability: Availability;
  readonly value: T;
}

/** A plain value, the same in all bundles, or one that differs between them. */
export type MaybeVersioned<T> = T | Versioned<T>;

/** `value` where `availability` says; nothing elsewhere. Serves fields, bounds, enum values, defaults and versions alike. */
export function available<const T>(availability: Availability, value: T): Versioned<T> {
  return { variants: [{ availability, value }] };
}

/** `value` from a minor release on, in both channels unless each has a release of its own. */
export function since<const T>(start: Minor | PerChannel, value: T): Versioned<T> {
  return available({ since: perChannel(start) }, value);
}

/** `value` before a minor release, in both channels unless each has a release of its own. */
export function until<const T>(end: Minor | PerChannel, value: T): Versioned<T> {
  return available({ until: perChannel(end) }, value);
}

/** `value` in the experimental channel only, from the minor release `start` on. */
export function experimental<const T>(start: Minor, value: T): Versioned<T> {
  return since({ experimental: start }, value);
}

/** `value` from a minor release on and before another, in the channels that `start` names. */
export function between<const T>(start: Minor | PerChannel, end: Minor, value: T): Versioned<T> {
  return available({ since: perChannel(start), until: perChannel(end) }, value);
}

function perChannel(minor: Minor | PerChannel): PerChannel {
  return typeof minor === 'string' ? { standard: minor, experimental: minor } : minor;
}

/** Something that took different values over time, e.g. a bound that was raised: `versions(8, since('1.2', 64))`. */
export function versions<const P extends readonly unknown[]>(...parts: P): Versioned<Value<P[number]>> {
  const variants = parts.flatMap((part) => isVersioned(part) ? part.variants : [{ availability: {}, value: part }]);
  return { variants: variants as readonly Variant<Value<P[number]>>[] };
}

type Value<P> = P extends Versioned<infer T> ? T : P;

/** Whether something with this availability exists in a bundle. */
export function exists(availability: Availability, bundle: Bundle): boolean {
  const start = availability.since?.[bundle.channel];
  const end = availability.until?.[bundle.channel];
  if (availability.since !== undefined && (start === undefined || isBefore(bundle.minor, start))) return false;
  return end === undefined || isBefore(bundle.minor, end);
}

/** The value that holds in a bundle; `undefined` where there is none. */
export function resolve<T>(value: MaybeVersioned<T>, bundle: Bundle): T | undefined {
  if (!isVersioned(value)) return value;
  return value.variants.findLast((variant) => exists(variant.availability, bundle))?.value;
}

/** All values something ever had, oldest variant first: readers accept every one of them. */
export function allVariants<T>(value: MaybeVersioned<T>): readonly T[] {
  return isVersioned(value) ? value.variants.map((variant) => variant.value) : [value];
}

/** The items of a list that exist in a bundle. */
export function resolveAll<T>(values: readonly MaybeVersioned<T>[], bundle: Bundle): readonly T[] {
  return values.map((value) => resolve(value, bundle)).filter((value): value is T => value !== undefined);
}

/** Whether a value differs between bundles. */
export function isVersioned<T>(value: MaybeVersioned<T>): value is Versioned<T> {
  return typeof value === 'object' && value !== null && 'variants' in value && Array.isArray(value.variants);
}

function isBefore(left: Minor, right: Minor): boolean {
  return minors.indexOf(left) < minors.indexOf(right);
}
