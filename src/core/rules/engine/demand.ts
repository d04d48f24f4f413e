import type { Path } from '../../resources/path.ts';
import { denied } from './effects.ts';
import type { Consequence, Report, Rule } from './rule.ts';

/** What is wrong with a value of which something is demanded. */
export interface Violation {
  /** Where, from the value on; empty for the value itself. */
  readonly below: Path;
  readonly message: string;
  /** The offending value as the user wrote it, shortened for display. */
  readonly value?: string;
}

/** Is told of each violation, in the order of the value. */
export type ReportViolation = (violation: Violation) => void;

/** Turns violations of a value into findings of the object that has it at `path`; `consequence` where it is not the rule's own. */
export function violationsAt(path: Path, report: Report, consequence?: Consequence): ReportViolation {
  const frame = consequence === undefined ? {} : { consequence };
  return ({ below, ...found }) => report({ path: [...path, ...below], ...frame, ...found });
}

/**
 * What the CRDs of some bundle demand of a value beyond its schema: there, CEL rules at the value's place. The value
 * comes as the API server judges it, defaults filled in and without unknown fields, but any field may be absent.
 */
export interface Demand<V = never> {
  /** The rule that the violations are findings of. */
  readonly rule: Rule;
  /** Tells demands of one rule apart, e.g. where releases differ. */
  readonly variant: string;
  /** Must not throw, and depends on nothing but the value. */
  judge(value: V, report: ReportViolation): void;
}

/** Declares a demand; `variant` where its rule makes several. */
export function demand<V>(rule: Rule, judge: (value: V, report: ReportViolation) => void, variant = ''): Demand<V> {
  return { rule, variant, judge };
}

/**
 * A rule about one value that no bundle enforces, or not every one that has the value: what is known about it, and its
 * demand. Neither status nor traffic reacts to what it finds.
 */
export type ValueRule<V = never> = Rule & Demand<V>;

/** Declares a rule about a value; where its values stand is said by the tables in `unenforced`. */
export function unenforcedRule<V>(frame: Rule, judge: (value: V, report: ReportViolation) => void): ValueRule<V> {
  return { ...frame, ...demand(frame, judge) };
}

/** Declares a rule that bundles enforce, and that nothing but their demands judges by. */
export function specificationRule(frame: Omit<Rule, 'effect'>): Rule {
  return { ...frame, effect: denied };
}
