import { quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const targetRepeated = specificationRule({
  id: 'target-repeated',
  summary: 'Two targetRefs name the same target without distinct sectionNames.',
  source: 'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs ("sectionName must be specified and unique")',
});

type TargetRef = ViewAt<'BackendTLSPolicy', 'spec.targetRefs[]'>;

export const targetsDistinct = demand(targetRepeated, function judge(targets: readonly TargetRef[], report) {
  for (const [index, target] of targets.entries()) {
    const before = targets.slice(0, index).findIndex((other) => isSame(target, other) && !areToldApart(target, other));
    if (before === -1) continue;
    report({
      below: [index],
      message: `Duplicate targetRef: targetRefs[${before}] also names ${target.kind} ${quote(target.name)}. Remove one of them, or use distinct sectionNames.`,
    });
  }
});

function isSame(one: TargetRef, other: TargetRef): boolean {
  return one.group === other.group && one.kind === other.kind && one.name === other.name;
}

function areToldApart({ sectionName: one = '' }: TargetRef, { sectionName: other = '' }: TargetRef): boolean {
  return one !== '' && other !== '' && one !== other;
}
