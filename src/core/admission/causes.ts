import { formatPath, type Path } from '../resources/path.ts';
import { shorten } from '../text/display.ts';
import type { JudgedFinding } from './judged-finding.ts';
import type { AdmissionCause } from './types.ts';

/** So many problems are told one by one, as long as they fit. */
export const mostCauses = 100;
/** Characters of all fields and messages. The message of a denial repeats them. */
export const causeCharacters = 32 * 1024;
/** Keys of maps in a path may be of any length. */
const pathCharacters = 512;

/** The causes of a denial: the first findings, and how many more there are. */
export function causesOf(findings: readonly JudgedFinding[]): readonly AdmissionCause[] {
  const causes: AdmissionCause[] = [];
  let left = causeCharacters;
  for (const finding of findings.slice(0, mostCauses)) {
    const cause = causeOf(finding);
    left -= cause.field.length + cause.message.length;
    if (left < 0) break;
    causes.push(cause);
  }
  const more = findings.length - causes.length;
  return more === 0 ? causes : [...causes, { field: '…', message: `and ${more.toLocaleString('en-US')} more`, reason: 'FieldValueInvalid' }];
}

function causeOf(finding: JudgedFinding): AdmissionCause {
  return { field: shortPath(finding.path), message: `${finding.message} [${finding.rule}]`, reason: 'FieldValueInvalid' };
}

/** A path as people read it, cut where its keys are too long for that. */
export function shortPath(path: Path): string {
  return shorten(formatPath(path), pathCharacters);
}
