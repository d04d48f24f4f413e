/** The checks of preflight, in the order of the report. */
export const preflightChecks = [
  'unobserved-crds',
  'unobserved-objects',
  'unobserved-cluster',
  'kubernetes-version',
  'safe-upgrades',
  'managed-crds',
  'stored-versions',
  'lost-protection',
  'rejected-objects',
  'pruned-fields',
  'removed-kinds',
  'old-clients',
  'controllers',
  'status-and-traffic',
  'lost-accepted',
] as const;
export type PreflightCheck = (typeof preflightChecks)[number];

/**
 * `blocker`: the API server rejects the change, or something that works or protects is lost. `warning`: action is required,
 * before or after the change. `note`: for information.
 */
export type PreflightSeverity = 'blocker' | 'warning' | 'note';

/** A finding about a change of CRDs. */
export interface PreflightFinding {
  readonly check: PreflightCheck;
  readonly severity: PreflightSeverity;
  /** An object such as `HTTPRoute shop/cart`, a CRD, a client or a controller. */
  readonly subject: string;
  /** The location in the object, such as `spec.rules[0].retry`; absent if the finding is about the whole object. */
  readonly field?: string;
  readonly message: string;
  /** Shell commands that fix the problem, in order, or show what to change or to expect. Never empty. */
  readonly commands: readonly string[];
  /** The URL of the source of the fact. */
  readonly source?: string;
}

/** Quotes a text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w.,:/@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** `1 object`, `2 objects` */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
