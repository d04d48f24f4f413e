import { formatPath, type Path } from '../resources/path.ts';
import { shorten } from '../text/display.ts';
import type { JudgedFinding } from './judged-finding.ts';
import type { AdmissionCause } from './types.ts';

/** The maximum number of problems that a denial lists one by one. */
export const maxCauses = 100;
/** The maximum number of characters of all fields and messages. The message of a denial repeats them. */
export const causeCharacters = 32 * 1024;
/** The maximum number of characters of a path. Map keys in a path can have any length. */
const pathCharacters = 512;

/** Returns the causes of a denial: the first findings, and the number of the remaining ones. */
export function causesOf(findings: readonly JudgedFinding[]): readonly AdmissionCause[] {
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
export function shortPath(path: Path): string {
  return shorten(formatPath(path), pathCharacters);
}
