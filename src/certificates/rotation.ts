/**
 * Renewal of the project's own certificate authority without a failed call. Times are milliseconds since 1970. Certificates are PEM text
 * and compared as text.
 *
 * A Secret holds the authorities. The webhook configuration holds those that the API server trusts (the bundle). Each replica signs its
 * own leaf with `current`:
 *
 *     add next → publish {current, next} → wait until every API server has seen it → next becomes current
 *     → replicas replace their leaves → the last leaf of the old authority has expired → drop the old one
 *
 * Each arrow is one write with optimistic locking, and each step is decided anew from the stored state. So a crash between two writes
 * needs no repair, and two concurrent leaders do no harm.
 */

/** An authority that may sign. */
export interface SigningAuthority {
  readonly certificate: string;
  readonly privateKey: string;
  /** Start of the lifetime for renewal. The certificate itself is backdated for slow clocks. */
  readonly issuedAt: number;
  readonly notAfter: number;
}

/** An authority that no longer signs, but stays trusted until its last leaf has expired. */
export interface RetiredAuthority {
  readonly certificate: string;
  readonly until: number;
}

/** The content of the Secret. */
export interface AuthorityState {
  /** Signs leaves. Absent after its key was lost, until the successor is trusted everywhere. */
  readonly current?: SigningAuthority;
  /** Signs as soon as it is trusted everywhere. */
  readonly next?: SigningAuthority;
  readonly retired: readonly RetiredAuthority[];
}

/** The authorities that the API server trusts. */
export interface PublishedBundle {
  /** If the configuration has several webhooks: the certificates that all of them trust, without duplicates. */
  readonly certificates: readonly string[];
  /** Time at which the deciding process first saw this version of the configuration, by its own clock. */
  readonly since: number;
}

/** Durations, in milliseconds. */
export interface RotationPolicy {
  readonly authorityLifetime: number;
  readonly leafLifetime: number;
  /** Maximum time that an API server may use an outdated configuration. */
  readonly propagation: number;
  /** Maximum difference between two clocks of the cluster. */
  readonly clockSkew: number;
}

const day = 86_400_000;

/** The default policy. */
export const defaultRotationPolicy: RotationPolicy = {
  authorityLifetime: 365 * day,
  leafLifetime: 7 * day,
  propagation: 30_000,
  clockSkew: 5 * 60_000,
};

/** The next action. */
export type RotationStep =
  /** Create an authority and store it in that place next to `rest`. */
  | { readonly type: 'issue'; readonly place: 'current' | 'next'; readonly rest: AuthorityState }
  | { readonly type: 'store'; readonly state: AuthorityState; readonly reason: 'promoted' | 'dropped' }
  | { readonly type: 'publish'; readonly certificates: readonly string[] }
  /** Wait, unless something changes before `until`. */
  | { readonly type: 'wait'; readonly until: number };

/** The input of a decision. `published` is undefined if the configuration does not exist. */
export interface RotationFacts {
  readonly state: AuthorityState | undefined;
  readonly published: PublishedBundle | undefined;
  readonly now: number;
  readonly policy: RotationPolicy;
}

/**
 * The next step towards a fresh authority that all clients trust. It is safe only if the configuration was read before the Secret, and
 * both are written with the versions that were read. Otherwise an old bundle could replace a newer one.
 */
export function nextStep({ state, published, now, policy }: RotationFacts): RotationStep {
  if (state === undefined) return firstAuthority(published, now, policy);
  const trusted = state.retired.filter(({ until }) => until > now);
  if (trusted.length < state.retired.length)
    return { type: 'store', state: { ...state, retired: trusted }, reason: 'dropped' };
  if (needsSuccessor(state, now, policy)) return { type: 'issue', place: 'next', rest: withoutNext(state) };
  const until = nextDeadline(state, published, policy);
  if (published === undefined) return { type: 'wait', until };
  const bundle = bundleOf(state);
  if (!sameMembers(bundle, published.certificates)) return { type: 'publish', certificates: bundle };
  if (state.next !== undefined && now >= published.since + policy.propagation) {
    return { type: 'store', state: promote(state, state.next, retirement(now, policy)), reason: 'promoted' };
  }
  return { type: 'wait', until };
}

