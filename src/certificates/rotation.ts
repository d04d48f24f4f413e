/**
 * How the project's own certificate authority is renewed without one failed call. Times are milliseconds since 1970,
 * certificates are PEM text, compared as text.
 *
 * A Secret holds the authorities, the webhook configuration what the API server trusts (the bundle). Each replica
 * signs its own leaf with `current`:
 *
 *     add next → publish {current, next} → wait until every API server has seen it → next becomes current
 *     → replicas replace their leaves → the last leaf of the old authority has expired → drop the old one
 *
 * Each arrow is one write under an optimistic lock, and each step is decided anew from what is stored. So a crash
 * between two writes needs no repair, and two leaders at once do no harm.
 */

/** An authority that may sign. */
export interface SigningAuthority {
  readonly certificate: string;
  readonly privateKey: string;
  /** Renewal counts from here; the certificate itself is dated back for clocks that are behind. */
  readonly issuedAt: number;
  readonly notAfter: number;
}

/** An authority that signs no more, but is trusted until its last leaf has expired. */
export interface RetiredAuthority {
  readonly certificate: string;
  readonly until: number;
}

/** What the Secret holds. */
export interface AuthorityState {
  /** Signs leaves. Missing where its key was lost, until its successor is trusted everywhere. */
  readonly current?: SigningAuthority;
  /** Will sign as soon as it is trusted everywhere. */
  readonly next?: SigningAuthority;
  readonly retired: readonly RetiredAuthority[];
}

/** What the API server is told to trust. */
export interface PublishedBundle {
  /** Of several webhooks in the configuration: what all of them trust, each once. */
  readonly certificates: readonly string[];
  /** When whoever decides saw this version of the configuration first, by its own clock. */
  readonly since: number;
}

/** Durations, in milliseconds. */
export interface RotationPolicy {
  readonly authorityLifetime: number;
  readonly leafLifetime: number;
  /** How long an API server may work with an older configuration. */
  readonly propagation: number;
  /** How far two clocks of the cluster may be apart. */
  readonly clockSkew: number;
}

const day = 86_400_000;

/** What holds unless told otherwise. */
export const defaultRotationPolicy: RotationPolicy = {
  authorityLifetime: 365 * day,
  leafLifetime: 7 * day,
  propagation: 30_000,
  clockSkew: 5 * 60_000,
};

/** What to do now. */
export type RotationStep =
  /** Make an authority and store it in that place beside `rest`. */
  | { readonly type: 'issue'; readonly place: 'current' | 'next'; readonly rest: AuthorityState }
  | { readonly type: 'store'; readonly state: AuthorityState; readonly reason: 'promoted' | 'dropped' }
  | { readonly type: 'publish'; readonly certificates: readonly string[] }
  /** Nothing, unless something changes before `until`. */
  | { readonly type: 'wait'; readonly until: number };

/** What a step is decided from. `published` is undefined where there is no configuration. */
export interface RotationFacts {
  readonly state: AuthorityState | undefined;
  readonly published: PublishedBundle | undefined;
  readonly now: number;
  readonly policy: RotationPolicy;
}

/**
 * The next step towards a fresh authority that everybody trusts. It is safe only where the configuration was read
 * before the Secret, and both are written under the versions that were read: otherwise an old bundle could replace a
 * newer one.
 */
export function nextStep({ state, published, now, policy }: RotationFacts): RotationStep {
  if (state === undefined) return firstAuthority(published, now, policy);
  const trusted = state.retired.filter(({ until }) => until > now);
  if (trusted.length < state.retired.length) return { type: 'store', state: { ...state, retired: trusted }, reason: 'dropped' };
  if (needsSuccessor(state, now)) return { type: 'issue', place: 'next', rest: withoutNext(state) };
  const until = nextDeadline(state, published, policy);
  if (published === undefined) return { type: 'wait', until };
  const bundle = bundleOf(state);
  if (!sameMembers(bundle, published.certificates)) return { type: 'publish', certificates: bundle };
  if (state.next !== undefined && now >= published.since + policy.propagation) {
    return { type: 'store', state: promote(state, state.next, retirement(now, policy)), reason: 'promoted' };
  }
  return { type: 'wait', until };
}

/** Everything the API server has to trust, the signing authority first. */
export function bundleOf({ current, next, retired }: AuthorityState): readonly string[] {
  const certificates = [current?.certificate, next?.certificate, ...retired.map(({ certificate }) => certificate)];
  return [...new Set(certificates.filter((certificate) => certificate !== undefined))];
}

/** When two thirds of a life are over. */
export function renewalTime({ issuedAt, notAfter }: { readonly issuedAt: number; readonly notAfter: number }): number {
  return issuedAt + ((notAfter - issuedAt) * 2) / 3;
}

/**
 * Refuses lifetimes with which calls would fail.
 *
 * @throws with what to write instead
 */
export function checkRotationPolicy({ authorityLifetime, leafLifetime, propagation, clockSkew }: RotationPolicy): void {
  const needed = leafLifetime + propagation + 2 * clockSkew;
  if (Math.min(authorityLifetime, leafLifetime) <= 0 || Math.min(propagation, clockSkew) < 0) {
    throw new Error('lifetimes must be more than 0, propagation time and clock skew not less');
  }
  // The last third of an authority's life is all the time there is to replace it.
  if (authorityLifetime / 3 <= needed) {
    throw new Error(`an authority must live more than ${Math.ceil((3 * needed) / 1000)} s with these certificates: 3 × (certificate lifetime + propagation time + 2 × clock skew)`);
  }
}

/** Where nothing is trusted yet, an authority may sign at once. Where the Secret was lost, its leaves are still in use. */
function firstAuthority(published: PublishedBundle | undefined, now: number, policy: RotationPolicy): RotationStep {
  const inUse = published?.certificates ?? [];
  const retired = inUse.map((certificate) => ({ certificate, until: retirement(now, policy) }));
  return { type: 'issue', place: inUse.length === 0 ? 'current' : 'next', rest: { retired } };
}

function needsSuccessor({ current, next }: AuthorityState, now: number): boolean {
  if (next !== undefined) return now >= next.notAfter;
  return current === undefined || now >= renewalTime(current);
}

/**
 * A leaf's life is counted from before its authority was read, so none signed by the old one outlives this. The skew
 * counts twice: who promotes may be behind who signs, and who drops may be ahead of who verifies.
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

function nextDeadline({ current, next, retired }: AuthorityState, published: PublishedBundle | undefined, policy: RotationPolicy): number {
  const ends = retired.map(({ until }) => until);
  if (next !== undefined) ends.push(next.notAfter, ...(published === undefined ? [] : [published.since + policy.propagation]));
  else if (current !== undefined) ends.push(renewalTime(current));
  return Math.min(...ends);
}

function sameMembers(some: readonly string[], others: readonly string[]): boolean {
  const members = new Set(others);
  return members.size === new Set(some).size && some.every((certificate) => members.has(certificate));
}
