import type { Scope } from './rule.ts';

/** A problem of one part of an object, as reported in status. */
export interface PartProblem {
  readonly condition: string;
  readonly reason: string;
  readonly message: string;
  readonly scope: Scope;
  /** Position of the parentRef, listener or rule; -1 for the object itself. */
  readonly part: number;
  /** Position of the match or backendRef in the rule, otherwise -1. */
  readonly member: number;
}
