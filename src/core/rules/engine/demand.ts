import type { Path } from '../../resources/path.ts';
import { denied } from './effects.ts';
import type { Consequence, ReportFinding, Rule } from './rule.ts';

/** A violation of a demand on a value. */
export interface Violation {
  /** The location relative to the value; empty for the value itself. */
  readonly below: Path;
  readonly message: string;
  /** The offending value as the user wrote it, shortened for display. */
  readonly value?: string;
}

/** Called with each violation, in the order of the value. */
export type ReportViolation = (violation: Violation) => void;

/**
 * Returns a function that reports violations of the value at `path` as findings of the object. `consequence` overrides that of
 * the rule.
 */
export function violationsAt(path: Path, report: ReportFinding, consequence?: Consequence): ReportViolation {
  const frame = consequence === undefined ? {} : { consequence };
  return ({ below, ...found }) => report({ path: [...path, ...below], ...frame, ...found });
}

/**
 * A requirement of the CRDs of some bundle on a value, in addition to its schema: a CEL rule at the location of the value. The
 * value is as the API server validates it, with defaults and without unknown fields, but any field may be absent.
 */
export interface Demand<V = never> {
  /** The rule whose findings report the violations. */
  readonly rule: Rule;
  /** Distinguishes several demands of one rule, e.g. of different releases. */
  readonly variant: string;
  /** Must not throw, and must depend only on the value. A property, so that the compiler does not accept a narrower value. */
  readonly judge: (value: V, report: ReportViolation) => void;
}

/** Declares a demand. `variant` is needed if its rule has several demands. */
export function demand<V>(rule: Rule, judge: (value: V, report: ReportViolation) => void, variant = ''): Demand<V> {
  return { rule, variant, judge };
}

/**
 * A rule about one value, which no bundle enforces, or not every bundle that has the value: its metadata and its demand. Status
 * and traffic do not react to its findings.
 */
export type ValueRule<V = never> = Rule & Demand<V>;

/** Declares a rule about a value. The tables in `unenforced` contain the locations of the values. */
export function unenforcedRule<V>(frame: Rule, judge: (value: V, report: ReportViolation) => void): ValueRule<V> {
  return { ...frame, ...demand(frame, judge) };
}

/** Declares a rule that bundles enforce, and that is used only in demands. */
export function specificationRule(frame: Omit<Rule, 'effect'>): Rule {
  return { ...frame, effect: denied };
}
