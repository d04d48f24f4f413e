import { unknownOwnership } from '../graph/ownership.ts';
import type { Path } from '../resources/path.ts';
import { metadataOf } from '../rules/engine/written-object.ts';
import { isDay } from '../text/day.ts';
import { display, quote } from '../text/display.ts';
import { isRecord } from '../text/record.ts';
import { withEffects, type JudgedFinding } from './judged-finding.ts';
import { exemptionRule, type AdmissionPolicy } from './policy.ts';

/** The annotation that exempts one object from denials. Its value is the reason. */
export const exemptAnnotation = 'sallyport.dev/exempt';
/** The annotation with the last day of the exemption, `2026-12-31` (UTC). */
export const exemptUntilAnnotation = 'sallyport.dev/exempt-until';

/** A request of an object to be exempt from denials. */
export type Exemption =
  | { readonly type: 'none' }
  | { readonly type: 'valid'; readonly reason: string; readonly until: string }
  /** The exemption does not apply. `problem` says why, and how to correct it. */
  | { readonly type: 'void'; readonly state: 'invalid' | 'expired'; readonly path: Path; readonly problem: string };

const reasonCharacters = 256;

/**
 * Reads the exemption of an object of any shape. Never throws.
 *
 * @param today the current day in UTC, `2026-11-23`
 */
export function exemptionOf(json: unknown, today: string): Exemption {
  const { annotations } = metadataOf(json);
  if (!isRecord(annotations)) return { type: 'none' };
  const [reason, until] = [exemptAnnotation, exemptUntilAnnotation].map((key) =>
    Object.hasOwn(annotations, key) ? annotations[key] : undefined,
  );
  if (reason === undefined && until === undefined) return { type: 'none' };
  if (typeof reason !== 'string' || reason.trim() === '')
    return invalid(exemptAnnotation, `Invalid exemption: a reason is required. Set ${exemptAnnotation}: "why".`);
  if (typeof until !== 'string' || !isDay(until))
    return invalid(
      exemptUntilAnnotation,
      `Invalid exemption: the last day must be a date, not ${quote(until)}. Set ${exemptUntilAnnotation}: "${today}", or a later date.`,
    );
  if (until < today)
    return {
      ...invalid(
        exemptUntilAnnotation,
        `The exemption expired after ${until}. Correct the object and remove the annotations, or set a later date in ${exemptUntilAnnotation}.`,
      ),
      state: 'expired',
    };
  return { type: 'valid', reason: display(reason.trim(), reasonCharacters), until };
}

function invalid(annotation: string, problem: string): Exemption & { readonly type: 'void' } {
  return { type: 'void', state: 'invalid', path: ['metadata', 'annotations', annotation], problem };
}

/** Returns the findings where those that deny an exempt object only warn. */
export function exempted(
  findings: readonly JudgedFinding[],
  json: unknown,
  { exempting }: AdmissionPolicy,
): readonly JudgedFinding[] {
  if (exempting?.annotations !== 'permit') return findings;
  const exemption = exemptionOf(json, exempting.today);
  if (exemption.type !== 'valid') return findings;
  const { reason, until } = exemption;
  return findings.map((finding) =>
    finding.effect === 'deny' || finding.withheld
      ? {
          ...finding,
          effect: finding.withheld ? finding.effect : 'warn',
          withheld: false,
          exemption: { reason, until },
        }
      : finding,
  );
}

/** Finds an exemption of an object that does not apply: it is invalid, expired or forbidden. */
export function findingsOfExemption(json: unknown, policy: AdmissionPolicy): readonly JudgedFinding[] {
  const { exempting } = policy;
  if (exempting === undefined) return [];
  const exemption = exemptionOf(json, exempting.today);
  if (exemption.type === 'none') return [];
  if (exempting.annotations === 'forbid')
    return voidFinding(
      ['metadata', 'annotations', exemptAnnotation],
      'The exemption is ignored, because the settings forbid it. Correct the object, or ask the operator of Sallyport to set exemptions.annotations: permit.',
      policy,
    );
  return exemption.type === 'void' ? voidFinding(exemption.path, exemption.problem, policy) : [];
}

function voidFinding(path: Path, message: string, policy: AdmissionPolicy): readonly JudgedFinding[] {
  return withEffects([{ rule: exemptionRule, path, message }], policy, unknownOwnership);
}
