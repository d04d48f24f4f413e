/** The minor releases described by the tables, oldest first, each in the state of its last patch release. */
export const minors = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7'] as const;
export type Minor = (typeof minors)[number];

export const channels = ['standard', 'experimental'] as const;
/** The release channel of a bundle (GEP-922). Both have the same kinds; experimental has more fields. */
export type Channel = (typeof channels)[number];

/** One set of CRDs: a minor release, in one of its channels. */
export interface Bundle {
  readonly minor: Minor;
  readonly channel: Channel;
}

/**
 * The bundles in which something exists: per channel from `since` on, and before `until`. Without `since` it has existed
 * from the start. If `since` omits a channel, it never exists there.
 */
export interface Availability {
  readonly since?: PerChannel;
  readonly until?: PerChannel;
}

export type PerChannel = { readonly [C in Channel]?: Minor };

/** A value that differs between bundles. If several variants exist in a bundle, the last one applies. */
export interface Versioned<T> {
  readonly variants: readonly Variant<T>[];
}

export interface Variant<T> {
  readonly availability: Availability;
  readonly value: T;
}

/** A plain value for all bundles, or a versioned one. */
export type MaybeVersioned<T> = T | Versioned<T>;

/** `value` in the bundles of `availability`, nothing elsewhere. Used for fields, bounds, enum values, defaults and versions. */
export function available<const T>(availability: Availability, value: T): Versioned<T> {
  return { variants: [{ availability, value }] };
}

/** `value` from a minor release on, in both channels; `PerChannel` sets the release of each channel. */
export function since<const T>(start: Minor | PerChannel, value: T): Versioned<T> {
  return available({ since: perChannel(start) }, value);
}

/** `value` before a minor release, in both channels; `PerChannel` sets the release of each channel. */
export function until<const T>(end: Minor | PerChannel, value: T): Versioned<T> {
  return available({ until: perChannel(end) }, value);
}

/** `value` in the experimental channel only, from the minor release `start` on. */
export function experimental<const T>(start: Minor, value: T): Versioned<T> {
  return since({ experimental: start }, value);
}

/** `value` from one minor release until before another, in the channels of `start`. */
export function between<const T>(start: Minor | PerChannel, end: Minor, value: T): Versioned<T> {
  return available({ since: perChannel(start), until: perChannel(end) }, value);
}

function perChannel(minor: Minor | PerChannel): PerChannel {
  return typeof minor === 'string' ? { standard: minor, experimental: minor } : minor;
}

/** A value that changed over time, e.g. a bound that was raised: `versions(8, since('1.2', 64))`. */
export function versions<const P extends readonly unknown[]>(...parts: P): Versioned<Value<P[number]>> {
  const variants = parts.flatMap((part) => (isVersioned(part) ? part.variants : [{ availability: {}, value: part }]));
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

/** The value in a bundle; `undefined` if there is none. */
export function resolve<T>(value: MaybeVersioned<T>, bundle: Bundle): T | undefined {
  if (!isVersioned(value)) return value;
  return value.variants.findLast((variant) => exists(variant.availability, bundle))?.value;
}

/** All values over time, oldest variant first. Readers accept each of them. */
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
