import { formatPath, type Path } from '../resources/path.ts';
import { quoteRef, type ObjectRef } from '../resources/reference.ts';
import { shorten } from '../text/display.ts';
import type { Comparison } from './compare.ts';
import type { JudgedFinding } from './judged-finding.ts';
import type { AdmissionCause, AdmissionVerdict, Allowed, CountedFinding } from './types.ts';

/** The verdict on a write without findings. */
export function admitted(
  warnings: readonly string[] = [],
  auditAnnotations: Allowed['auditAnnotations'] = {},
): Allowed {
  return { allowed: true, warnings, findings: [], auditAnnotations };
}

/**
 * The last step: turns the findings about a change into the verdict. Only problems that the change introduces deny it; all others
 * are warnings. Every finding is in the audit annotations and counted by its mode.
 */
export function verdictOf(ref: ObjectRef, { found, introduced, impact }: Comparison): AdmissionVerdict {
  const isNew = new Set(introduced);
  const denying = introduced.filter((finding) => finding.effect === 'deny');
  const rest = found.filter((finding) => !(isNew.has(finding) && finding.effect === 'deny'));
  const warnings = [...rest.filter((finding) => finding.effect !== 'record').map(warningOf), ...impact];
  const counted = [...denying, ...rest].map((finding): CountedFinding => ({
    rule: finding.rule,
    mode: modeOf(finding, isNew),
  }));
  const remarks = { warnings, findings: counted, auditAnnotations: annotations(counted) };
  const [first, ...others] = causesOf(denying);
  if (first === undefined) return { allowed: true, ...remarks };
  const count = denying.length;
  const message = `${quoteRef(ref)} has ${count} problem${count === 1 ? '' : 's'}: ${[first, ...others].map((cause) => `${cause.field}: ${cause.message}`).join('; ')}`;
  return { allowed: false, causes: [first, ...others], message, ...remarks };
}

function warningOf(finding: JudgedFinding): string {
  const { rule, path, message, exemption } = finding;
  // At the beginning, because the API server shortens long warnings.
  const exempt = exemption === undefined ? '' : `Exempt until ${exemption.until}: `;
  return `[${rule}] ${shortPath(path)}: ${exempt}${message}`;
}

function modeOf(finding: JudgedFinding, fresh: ReadonlySet<JudgedFinding>): CountedFinding['mode'] {
  if (finding.exemption !== undefined) return 'exempt';
  if (fresh.has(finding)) return finding.withheld ? 'would-deny' : finding.effect;
  return finding.effect === 'deny' ? 'tolerate' : finding.effect;
}

const annotationKeys: Readonly<Record<CountedFinding['mode'], string>> = {
  deny: 'denied',
  warn: 'warned',
  tolerate: 'tolerated',
  record: 'recorded',
  'would-deny': 'would-deny',
  // The key `exempt` marks writes that are not validated at all.
  exempt: 'exempted',
};

/** Groups the rule ids of findings by mode (denied, would be denied, warned, recorded), so that audit logs can be searched. */
function annotations(counted: readonly CountedFinding[]): Readonly<Record<string, string>> {
  const byMode = Map.groupBy(counted, ({ mode }) => mode);
  return Object.fromEntries(
    [...byMode].map(([mode, found]) => [
      annotationKeys[mode],
      [...new Set(found.map(({ rule }) => rule))].sort().join(','),
    ]),
  );
}

/** The maximum number of problems that a denial lists one by one. */
const maxCauses = 100;
/** The maximum number of characters of all fields and messages. The message of a denial repeats them. */
const causeCharacters = 32 * 1024;
/** The maximum number of characters of a path. Map keys in a path can have any length. */
const pathCharacters = 512;

/** Returns the causes of a denial: the first findings, and the number of the remaining ones. */
function causesOf(findings: readonly JudgedFinding[]): readonly AdmissionCause[] {
  const causes: AdmissionCause[] = [];
  let left = causeCharacters;
  for (const finding of findings.slice(0, maxCauses)) {
    const cause = causeOf(finding);
    left -= cause.field.length + cause.message.length;
    if (left < 0) break;
    causes.push(cause);
  }
  const more = findings.length - causes.length;
  return more === 0
    ? causes
    : [...causes, { field: '…', message: `and ${more.toLocaleString('en-US')} more`, reason: 'FieldValueInvalid' }];
}

function causeOf(finding: JudgedFinding): AdmissionCause {
  return {
    field: shortPath(finding.path),
    message: `${finding.message} [${finding.rule}]`,
    reason: 'FieldValueInvalid',
  };
}

/** Formats a path for people, and shortens it if its keys are too long. */
function shortPath(path: Path): string {
  return shorten(formatPath(path), pathCharacters);
}
