import { fitted } from '../text/fitted.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';

/** A condition without times: the writer adds lastTransitionTime. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** The result for a condition. The message may be empty. */
export type Outcome = Pick<Condition, 'status' | 'reason' | 'message'>;

export function isTrue(reason: string, message = ''): Outcome {
  return { status: 'True', reason, message };
}

export function isFalse(reason: string, message: string): Outcome {
  return { status: 'False', reason, message };
}

export function isUnknown(reason: string, message: string): Outcome {
  return { status: 'Unknown', reason, message };
}

/**
 * The condition types that Sallyport writes, by subject, in the order in which they are written. A writer that merges them
 * into a status removes those of these types that do not hold at present. All others belong to other controllers.
 */
export const conditionTypes = {
  gatewayClass: ['Accepted', 'SupportedVersion'],
  gateway: [
    'Accepted',
    'Programmed',
    'ResolvedRefs',
    'AddressesAssigned',
    'InsecureFrontendValidationMode',
    'sallyport.dev/FieldIgnored',
  ],
  listenerSet: ['Accepted', 'Programmed'],
  listener: [
    'Accepted',
    'Programmed',
    'ResolvedRefs',
    'Conflicted',
    'OverlappingTLSConfig',
    'sallyport.dev/FieldIgnored',
  ],
  route: [
    'Accepted',
    'ResolvedRefs',
    'PartiallyInvalid',
    'sallyport.dev/HostnameNotPermitted',
    'sallyport.dev/Shadowed',
    'sallyport.dev/FieldIgnored',
  ],
  policy: ['Accepted', 'ResolvedRefs'],
} as const;

export type ConditionSubject = keyof typeof conditionTypes;

/** The outcomes of a subject's conditions. Omitted conditions do not hold. */
export type Outcomes<Subject extends ConditionSubject> = Readonly<
  Partial<Record<(typeof conditionTypes)[Subject][number], Outcome>>
>;

/** The conditions of one observation. All have the same generation, so that none looks stale. */
export function conditionsAt<Subject extends ConditionSubject>(
  subject: Subject,
  generation: number,
  outcomes: Outcomes<Subject>,
): readonly Condition[] {
  const conditions = conditionTypes[subject].flatMap((type: keyof Outcomes<Subject>) => {
    const outcome = outcomes[type];
    return outcome === undefined
      ? []
      : [
          {
            type,
            status: outcome.status,
            reason: outcome.reason,
            message: outcome.message,
            observedGeneration: generation,
          },
        ];
  });
  return fitted(conditions);
}

/** Returns the condition ResolvedRefs from the problems of an object. */
export function resolvedRefs(problems: readonly PartProblem[]): Outcome {
  const unresolved = problems.filter(({ condition }) => condition === 'ResolvedRefs');
  const [first] = unresolved;
  return first === undefined
    ? isTrue('ResolvedRefs')
    : isFalse(first.reason, joinMessages(unresolved.map(({ message }) => message)));
}

const shown = 3;

/** Joins several messages: the first few and the number of others. The API server allows 32768 characters. */
export function joinMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  const more = distinct.length - shown;
  const text = distinct.slice(0, shown).join(' ');
  return (more > 0 ? `${text} (${more} more)` : text).slice(0, 32_000);
}
