/** What preflight looks at, in the order of the report. */
export const preflightChecks = [
  'kubernetes-version', 'safe-upgrades', 'managed-crds', 'stored-versions', 'lost-protection', 'rejected-objects', 'pruned-fields',
  'removed-kinds', 'old-clients', 'controllers', 'status-and-traffic', 'lost-accepted',
] as const;
export type PreflightCheck = (typeof preflightChecks)[number];

/**
 * `blocker`: the API server refuses the change, or something that works or protects is lost. `warning`: somebody has to act, before
 * or after. `note`: good to know.
 */
export type PreflightSeverity = 'blocker' | 'warning' | 'note';

/** One thing to know about a change of CRDs. */
export interface PreflightFinding {
  readonly check: PreflightCheck;
  readonly severity: PreflightSeverity;
  /** An object such as `HTTPRoute shop/cart`, a CRD, a client or a controller. */
  readonly subject: string;
  /** The place in the object, such as `spec.rules[0].retry`; absent where it is about the whole. */
  readonly field?: string;
  readonly message: string;
  /** Shell commands that fix it, in their order. */
  readonly commands: readonly string[];
  /** Where the fact comes from: a URL. */
  readonly source?: string;
}

/** A text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w.,:/@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** `1 object`, `2 objects` */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** At most five names of a list, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}
