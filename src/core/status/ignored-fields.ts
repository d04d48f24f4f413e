import type { PartProblem } from '../rules/engine/part-problem.ts';
import { fieldIgnored } from '../rules/support/feature-without-effect.ts';
import { isTrue, joinMessages, type Outcome } from './conditions.ts';

/** The condition of a Gateway or route with unsupported fields that are ignored. Present only while it is True. */
export function ignoredFields(
  problems: readonly PartProblem[],
): Readonly<Partial<Record<typeof fieldIgnored.condition, Outcome>>> {
  const ignored = problems.filter(
    ({ condition, scope }) => condition === fieldIgnored.condition && scope === fieldIgnored.scope,
  );
  return ignored.length === 0
    ? {}
    : { [fieldIgnored.condition]: isTrue(fieldIgnored.reason, joinMessages(ignored.map(({ message }) => message))) };
}