/** All certificates that the API server has to trust, the signing authority first. */
export function bundleOf({ current, next, retired }: AuthorityState): readonly string[] {
  const certificates = [current?.certificate, next?.certificate, ...retired.map(({ certificate }) => certificate)];
  return [...new Set(certificates.filter((certificate) => certificate !== undefined))];
}

/** The time at which two thirds of a lifetime are over. */
export function renewalTime({ issuedAt, notAfter }: { readonly issuedAt: number; readonly notAfter: number }): number {
  return issuedAt + ((notAfter - issuedAt) * 2) / 3;
}

/** Whether a certificate is from the future, so that no client accepts it yet: a clock was ahead when it was issued, and is right again. */
export function isAhead(
  { issuedAt }: { readonly issuedAt: number },
  now: number,
  { clockSkew }: Pick<RotationPolicy, 'clockSkew'>,
): boolean {
  return issuedAt > now + 2 * clockSkew;
}

/**
 * Rejects lifetimes with which calls would fail.
 *
 * @throws with the lifetime to use instead
 */
export function checkRotationPolicy({ authorityLifetime, leafLifetime, propagation, clockSkew }: RotationPolicy): void {
  const needed = leafLifetime + propagation + 2 * clockSkew;
  if (Math.min(authorityLifetime, leafLifetime) <= 0 || Math.min(propagation, clockSkew) < 0) {
    throw new Error('lifetimes must be more than 0, propagation time and clock skew not less');
  }
  // The last third of an authority's lifetime has to suffice for its replacement.
  if (authorityLifetime / 3 <= needed) {
    throw new Error(
      `an authority must live more than ${Math.ceil((3 * needed) / 1000)} s with these certificates: 3 × (certificate lifetime + propagation time + 2 × clock skew)`,
    );
  }
}

/** Without a trusted authority, a new one may sign at once. If the Secret was lost, leaves of trusted authorities are still in use. */
function firstAuthority(published: PublishedBundle | undefined, now: number, policy: RotationPolicy): RotationStep {
  const inUse = published?.certificates ?? [];
  const retired = inUse.map((certificate) => ({ certificate, until: retirement(now, policy) }));
  return { type: 'issue', place: inUse.length === 0 ? 'current' : 'next', rest: { retired } };
}

function needsSuccessor({ current, next }: AuthorityState, now: number, policy: RotationPolicy): boolean {
  if (next !== undefined) return now >= next.notAfter || isAhead(next, now, policy);
  return current === undefined || now >= renewalTime(current) || isAhead(current, now, policy);
}

/**
 * The lifetime of a leaf starts before its authority was read, so no leaf of the old authority outlives this time. The skew counts
 * twice: the promoter's clock may be behind the signer's, and the clock that drops the authority ahead of the verifier's.
 */
function retirement(now: number, policy: RotationPolicy): number {
  return now + policy.leafLifetime + 2 * policy.clockSkew;
}

function promote({ current, retired }: AuthorityState, next: SigningAuthority, until: number): AuthorityState {
  const former = current === undefined ? [] : [{ certificate: current.certificate, until }];
  return { current: next, retired: [...former, ...retired] };
}

function withoutNext({ current, retired }: AuthorityState): AuthorityState {
  return current === undefined ? { retired } : { current, retired };
}

function nextDeadline(
  { current, next, retired }: AuthorityState,
  published: PublishedBundle | undefined,
  policy: RotationPolicy,
): number {
  const ends = retired.map(({ until }) => until);
  if (next !== undefined)
    ends.push(next.notAfter, ...(published === undefined ? [] : [published.since + policy.propagation]));
  else if (current !== undefined) ends.push(renewalTime(current));
  return Math.min(...ends);
}

function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  const members = new Set(others);
  return members.size === new Set(some).size && some.every((certificate) => members.has(certificate));
}
