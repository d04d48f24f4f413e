import type { Ownership } from '../graph/ownership.ts';
import type { Effect, Finding } from '../rules/engine/rule.ts';
import { effectOf, isDialect, isWithheld, type AdmissionPolicy } from './policy.ts';

/** A finding and its effect on admission. */
export interface JudgedFinding extends Finding {
  readonly effect: Exclude<Effect, 'none'>;
  /** The finding would deny, but the profile `audit` only records it. */
  readonly withheld: boolean;
  /** The finding would deny, but the object is exempt. */
  readonly exemption?: { readonly reason: string; readonly until: string };
}

/** Returns the effects of findings about rejections by the bundle. If the bundle is a guess, only an override can deny. */
export function withBundleEffects(
  found: readonly Finding[],
  policy: AdmissionPolicy,
  owners: Ownership,
): readonly JudgedFinding[] {
  const judged = withEffects(found, policy, owners);
  if (policy.guessed !== true) return judged;
  return judged.map((finding) =>
    Object.hasOwn(policy.overrides, finding.rule)
      ? finding
      : { ...finding, effect: finding.effect === 'deny' ? 'warn' : finding.effect, withheld: false },
  );
}

/** Returns the effects of findings about an object with these controllers, without the findings that have no effect. */
export function withEffects(
  found: readonly Finding[],
  policy: AdmissionPolicy,
  owners: Ownership,
): readonly JudgedFinding[] {
  const { standing } = owners;
  return found.flatMap((finding) => {
    const effect = effectOf(finding, policy, standing);
    if (effect === 'none') return [];
    const message =
      standing === 'mixed' && isDialect(finding) ? `${finding.message} ${scopeOf(owners)}` : finding.message;
    return [{ ...finding, message, effect, withheld: isWithheld(finding, policy, standing) }];
  });
}

const namedParents = 3;

/** Names the parents to which a statement about Sallyport's support applies. */
function scopeOf({ parents }: Ownership): string {
  const names = parents.filter(({ owner }) => owner.type === 'ours').map(({ parent }) => parent);
  const more = names.length > namedParents ? ` and ${names.length - namedParents} more` : '';
  return `This applies to ${names.slice(0, namedParents).join(', ')}${more}, not to the parents of other controllers.`;
}
