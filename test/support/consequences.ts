import type { Consequence, Finding, Rule } from '../../src/core/rules/engine/rule.ts';

const parts: readonly (keyof Consequence)[] = ['condition', 'reason', 'scope'];

/** The parts of a consequence in which a finding differs from its rule. */
export function variedParts(
  { consequence: declared }: Rule,
  { consequence }: Pick<Finding, 'consequence'>,
): readonly (keyof Consequence)[] {
  return consequence === undefined ? [] : parts.filter((part) => consequence[part] !== declared?.[part]);
}

/** @throws if a finding changes a part of the consequence that its rule does not declare to vary. */
export function expectDeclared(rule: Rule, finding: Pick<Finding, 'consequence'>): void {
  const undeclared = variedParts(rule, finding).filter((part) => rule.varies?.includes(part) !== true);
  if (undeclared.length > 0)
    throw new Error(`a finding of ${rule.id} changes ${undeclared.join(', ')} of the consequence, which are fixed`);
}
