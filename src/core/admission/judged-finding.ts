import type { Ownership } from '../graph/ownership.ts';
import type { Effect, Finding } from '../rules/engine/rule.ts';
import { effectOf, isDialect, isWithheld, type AdmissionPolicy } from './policy.ts';

/** A finding together with what admission does with it. */
export interface JudgedFinding extends Finding {
  readonly effect: Exclude<Effect, 'none'>;
  /** It would deny, did not the profile `audit` only record. */
  readonly withheld: boolean;
}

/** The effects of what the bundle refuses. Where it is a guess which bundle that is, only an override makes it a denial. */
export function withBundleEffects(found: readonly Finding[], policy: AdmissionPolicy, owners: Ownership): readonly JudgedFinding[] {
  const judged = withEffects(found, policy, owners);
  if (policy.guessed !== true) return judged;
  return judged.map((finding) => (Object.hasOwn(policy.overrides, finding.rule) ? finding : { ...finding, effect: finding.effect === 'deny' ? 'warn' : finding.effect, withheld: false }));
}

/** What admission does with findings about an object with these controllers; those without effect are left out. */
export function withEffects(found: readonly Finding[], policy: AdmissionPolicy, owners: Ownership): readonly JudgedFinding[] {
  const { standing } = owners;
  return found.flatMap((finding) => {
    const effect = effectOf(finding, policy, standing);
    if (effect === 'none') return [];
    const message = standing === 'mixed' && isDialect(finding) ? `${finding.message} ${scopeOf(owners)}` : finding.message;
    return [{ ...finding, message, effect, withheld: isWithheld(finding, policy, standing) }];
  });
}

const namedParents = 3;

/** For which parents a statement about what Sallyport serves holds. */
function scopeOf({ parents }: Ownership): string {
  const names = parents.filter(({ owner }) => owner.type === 'ours').map(({ parent }) => parent);
  const more = names.length > namedParents ? ` and ${names.length - namedParents} more` : '';
  return `This applies to ${names.slice(0, namedParents).join(', ')}${more}, not to the parents of other controllers.`;
}
